// SPDX-License-Identifier: Apache-2.0
// node dashboard_frames.mjs URL [CHROMIUM [SECONDS]]: frames a second of a page whose charts are zoomed and panned all the time, and its long tasks. Run by dashboard.py.
import {createRequire} from 'node:module';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [url, browserPath = '/usr/bin/chromium', seconds = '10'] = process.argv.slice(2);
// npm ci in tests/e2e brings it (tests/e2e/dashboard does)
const {chromium} = createRequire(new URL('../../tests/e2e/package.json', import.meta.url))('playwright-core');
const home = mkdtempSync(join(tmpdir(), 'dashboard-frames-'));
const browser = await chromium.launch({executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'], env: {...process.env, HOME: home}});

/// In the page: counts frames and tasks of more than 50 ms from now on.
const begin = () => {
  window.tally = {frames: [], tasks: [], sequences: new Set()};
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.tally.tasks.push(entry.duration))).observe({type: 'longtask'});
  const frame = (time) => {
    window.tally.frames.push(time);
    window.tally.sequences.add(document.querySelector('main').dataset.sequence);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
};

/// The page's main thread: seconds of CPU so far, whatever else the machine does.
const cpuSeconds = async (cdp) => (await cdp.send('Performance.getMetrics')).metrics.find(({name}) => name === 'TaskDuration').value;

/// Of what was counted since the last time.
async function measured(page, cdp, name, act) {
  await page.evaluate(() => Object.assign(window.tally, {frames: [], tasks: [], sequences: new Set()}));
  const until = Date.now() + 1000 * seconds;
  const before = await cpuSeconds(cdp);
  let acts = 0;
  for (; Date.now() < until; ++acts) await act(acts);
  const cpu = await cpuSeconds(cdp) - before;
  const {frames, tasks, states} = await page.evaluate(() => ({...window.tally, states: window.tally.sequences.size}));
  const span = (frames.at(-1) - frames[0]) / 1000;
  const gaps = frames.slice(1).map((time, i) => time - frames[i]).sort((a, b) => a - b);
  const sum = tasks.reduce((a, b) => a + b, 0);
  console.log(`| ${name} | ${((frames.length - 1) / span).toFixed(1)} | ${(1000 * cpu / (frames.length - 1)).toFixed(1)} | ${gaps[Math.floor(0.95 * gaps.length)].toFixed(0)} | ${gaps.at(-1).toFixed(0)} | ${tasks.length} | ${Math.max(0, ...tasks).toFixed(0)} | ${(100 * sum / span / 1000).toFixed(0)} % | ${states} | ${acts} |`);
}

try {
  const page = await (await browser.newContext({viewport: {width: 1400, height: 1000}})).newPage();
  await page.goto(url);
  const over = page.locator('.bytes .u-over');
  await over.waitFor();
  await page.waitForTimeout(3000);  // the curves come after the snapshot
  const {time, columns, mean} = await (await fetch(`${url}api/v1/series`)).json();
  const drawn = columns.map((name, i) => (/^(loss|samples_per_second|bytes_per_second\..*)$/.test(name) ? mean[i].filter((x) => x !== null).length : 0)).reduce((a, b) => a + b);
  console.log(`${await page.locator('[data-worker]').count()} processes in the table, ${time.length} rows, ${drawn} points in the charts`);
  console.log('| while | frames/s | main thread, CPU ms a frame | 95 % of frames within, ms | longest, ms | long tasks | longest task, ms | of the time | states | gestures |\n|---|---|---|---|---|---|---|---|---|---|');
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', {timeDomain: 'threadTicks'});
  await page.evaluate(begin);
  await measured(page, cdp, 'nothing is done', () => page.waitForTimeout(100));
  const plot = page.locator('[data-chart="loss"] .plot');
  await plot.focus();
  await measured(page, cdp, 'zooming', (i) => page.keyboard.press(['+', '+', '+', '-', '-', '0'][i % 6]));
  await page.keyboard.press('0');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await page.keyboard.down('Shift');
  const box = await over.boundingBox();
  await over.scrollIntoViewIfNeeded();
  const {x, y, width, height} = await over.boundingBox() ?? box;
  const at = (i) => [x + width * (0.5 + 0.4 * Math.sin(i / 12)), y + height / 2];
  await page.mouse.move(...at(0));
  await page.mouse.down();
  await measured(page, cdp, 'panning', (i) => page.mouse.move(...at(i)));
  await page.mouse.up();
  await page.keyboard.up('Shift');
} finally {
  await browser.close();
  rmSync(home, {recursive: true, force: true});
}
