// SPDX-License-Identifier: Apache-2.0
import {ago, byRole, bytes, bytesRate, fixed, healthOf, isWorker, percent, rate, unknown, whole, workerName} from './format.js';

function Meter({ratio, text}) {
  if (ratio === null) return unknown;
  return <span class="meter"><i style={{width: `${Math.min(100, 100 * ratio)}%`}} /><b>{text}</b></span>;
}

const sparkPoints = 50;

function mean(values) {
  const known = values.filter((x) => x !== null);
  return known.length ? known.reduce((x, y) => x + y, 0) / known.length : null;
}

/// At most sparkPoints means, the newest at the right; what is not known is a gap. All of a role are drawn to one scale.
function Spark({values, most}) {
  if (!values || values.length < 2) return unknown;
  const stride = Math.ceil(values.length / sparkPoints), lines = [[]];
  for (let i = values.length % stride || stride, from = 0; from < values.length; from = i, i += stride) {
    const y = mean(values.slice(from, i));
    if (y === null) lines.push([]);
    else lines[lines.length - 1].push(`${(2 + (68 * (i - 1)) / (values.length - 1)).toFixed(1)},${(18 - (16 * y) / most).toFixed(1)}`);
  }
  const known = values.filter((x) => x !== null);
  return (
    <svg class="spark" width="72" height="20" role="img" aria-label={`${rate(Math.min(...known))} to ${rate(Math.max(...known))} samples per second`}>
      {lines.filter((line) => line.length > 0).map((line, i) => <polyline key={i} points={(line.length > 1 ? line : [...line, line[0]]).join(' ')} />)}
    </svg>
  );
}

/// id: of sorting; value: what is compared; a column without any value is left out.
function columnsOf(state, speeds) {
  const {workers, job} = state;
  const fastest = (role) => Math.max(...workers.map((row) => (row.role === role && row.samples_per_second) || 0), 1e-9);
  const mosts = {};
  for (const {id, role} of workers) for (const x of speeds.get(id) ?? []) mosts[role] = Math.max(mosts[role] ?? 1e-9, x);
  const step = (row) => (row.role === 'conv-worker' && row.samples_per_second > 0 ? job?.batch / row.samples_per_second : null);
  const figure = (name) => (row) => row.figures[name] ?? null;
  const all = [
    {id: 'clock', name: 'Clock', value: (row) => (isWorker(row) ? row.clock : null), show: whole},
    {id: 'version', name: 'Version', value: (row) => (isWorker(row) ? row.version : null), show: whole},
    {id: 'seen', name: 'Last seen', value: (row) => row.last_seen_seconds, show: ago},
    {id: 'step', name: 'Step', value: step, show: (x) => (x === null ? unknown : x < 1 ? `${fixed(1000 * x, 0)} ms` : ago(x))},
    {id: 'speed', name: 'Samples/s', value: (row) => row.samples_per_second, show: (x, row) => <Meter ratio={x === null ? null : x / fastest(row.role)} text={rate(x)} />},
    {id: 'pace', name: 'Last 5 min', value: (row) => mean(speeds.get(row.id) ?? []), show: (x, row) => <Spark values={speeds.get(row.id)} most={mosts[row.role]} />, title: 'Samples per second over the last five minutes; sorted by their mean'},
    {id: 'sends', name: 'Sends', value: (row) => row.sent_bytes_per_second, show: bytesRate},
    {id: 'queue', name: 'Queue', value: figure('queue'), show: whole, title: 'Activations that an FC worker has not used yet'},
    {id: 'outbox', name: 'Outbox', value: figure('outbox_bytes'), show: bytes, title: 'Bytes that wait for peers'},
    {id: 'residual', name: 'Residual', value: (row) => figure('residual_norm')(row) || null, show: (x) => (x === null ? unknown : x.toPrecision(3)), title: 'Norm of what compression holds back'},
    {id: 'restarts', name: 'Restarts', value: (row) => row.restarts || null, show: whole, title: 'Times that it has joined again, as far as this monitor has seen'},
    {id: 'cpu', name: 'CPU', value: (row) => row.cpu_ratio, show: (x) => <Meter ratio={x} text={percent(x, 0)} />},
    {id: 'memory', name: 'Memory', value: (row) => row.memory_bytes, show: bytes},
  ];
  return all.filter((column) => !['queue', 'outbox', 'residual', 'step', 'pace', 'restarts'].includes(column.id) || workers.some((row) => column.value(row) !== null));
}

