// SPDX-License-Identifier: Apache-2.0
// What the browser tests read from the dashboard's page.
import {strict as assert} from 'node:assert';

export const number = (text) => Number(text.replaceAll(',', ''));
export const read = (page) => page.evaluate(() => ({
  sequence: Number(document.querySelector('main').dataset.sequence),
  fields: Object.fromEntries([...document.querySelectorAll('[data-field]')].map((e) => [e.dataset.field, e.textContent])),
  workers: Object.fromEntries([...document.querySelectorAll('[data-worker]')].map((row) =>
    [row.dataset.worker, Object.fromEntries([...row.querySelectorAll('[data-cell]')].map((cell) => [cell.dataset.cell, cell.textContent]))])),
}));

/// The page's policy forbids the browser to evaluate text, so conditions are polled from here.
export async function until(condition) {
  for (let i = 0; i < 200; ++i) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never true: ${condition}`);
}

/// Page and server at the same state: states change each second, so it asks until both are of one sequence number.
export async function together(page, url) {
  for (let i = 0; i < 100; ++i) {
    const state = await (await fetch(`${url}api/v1/state`)).json();
    const shown = await read(page);
    if (shown.sequence === state.sequence) return {state, shown};
    await page.waitForTimeout(50);
  }
  throw new Error('page and server never showed the same state');
}

export async function showsTheState(page, url) {
  const {state, shown: {fields, workers}} = await together(page, url);
  const newest = state.history.at(-1);
  assert.equal(number(fields['ledger.received']), state.ledger.received);
  assert.equal(number(fields['ledger.applied']), state.ledger.applied);
  assert.equal(number(fields['ledger.rejected']), Object.values(state.ledger.rejected).reduce((a, b) => a + b, 0));
  assert.equal(fields['ledger.balanced'], state.ledger.balanced ? 'Balanced' : 'Does not add up');
  assert.equal(fields['run.loss'], state.run.loss.toFixed(4));
  assert.equal(fields.accuracy, (100 * newest.accuracy).toFixed(2));
  assert.equal(fields.test_loss, newest.loss.toFixed(4));
  assert.equal(number(fields['run.samples_done']), state.run.samples_done);
  assert.equal(number(fields['run.samples_per_second']), Math.round(state.run.samples_per_second));
  assert.equal(number(fields['run.epoch']), Math.min(state.run.epoch + 1, state.run.epochs));
  assert.equal(number(fields['staleness.max']), state.staleness.max);
  assert.equal(fields['staleness.mean'], state.staleness.mean.toFixed(2));
  assert.equal(Object.keys(workers).length, state.workers.length);
  for (const worker of state.workers) {
    const cells = workers[worker.id];
    if (['active', 'idle', 'gone'].includes(cells.presence)) assert.equal(cells.presence, worker.presence);
    assert.equal(cells.host, worker.host || '–');
    if (worker.role.endsWith('-worker')) {
      assert.equal(number(cells.clock), worker.clock);
      assert.equal(number(cells.version), worker.version);
    }
  }
  const units = {B: 1, kB: 1e3, MB: 1e6, GB: 1e9};
  for (const row of state.traffic) {
    const [value, unit] = fields[`traffic.${row.kind}.socket`].split(' ');
    assert.ok(Math.abs(value * units[unit] - row.socket_bytes) <= 0.006 * row.socket_bytes + 0.5, `${row.kind}: ${value} ${unit}, not ${row.socket_bytes}`);
  }
}

/// Coloured pixels of each chart: axes and text are grey, curves are not.
export const inked = (page) => page.evaluate(() => [...document.querySelectorAll('.chart canvas')].map((canvas) => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 3; i < data.length; i += 4) count += data[i] > 0 && Math.max(data[i - 1], data[i - 2], data[i - 3]) - Math.min(data[i - 1], data[i - 2], data[i - 3]) > 60 ? 1 : 0;
  return count;
}));

export async function curvesAreDrawn(page) {
  const ink = await inked(page);
  assert.equal(ink.length, 4);
  ink.forEach((count, i) => assert.ok(count > 150, `chart ${i} has ${count} coloured pixels`));
}

/// Columns of the stacked chart without colour between its first and last coloured one.
export const holes = (page) => page.evaluate(() => {
  const canvas = document.querySelector('.bytes canvas');
  const over = document.querySelector('.bytes .u-over');
  const scale = canvas.width / canvas.clientWidth;
  const row = canvas.getContext('2d').getImageData(over.offsetLeft * scale, (over.offsetTop + over.offsetHeight - 5) * scale, over.offsetWidth * scale, 1).data;
  const colored = [];
  for (let i = 0; i < row.length; i += 4) colored.push(row[i + 3] > 0 && Math.max(row[i], row[i + 1], row[i + 2]) - Math.min(row[i], row[i + 1], row[i + 2]) > 60);
  return colored.slice(colored.indexOf(true), colored.lastIndexOf(true)).filter((x) => !x).length;
});
