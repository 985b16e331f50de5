// SPDX-License-Identifier: Apache-2.0
// node dashboard_live.mjs HOURGLASS [CHROMIUM]: the page of a real job. A killed worker and a stopped one are named, its buttons work with the token alone, and the last figures are those of result.json.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {strict as assert} from 'node:assert';
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {chromium} from 'playwright-core';
import {checkTrace} from './trace_check.mjs';

const [hourglass, browserPath = '/usr/bin/chromium'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'dashboard-live-'));
const number = (text) => Number(text.replaceAll(',', ''));

async function until(what, condition) {
  for (let i = 0; i < 1200; ++i) {
    const value = await condition();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never: ${what}`);
}

/// Processes that `train` has started for a role.
function children(parent, role) {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(role);
    } catch {
      return false;  // it has ended meanwhile
    }
  }).map(Number);
}

const run = join(folder, 'run');
const job = spawn(hourglass, ['train', '--dataset', 'synthetic', '--model', 'lenet5', '--samples', '10000000', '--conv-workers', '3', '--staleness', '0', '--monitor-port', '0', '--run-dir', run],
  {stdio: ['ignore', 'ignore', 'ignore'], cwd: folder});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => { job.kill('SIGTERM'); process.exit(1); });  // nothing is left running
const browser = await chromium.launch({executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run'], env: {...process.env, HOME: folder}});
try {
  const portFile = join(run, 'monitor.port');
  const port = await until('the monitor listens', () => existsSync(portFile) && readFileSync(portFile, 'utf8').trim());
  const url = `http://127.0.0.1:${port}/`, outside = [], errors = [];
  const page = await (await browser.newContext()).newPage();
  page.on('request', (request) => { if (!request.url().startsWith(url)) outside.push(request.url()); });
  page.on('pageerror', (error) => errors.push(error.stack));
  await until('the page opens', () => page.goto(url).then(() => true, () => false));
  const alertsText = async () => (await page.locator('[data-alert]').allTextContents()).join('\n');
  const eventsText = async () => (await page.locator('.events li').allTextContents()).join('\n');
  await until('steps are made', async () => number(await page.locator('[data-field="ledger.applied"]').textContent().catch(() => '0')) > 20);
  console.log('ok    the page of a live job');

  await page.waitForSelector('[data-strip^=conv-worker]');
  const joined = await until('flows between the actors are known', async () => {
    const figures = checkTrace(await (await fetch(`${url}api/v1/trace`)).text());
    return figures.flows > 20 && figures;
  });
  assert.ok(joined.processes >= 6, 'aggregator, loader, three CONV workers, FC worker');
  for (const kind of ['load', 'forward', 'backward', 'encode', 'step', 'apply', 'wait']) assert.ok(joined.kinds.has(kind), kind);
  console.log('ok    the trace of a live job is valid, with flows between its actors');

  const [stopped] = children(job.pid, 'conv-worker');
  process.kill(stopped, 'SIGSTOP');
  const awaited = await until('the awaited worker is named', async () => (await alertsText()).match(/workers? waits? for (CONV worker \d).* at clock \d+/));
  assert.ok((await eventsText()).includes(awaited[1]));
  process.kill(stopped, 'SIGCONT');
  await until('all steps go on', async () => !/waits? for/.test(await alertsText()));
  console.log('ok    a stopped worker of a synchronous run is named as awaited, with its clock');

  const [, killed] = children(job.pid, 'conv-worker');
  process.kill(killed, 'SIGKILL');
  await until('the killed worker is named', async () => /CONV worker \d \(conv-worker-\d\) is (gone|silent)/.test(await eventsText()));
  console.log('ok    a killed worker is named');

  const button = (command) => page.locator(`[data-command=${command}]`);
  const samples = async () => number(await page.locator('[data-field="run.samples_done"]').textContent());
  const badge = () => page.locator('.badge').textContent();
  assert.equal((await fetch(`${url}api/v1/commands/stop`, {method: 'POST', headers: {Authorization: 'Bearer 0123456789abcdef'}})).status, 401);
  await button('pause').click();
  await page.locator('input[name=token]').fill('not-the-token');
  await page.locator('dialog[open] button[type=submit]').click();
  await until('a wrong token is refused', async () => /does not accept/.test(await page.locator('dialog[open]').textContent().catch(() => '')));
  assert.equal(await badge(), 'Training');
  await page.locator('input[name=token]').fill(readFileSync(join(run, 'monitor.token'), 'utf8').trim());
  await page.locator('dialog[open] button[type=submit]').click();
  await until('the run is paused', async () => (await badge()) === 'Paused');
  let before = -1;
  await until('it stands still', async () => {
    const still = before === (await samples());
    before = await samples();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    return still;
  });
  const other = await (await browser.newContext()).newPage();  // by the link that train prints
  await other.goto(`${url}#token=${readFileSync(join(run, 'monitor.token'), 'utf8').trim()}`);
  await until('the token leaves the address', () => !other.url().includes('token'));
  await other.locator('[data-command=resume]').click();
  await until('the run goes on', async () => (await samples()) > before && (await badge()) === 'Training');
  await button('checkpoint').click();
  await until('a checkpoint is made', async () => /Command checkpoint: done/.test(await eventsText()) && /Checkpoint \d+ of this process is on disk/.test(await eventsText()));
  console.log('ok    pause, resume and checkpoint work, with the token alone');

  await button('stop').click();
  await page.locator('dialog[open] button[type=submit]').click();
  if (job.exitCode === null) await once(job, 'exit');
  assert.equal(job.exitCode, 0);
  const {ledger, status} = JSON.parse(readFileSync(join(run, 'result.json'), 'utf8'));
  await until('the page shows the last state', async () => (await page.locator('.badge').textContent()) === 'Finished');
  assert.equal(status, 'stopped');
  for (const name of ['received', 'applied']) {
    await until(`${name} as in result.json`, async () => number(await page.locator(`[data-field="ledger.${name}"]`).textContent()) === ledger[name]);
  }
  assert.deepEqual(outside, [], 'requests that left the server');
  assert.deepEqual(errors, [], 'errors in the page');
  console.log('ok    the last figures are those of result.json');
} finally {
  await browser.close();
  if (job.exitCode === null) job.kill('SIGKILL');
  rmSync(folder, {recursive: true, force: true});
}