export function Workers({state, view, speeds}) {
  const {workers, alerts} = state;
  const columns = columnsOf(state, speeds);
  const health = (row) => healthOf(row, alerts);
  const text = {name: (row) => workerName(row, workers), host: (row) => row.host, state: health, waits: (row) => row.waits?.text ?? ''};
  const [key, descending] = view.sort.startsWith('-') ? [view.sort.slice(1), true] : [view.sort, false];
  const value = text[key] ?? columns.find((column) => column.id === key)?.value;
  // What is not known comes last, either way.
  const compare = (a, b) => {
    const x = value(a), y = value(b);
    if (x === null || y === null) return (x === null) - (y === null);
    return (descending ? -1 : 1) * (typeof x === 'string' ? x.localeCompare(y, 'en', {numeric: true}) : x - y);
  };
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (row) => words.every((part) => Object.values(text).some((get) => get(row).toLowerCase().includes(part)));
  const rows = workers.filter(matches).sort(byRole);
  if (value) rows.sort((a, b) => compare(a, b) || byRole(a, b));
  const here = workers.filter((row) => row.presence !== 'gone').length;
  // Not a component: one made anew with each state would lose the focus.
  const head = ({id, name, title}, n) => (
    <th key={id} scope="col" class={n ? 'n' : ''} aria-sort={key !== id ? undefined : descending ? 'descending' : 'ascending'}>
      <button type="button" title={title} onClick={() => view.set({sort: key !== id ? id : descending ? '' : `-${id}`})}>{name}<span aria-hidden="true">{key !== id ? '' : descending ? ' ↓' : ' ↑'}</span></button>
    </th>
  );
  return (
    <section class="panel workers">
      <header><h2>Processes</h2>
        <label class="find"><span class="unseen">Filter processes</span><input id="filter" type="search" placeholder="Filter" value={view.q} onInput={(event) => view.set({q: event.target.value})} /></label>
        <p class="legend"><span><b data-field="workers.here">{here}</b> present{workers.length > here && <>, <b>{workers.length - here}</b> gone</>}</span></p></header>
      <div class="scroll" tabindex="0" role="region" aria-label="Processes">
        <table>
          <thead><tr>{[['name', 'Process'], ['host', 'Host'], ['state', 'State'], ['waits', 'Waits for']].map(([id, name]) => head({id, name}))}
            {columns.map((column) => head(column, true))}</tr></thead>
          <tbody>
            {rows.map((row) => <tr key={row.id} class={health(row)} data-worker={row.id}>
              <th scope="row">{text.name(row)}</th>
              <td class="host" title={row.endpoint} data-cell="host">{row.host || unknown}</td>
              <td data-label="State"><span class={`state ${health(row)}`} data-cell="presence">{health(row)}</span></td>
              <td class="waits" data-label="Waits for" data-cell="waits">{row.waits ? <><span>{row.waits.text || 'something'}</span> <small>{ago(row.waits.seconds)}</small></> : unknown}</td>
              {columns.map((column) => <td key={column.id} class="n" data-label={column.name} data-cell={column.id}>{column.show(column.value(row), row)}</td>)}
            </tr>)}
            {rows.length === 0 && <tr><td colspan={4 + columns.length} class="empty">{workers.length === 0 ? 'Nobody has joined yet' : 'No process fits the filter'}</td></tr>}
          </tbody>
        </table>
      </div>
    </section>
  );
}
