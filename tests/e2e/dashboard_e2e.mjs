// SPDX-License-Identifier: Apache-2.0
// node dashboard_e2e.mjs DASHBOARD_DEMO [CHROMIUM [PART_OF_A_NAME]]: the page of a synthetic run in a real browser. What it shows must be what /api/v1/state says.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {strict as assert} from 'node:assert';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {chromium} from 'playwright-core';
import {curvesAreDrawn, holes, inked, number, read, showsTheState, together, until} from './dashboard_page.mjs';
import {checkTrace} from './trace_check.mjs';

const [demo, browserPath = '/usr/bin/chromium', only = ''] = process.argv.slice(2);
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const profile = mkdtempSync(join(tmpdir(), 'dashboard-e2e-'));

/// Starts a demo; ends when its input does.
async function serve(...words) {
  const child = spawn(demo, ['0', ...words.map(String)], {stdio: ['pipe', 'pipe', 'inherit']});
  const [line] = await once(child.stdout, 'data');
  const port = Number(String(line).match(/^port (\d+)/)[1]);
  const stop = async () => {
    if (child.exitCode === null) {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    }
  };
  return {url: `http://127.0.0.1:${port}/`, port, stop};
}

async function open(browser, url, options, outside, errors) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on('request', (request) => { if (!request.url().startsWith(url)) outside.push(request.url()); });
  page.on('pageerror', (error) => errors.push(error.stack));
  page.on('console', (message) => { if (message.type() === 'error' && !message.text().includes('ERR_')) errors.push(message.text()); });
  await page.goto(url);
  return page;
}

