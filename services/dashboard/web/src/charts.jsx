// SPDX-License-Identifier: Apache-2.0
import {useMemo, useRef, useState} from 'preact/hooks';
import {Chart, join} from './chart.jsx';
import {axisOf, overlay, positive, smooth, stack} from './curves.js';
import {bytesRate, fixed, percent, rate, short} from './format.js';
import {kinds, TrafficTable} from './traffic.jsx';

/// While the view is paused the curves stay as they were.
function useTable(store, view) {
  const frozen = useRef(0);
  if (!view.paused) frozen.current = store.revision;
  return useMemo(() => ({...store.table(), history: [...store.history], beside: store.beside}), [frozen.current]);
}

function rangeOf(table, {x, at}, view) {
  if (view.range) return view.range;
  if (x.length < 2) return null;
  const last = x[x.length - 1], seconds = Number(view.window);
  const first = seconds > 0 ? at(Math.max(table.time[0], table.time[table.time.length - 1] - seconds)) : x[0];
  return first < last ? [first, last] : null;
}

/// The run that is laid beside this one: its own axis, and as far as both go.
function useBeside({beside}, axis, view, range) {
  const other = useMemo(() => beside && axisOf({time: beside.time, column: (name) => beside[name]}, view.x), [beside, view.x]);
  if (!other || other.x.length === 0) return {range};
  const end = other.x[other.x.length - 1];
  const whole = !view.range && Number(view.window) === 0;
  return {beside, other, range: whole ? [Math.min(range?.[0] ?? other.x[0], other.x[0]), Math.max(range?.[1] ?? end, end)] : range};
}

/// A curve, and behind it the measured one where it is smoothed.
function smoothed(curve, time, values, amount) {
  if (amount === 0) return {curves: [curve], columns: [values]};
  return {curves: [{...curve, name: `${curve.name}, measured`, faint: true, filled: false}, curve], columns: [values, smooth(time, values, amount)]};
}

export function Charts({store, view}) {
  const table = useTable(store, view);
  const [hovered, setHovered] = useState(null);
  const amount = Math.min(0.99, Number(view.smooth) || 0);
  const axis = useMemo(() => axisOf(table, view.x), [table, view.x]);
  const range = rangeOf(table, axis, view);
  const common = {view, range};
  const {beside, other, range: both} = useBeside(table, axis, view, range);
  const log = view.log === '1';
  const onScale = (values) => (log ? positive(values) : values);

  const loss = useMemo(() => {
    const train = smoothed({name: 'train', color: '--train'}, table.time, onScale(table.column('loss')), amount);
    const points = [table.history.map((row) => axis.at(row.seconds)), onScale(table.history.map((row) => row.loss))];
    const curves = [...train.curves, {name: 'test', color: '--test', points: true, dash: [5, 4]}], tables = [[axis.x, ...train.columns], points];
    if (beside) {
      curves.push({name: 'other train', color: '--beside', dash: [2, 3]}, {name: 'other test', color: '--beside', points: true, dash: [9, 4]});
      const measured = onScale(beside.loss), values = amount === 0 ? measured : smooth(beside.time, measured, amount);
      tables.push(overlay(axis.x, other.x, values), [beside.history.map((row) => other.at(row.seconds)), onScale(beside.history.map((row) => row.loss))]);
    }
    return {curves, data: join(tables)};
  }, [table, axis, amount, log, other]);
  const accuracy = useMemo(() => {
    const curves = [{name: 'test', color: '--test', points: true}];
    const points = (rows, {at}) => [rows.map((row) => at(row.seconds)), rows.map((row) => row.accuracy)];
    if (beside) curves.push({name: 'other test', color: '--beside', points: true, dash: [9, 4]});
    if (table.history.length === 0 && !beside?.history.length) return {curves, data: [[], ...curves.map(() => [])]};
    // Joined with the curves' x only to reach as far as the other charts do.
    const [x, , ...values] = join([[axis.x, axis.x.map(() => null)], points(table.history, axis), ...(beside ? [points(beside.history, other)] : [])]);
    return {curves, data: [x, ...values]};
  }, [table, axis, other]);
  const speed = useMemo(() => {
    const made = smoothed({name: 'all workers', color: '--speed', filled: true}, table.time, onScale(table.column('samples_per_second')), amount);
    return {curves: made.curves, data: [axis.x, ...made.columns]};
  }, [table, axis, amount, log]);
  const moved = useMemo(() => kinds.map((kind) => table.column(`bytes_per_second.${kind}`)), [table]);
  const shown = kinds.map((kind) => !view.hidden(`bytes.${kind}`));
  const stacked = useMemo(() => [axis.x, ...stack(moved, shown)], [moved, axis, view.off]);
  const at = hovered === null || hovered >= axis.x.length ? null
    : {time: table.time[hovered], rates: Object.fromEntries(kinds.map((kind, i) => [kind, moved[i][hovered]]))};
  return (
    <>
      <div class="charts">
        <Chart {...common} range={both} name="loss" title="Loss" data={loss.data} curves={loss.curves} format={(x) => fixed(x, 3)} tick={short} low={0} log={log} />
        <Chart {...common} range={both} name="accuracy" title="Test accuracy" data={accuracy.data} format={(x) => percent(x, 2)} tick={(x) => `${short(100 * x)} %`} empty="No evaluation yet"
          curves={accuracy.curves} />
        <Chart {...common} name="speed" title="Samples per second" data={speed.data} curves={speed.curves} format={rate} tick={short} low={0} log={log} />
      </div>
      <div class="bytes">
        <Chart {...common} name="bytes" title="Bytes per second by kind of message" data={stacked} raw={[axis.x, ...moved]} format={bytesRate} tick={(x) => bytesRate(x).replace(/\.0+(?= )/, '')} low={0}
          height={470} stacked wide legend={false} onHover={setHovered} curves={[...kinds].reverse().map((kind) => ({name: kind, color: `--${kind}`}))} />
        <section class="panel"><header><h2>Bytes sent, all processes</h2></header><TrafficTable state={store.state} at={at} view={view} /></section>
      </div>
    </>
  );
}