const steps = {
  async 'the page shows what the state says, and goes on doing so'(browser, outside, errors) {
    const server = await serve(200, 1000, 4);
    try {
      const page = await open(browser, server.url, {viewport: {width: 1360, height: 900}}, outside, errors);
      await page.waitForSelector('[data-worker]');
      await showsTheState(page, server.url);
      const before = (await read(page)).sequence;
      await until(async () => (await read(page)).sequence >= before + 3);
      await showsTheState(page, server.url);
      await curvesAreDrawn(page);
      assert.equal(await page.locator('.badge').textContent(), 'Training');
      assert.equal(await page.locator('.banner').count(), 0);
    } finally {
      await server.stop();
    }
  },

  async 'a late tab has the whole run'(browser, outside, errors) {
    const server = await serve(3000, 6000, 2);
    try {
      const page = await open(browser, server.url, {}, outside, errors);
      await page.waitForSelector('.chart canvas', {timeout: 2000});
      await until(async () => (await page.locator('.chart canvas').count()) === 4);
      await showsTheState(page, server.url);
      await page.waitForTimeout(1500);
      await curvesAreDrawn(page);
    } finally {
      await server.stop();
    }
  },

  async 'a stretch that was zoomed into stays until a double click'(browser, outside, errors) {
    const server = await serve(200, 1000, 2);
    try {
      const page = await open(browser, server.url, {viewport: {width: 1360, height: 900}}, outside, errors);
      await page.waitForSelector('.chart canvas');
      await page.waitForTimeout(1500);
      const all = (await inked(page))[3];
      await page.locator('.bytes .u-over').scrollIntoViewIfNeeded();
      const box = await page.locator('.bytes .u-over').boundingBox();
      await page.mouse.move(box.x + 0.45 * box.width, box.y + 50);
      await page.mouse.down();
      await page.mouse.move(box.x + 0.55 * box.width, box.y + 60, {steps: 4});
      await page.mouse.up();
      const label = () => page.locator('.traffic thead th').nth(1).textContent();
      const shown = await label();  // the moment in the middle of the chart: "At 1:50"
      assert.match(shown, /^At 1:/);
      await page.waitForTimeout(2500);
      await curvesAreDrawn(page);
      await page.mouse.move(box.x + 1, box.y + 50);
      assert.match(await label(), /^At 1:/, 'the left edge is still inside the stretch');
      await page.mouse.dblclick(box.x + 1, box.y + 50);
      await page.mouse.move(box.x + 2, box.y + 50);
      await until(async () => /^At 0:0/.test(await label()));
      assert.ok(Math.abs((await inked(page))[3] - all) < 0.2 * all);
    } finally {
      await server.stop();
    }
  },

  async 'a slow answer leaves no hole in the curves'(browser, outside, errors) {
    const server = await serve(20, 1000, 2);
    try {
      const context = await browser.newContext();
      const page = await context.newPage();
      page.on('pageerror', (error) => errors.push(error.stack));
      await page.route('**/api/v1/series', async (route) => {
        const answer = await route.fetch();
        await new Promise((resolve) => setTimeout(resolve, 8000));
        await route.fulfill({response: answer});
      });
      await page.goto(server.url);
      await page.waitForSelector('.bytes canvas', {timeout: 20000});
      await page.waitForTimeout(2500);
      assert.equal(await holes(page), 0);
    } finally {
      await server.stop();
    }
  },

  async 'a lost worker and a run that has ended are named'(browser, outside, errors) {
    const server = await serve(0, 8, 3, 'lose');
    try {
      const page = await open(browser, server.url, {}, outside, errors);
      await page.locator('tr.gone', {hasText: 'CONV worker 2'}).waitFor({timeout: 20000});
      await page.waitForSelector('.badge.finished', {timeout: 20000});
      assert.match(await page.locator('.banner').textContent(), /has finished/);
      assert.match(await page.locator('[role=status]').textContent(), /finished/);
      await showsTheState(page, server.url);
    } finally {
      await server.stop();
    }
  },

  async 'a page whose stream stopped says so'(browser, outside, errors) {
    const server = await serve(20, 100000, 2);
    const page = await open(browser, server.url, {}, outside, errors);
    await page.waitForSelector('[data-worker]');
    await server.stop();
    await page.waitForSelector('.banner.bad', {timeout: 15000});
    assert.match(await page.locator('.banner').textContent(), /No data for/);
    assert.equal(await page.locator('.link').textContent(), 'Reconnecting');
  },

  async 'no width of screen makes it scroll sideways, in light and dark'(browser, outside, errors) {
    const server = await serve(100, 100000, 6);
    try {
      for (const [width, colorScheme] of [[320, 'light'], [390, 'dark'], [768, 'light'], [1024, 'dark'], [1920, 'light']]) {
        const page = await open(browser, server.url, {viewport: {width, height: 900}, colorScheme}, outside, errors);
        await page.waitForSelector('[data-worker]');
        await page.waitForTimeout(300);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} px wide on a screen of ${width}`);
        await page.context().close();
      }
    } finally {
      await server.stop();
    }
  },

  async 'axe finds no violation, light and dark, wide and narrow, with and without scripts'(browser, outside, errors) {
    const server = await serve(0, 40, 3, 'lose');
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    try {
      for (const [width, colorScheme, javaScriptEnabled] of [[1360, 'light', true], [1360, 'dark', true], [390, 'light', true], [1360, 'light', false]]) {
        const page = await open(browser, server.url, {viewport: {width, height: 900}, colorScheme, bypassCSP: true, reducedMotion: 'reduce'}, outside, errors);
        await page.waitForSelector('[data-worker]');
        let checked = page;
        if (javaScriptEnabled) {
          await until(async () => (await page.locator('.node').count()) > 4);
          await page.waitForSelector('[data-strip]');
          await page.locator('button[aria-label^="Table: Loss"]').click();
          await page.locator('summary[aria-label^="Export: Samples"]').click();
        } else {
          // axe itself is a script: it looks at the tables on their own.
          const plain = await (await fetch(server.url)).text();
          checked = await page.context().newPage();
          await checked.setContent(plain.replaceAll(/<\/?noscript>/g, '').replace(/<script.*?<\/script>/, '').replace(/<meta http-equiv[^>]*>/, ''));
        }
        await checked.evaluate(axe);
        const {violations} = await checked.evaluate('axe.run()');
        assert.deepEqual(violations.map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html).slice(0, 3).join(' ')}`), [], `${width} px, ${colorScheme}`);
        await page.context().close();
      }
    } finally {
      await server.stop();
    }
  },

  async 'the keyboard alone reaches and works everything'(browser, outside, errors) {
    const server = await serve(200, 1000, 2);
    try {
      const page = await open(browser, server.url, {viewport: {width: 1360, height: 900}}, outside, errors);
      await page.waitForSelector('.chart canvas');
      await page.waitForSelector('[data-strip]');
      const all = await page.evaluate(() => [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
        .filter((e) => e.checkVisibility()).map((e, i) => (e.dataset.stop = String(i))).length);
      const reached = new Set();
      await page.locator('body').press('Tab');
      for (let i = 0; i < all + 10; ++i) {
        reached.add(await page.evaluate(() => document.activeElement?.dataset.stop ?? ''));
        await page.keyboard.press('Tab');
      }
      reached.delete('');
      const missed = await page.evaluate((known) => [...document.querySelectorAll('[data-stop]')].filter((e) => !known.includes(e.dataset.stop)).map((e) => e.outerHTML.slice(0, 120)), [...reached]);
      assert.deepEqual(missed, []);
      assert.equal(reached.size, all, 'none of them was made anew meanwhile');
      const plot = page.locator('[data-chart=loss] .plot');
      await plot.focus();
      await page.keyboard.press('ArrowLeft');
      await page.locator('[data-chart=loss] .at').waitFor();
      await page.keyboard.press('+');
      await page.locator('.toolbar .strong').waitFor();
      assert.match(page.url(), /#zoom=/);
      await page.keyboard.press('0');
      await until(async () => (await page.locator('.toolbar .strong').count()) === 0);
      await page.keyboard.press('p');
      await page.locator('button', {hasText: 'Resume curves'}).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('fc');
      await until(async () => (await page.locator('[data-worker]').count()) === 1);
    } finally {
      await server.stop();
    }
  },

  async 'a link shows the same view; tables, exports, sorting, layers, checkpoints'(browser, outside, errors) {
    const run = mkdtempSync(join(tmpdir(), 'dashboard-run-'));
    for (const [name, size] of [['checkpoint-00000001.hgck', 5], ['checkpoint-00000002.hgck', 200000], ['run.state', 7]]) writeFileSync(join(run, name), 'x'.repeat(size));
    const server = await serve(200, 1000, 3, 'keep', 1000, run);
    try {
      const page = await open(browser, server.url, {viewport: {width: 1360, height: 900}, acceptDownloads: true}, outside, errors);
      await page.waitForSelector('.chart canvas');
      await page.locator('.toolbar select').first().selectOption('samples');
      await page.locator('[data-chart=loss] .legend button', {hasText: 'test'}).click();
      await page.locator('th button', {hasText: 'Clock'}).click();
      await page.locator('th button', {hasText: 'Clock'}).click();
      const other = await open(browser, page.url(), {viewport: {width: 1360, height: 900}}, [], errors);
      await other.waitForSelector('.chart canvas');
      assert.equal(await other.locator('.toolbar select').first().inputValue(), 'samples');
      assert.equal(await other.locator('[data-chart=loss] .legend button', {hasText: 'test'}).getAttribute('aria-pressed'), 'false');
      await until(async () => {
        const clocks = (await other.locator('[data-cell=clock]').allTextContents()).filter((text) => text !== '–').map(number);
        return clocks.length >= 4 && clocks.every((clock, i) => i === 0 || clock <= clocks[i - 1]);
      });
      await page.locator('[data-chart=speed] summary').click();
      for (const [kind, check] of [['CSV', (text) => text.startsWith('samples,all workers\n') && text.split('\n').length > 150],
        ['JSON', (text) => JSON.parse(text)['all workers'].length > 150], ['PNG', (text) => text.includes('PNG')]]) {
        const [download] = await Promise.all([page.waitForEvent('download'), page.locator('[data-chart=speed] .menu button', {hasText: kind}).click()]);
        assert.ok(check(readFileSync(await download.path(), 'latin1')), kind);
      }
      await page.locator('button[aria-label="Table: Samples per second"]').click();
      assert.ok((await page.locator('[data-chart=speed] tbody tr').count()) > 50);
      assert.equal(await page.locator('.workers .spark').count(), 4, 'of each worker');
      await until(async () => (await page.locator('.spark polyline').first().getAttribute('points')).split(' ').length > 40);  // a late tab has them whole
      const {state} = await together(page, server.url);
      assert.deepEqual(await page.locator('[data-layer]').evaluateAll((rows) => rows.map((row) => row.dataset.layer)), state.layers.map((layer) => layer.name));
      const bias = page.locator('[data-layer="conv1.bias +5"]');
      assert.equal(await bias.locator('[data-cell=density]').textContent(), '100.0 %');
      assert.equal(await bias.locator('[data-cell=ratio]').textContent(), '2.00×');
      assert.match(await bias.locator('[data-cell=bits]').getAttribute('class'), /heat-6/);
      assert.deepEqual(await page.locator('[data-checkpoint] a').allTextContents(), ['checkpoint-00000002.hgck', 'checkpoint-00000001.hgck']);
      await page.locator('.beside').selectOption('0123456789abcdef');
      const earlier = page.locator('[data-chart=loss] .legend button', {hasText: 'other train'});
      await until(async () => /0\.30/.test(await earlier.textContent()));
      assert.match(page.url(), /beside=0123456789abcdef/);
      assert.ok((await inked(page))[0] > 150);
      const [file] = await Promise.all([page.waitForEvent('download'), page.locator('[data-checkpoint] a').first().click()]);
      assert.equal(file.suggestedFilename(), 'checkpoint-00000002.hgck');
      assert.equal(readFileSync(await file.path()).length, 200000);
    } finally {
      await server.stop();
      rmSync(run, {recursive: true, force: true});
    }
  },

  async 'the timeline shows what everybody did, and its trace is valid'(browser, outside, errors) {
    const server = await serve(20, 1000, 3);
    try {
      const page = await open(browser, server.url, {acceptDownloads: true}, outside, errors);
      await page.waitForSelector('[data-strip]');
      assert.deepEqual(await page.locator('.lane .who').allTextContents(), ['Aggregator', 'Data loader', 'CONV worker 1', 'CONV worker 2', 'CONV worker 3', 'FC worker 1']);
      await page.locator('[data-strip^=conv-worker]').first().focus();
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await page.locator('.reading', {hasText: /CONV worker 1: step, 5.00 ms, began \d/}).waitFor();
      await page.locator('button[aria-label="Table: Timeline"]').click();
      const cells = await page.locator('.timeline tbody tr').nth(2).locator('td').allTextContents();
      [0, 32, 14, 6.4, 2, 0, 0, 36].forEach((share, i) => assert.ok(Math.abs(parseFloat(cells[i]) - share) < 2, `${cells.join()}: column ${i} is not ${share} %`));
      const [download] = await Promise.all([page.waitForEvent('download'), page.locator('.timeline a').click()]);
      const {spans, flows} = checkTrace(readFileSync(await download.path(), 'utf8'));
      assert.ok(spans > 2000 && flows > 900, `${spans} spans, ${flows} flows`);
    } finally {
      await server.stop();
    }
  },

  async 'without scripts there are tables'(browser, outside, errors) {
    const server = await serve(100, 100000, 3);
    try {
      const page = await open(browser, server.url, {javaScriptEnabled: false}, outside, errors);
      const text = await page.locator('main.plain').innerText();
      const state = await (await fetch(`${server.url}api/v1/state`)).json();
      for (const word of [state.run.model, state.run.dataset, 'conv-worker', 'activation_gradients', 'Pushes received']) assert.ok(text.includes(word), word);
    } finally {
      await server.stop();
    }
  },
};

/// Two at a time: each has a server and pages of its own, and waits more than it works.
let failed = 0;
const browser = await chromium.launch({executablePath: browserPath, args: flags, env: {...process.env, HOME: profile}});
const queue = Object.entries(steps).filter(([name]) => name.includes(only));
async function work() {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const [name, step] = next;
    const began = Date.now(), outside = [], errors = [];
    try {
      await step(browser, outside, errors);
      assert.deepEqual(outside, [], 'requests that left the server');
      assert.deepEqual(errors, [], 'errors in the page');
      console.log(`ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      ++failed;
      console.log(`FAIL  ${name}: ${error.stack}`);
    }
  }
}
await Promise.all([work(), work()]);
await browser.close();
rmSync(profile, {recursive: true, force: true});
process.exitCode = failed === 0 ? 0 : 1;
