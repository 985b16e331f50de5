// SPDX-License-Identifier: Apache-2.0
import {ago, bytes, bytesRate, clock, epochNumber, fixed, kindName, percent, rate, roleName, unknown, whole} from './format.js';

const phaseText = {
  waiting: 'Waiting for workers', training: 'Training', flushing: 'Flushing', evaluating: 'Evaluating', collecting: 'Collecting', finished: 'Finished',
  pausing: 'Stopping',
};

function Tile({label, value, unit, note, field}) {
  return <div class="tile"><dt>{label}</dt><dd><b data-field={field}>{value}</b>{unit && value !== unknown && <span class="unit">{unit}</span>}{note && <small>{note}</small>}</dd></div>;
}

const setting = (name, value) => (value === undefined || value === null || value === '' ? null : <li key={name}><span>{name}</span> {value}</li>);

function waitingFor({job, workers}) {
  if (!job) return 'the aggregator';
  const count = (role) => workers.filter((w) => w.role === role && w.presence !== 'gone').length;
  const parts = [`${count('conv-worker')} of ${job.conv_workers} CONV`];
  if (job.fc_workers > 0) parts.push(`${count('fc-worker')} of ${job.fc_workers} FC`);
  if (count('data-loader') === 0) parts.push('no data loader');
  return parts.join(', ');
}

export function Run({state, history}) {
  const {run, job} = state;
  const newest = history[history.length - 1];
  const best = history.reduce((most, row) => Math.max(most, row.accuracy), 0);
  const progress = run.phase === 'finished' && run.progress > 0.999 ? 1 : run.progress ?? 0;
  return (
    <section class="panel run" aria-label="Run">
      <div class="headline">
        <span class={`badge ${run.phase}`} data-field="run.phase">{phaseText[run.phase] ?? run.phase}</span>
        <h1>{run.model ?? 'No run yet'}{run.dataset && <span> on {run.dataset}</span>}</h1>
        <p class="epoch">{run.phase === 'waiting' || !run.epochs ? waitingFor(state) : <>Epoch <b data-field="run.epoch">{epochNumber(run)}</b> of <b>{run.epochs}</b></>}</p>
      </div>
      {run.message && <p class="waits" role="status" data-field="run.message">{run.message}</p>}
      {run.alarm && <p class="alarm" role="alert" data-field="run.alarm">{run.alarm}</p>}
      <div class="progress">
        <div class="bar" role="progressbar" aria-label="Progress" aria-valuemin="0" aria-valuemax="100" aria-valuenow={Math.floor(100 * progress)}>
          <i style={{width: `${100 * progress}%`}} />
        </div>
        <p><b>{percent(progress, 1)}</b>
          <span>{clock(run.seconds)} elapsed</span>
          {run.phase === 'training' && run.eta_seconds !== null && <span>{clock(run.eta_seconds)} left</span>}</p>
      </div>
      <dl class="tiles">
        <Tile label="Training loss" value={fixed(run.loss, 4)} field="run.loss" />
        <Tile label="Test accuracy" value={newest ? fixed(100 * newest.accuracy, 2) : unknown} unit="%" field="accuracy"
          note={history.length > 1 ? `best ${fixed(100 * best, 2)}` : null} />
        <Tile label="Test loss" value={newest ? fixed(newest.loss, 4) : unknown} field="test_loss" />
        <Tile label="Samples/s" value={rate(run.samples_per_second)} field="run.samples_per_second" />
        <Tile label="Network" value={bytesRate(state.bytes_per_second)} field="bytes_per_second" />
        <Tile label="Samples" value={whole(run.samples_done)} field="run.samples_done"
          note={run.samples_total ? `of ${whole(run.samples_total)}${run.samples_repeated ? `, ${whole(run.samples_repeated)} repeated` : ''}` : null} />
      </dl>
      {job && <ul class="settings" aria-label="Configuration">
        {setting('batch', `${job.batch}`)}{setting('local steps', job.local_steps)}{setting('staleness', state.staleness?.bound)}
        {setting('optimizer', `${job.optimizer}, rate ${job.learning_rate}`)}
        {setting('push', job.compress)}{setting('downlink', job.downlink)}{job.fc_workers > 0 && setting('boundary', job.boundary)}{setting('seed', job.seed)}
      </ul>}
    </section>
  );
}

export function TrafficTable({state, at}) {
  const rows = state.traffic;
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const most = sum('socket_bytes') || 1;
  return (
    <table class="traffic">
      <thead><tr><th scope="col">Kind of message</th><th scope="col">{at ? `At ${clock(at.time)}` : 'Now'}</th><th scope="col">Payload</th><th scope="col">Socket</th><th scope="col">Share</th></tr></thead>
      <tbody>
        {rows.map((row) => <tr key={row.kind} class={row.socket_bytes === 0 ? 'none' : ''}>
          <th scope="row"><i class="swatch" style={{background: `var(--${row.kind})`}} />{kindName(row.kind)}</th>
          <td>{bytesRate(at ? at.rates[row.kind] : row.socket_bytes_per_second)}</td>
          <td data-field={`traffic.${row.kind}.payload`}>{bytes(row.payload_bytes)}</td>
          <td data-field={`traffic.${row.kind}.socket`}>{bytes(row.socket_bytes)}</td>
          <td>{percent(row.socket_bytes / most)}</td>
        </tr>)}
      </tbody>
      <tfoot><tr><th scope="row">Total</th><td>{bytesRate(at ? Object.values(at.rates).reduce((x, y) => x + (y ?? 0), 0) : state.bytes_per_second)}</td><td>{bytes(sum('payload_bytes'))}</td><td>{bytes(sum('socket_bytes'))}</td><td /></tr></tfoot>
    </table>
  );
}

const order = ['aggregator', 'data-loader', 'conv-worker', 'fc-worker', 'monitor'];
const isWorker = (row) => row.role === 'conv-worker' || row.role === 'fc-worker';

function Meter({ratio, text}) {
  if (ratio === null) return unknown;
  return <span class="meter"><i style={{width: `${Math.min(100, 100 * ratio)}%`}} /><b>{text}</b></span>;
}

export function Workers({state}) {
  const rows = [...state.workers].sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role) || a.number - b.number);
  const here = rows.filter((row) => row.presence !== 'gone').length;
  const fastest = (role) => Math.max(...rows.map((row) => (row.role === role && row.samples_per_second) || 0), 1e-9);
  return (
    <section class="panel workers">
      <header><h2>Processes</h2><p class="legend"><span><b data-field="workers.here">{here}</b> present{rows.length > here && <>, <b>{rows.length - here}</b> gone</>}</span></p></header>
      <div class="scroll" tabindex="0" role="region" aria-label="Processes">
        <table>
          <thead><tr><th scope="col">Process</th><th scope="col">Host</th><th scope="col">State</th><th scope="col" class="n">Clock</th><th scope="col" class="n">Version</th>
            <th scope="col" class="n">Last seen</th><th scope="col" class="n">Samples/s</th><th scope="col" class="n">Sends</th><th scope="col" class="n">CPU</th><th scope="col" class="n">Memory</th></tr></thead>
          <tbody>
            {rows.map((row) => <tr key={row.id} class={row.presence} data-worker={row.id}>
              <th scope="row">{roleName(row.role)} {isWorker(row) || rows.some((other) => other.role === row.role && other.id !== row.id) ? row.number : ''}</th>
              <td class="host" title={row.endpoint} data-cell="host">{row.host || unknown}</td>
              <td data-label="State"><span class={`state ${row.presence}`} data-cell="presence">{row.presence}</span></td>
              <td class="n" data-label="Clock" data-cell="clock">{isWorker(row) ? whole(row.clock) : unknown}</td>
              <td class="n" data-label="Version" data-cell="version">{isWorker(row) ? whole(row.version) : unknown}</td>
              <td class="n" data-label="Last seen">{ago(row.last_seen_seconds)}</td>
              <td class="n" data-label="Samples/s"><Meter ratio={row.samples_per_second === null ? null : row.samples_per_second / fastest(row.role)} text={rate(row.samples_per_second)} /></td>
              <td class="n" data-label="Sends">{bytesRate(row.sent_bytes_per_second)}</td>
              <td class="n" data-label="CPU"><Meter ratio={row.cpu_ratio} text={percent(row.cpu_ratio, 0)} /></td>
              <td class="n" data-label="Memory">{bytes(row.memory_bytes)}</td>
            </tr>)}
            {rows.length === 0 && <tr><td colspan="10" class="empty">Nobody has joined yet</td></tr>}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function LedgerPanel({ledger}) {
  const reasons = Object.entries(ledger.rejected);
  const rejected = reasons.reduce((sum, [, count]) => sum + count, 0);
  return (
    <section class="panel ledger">
      <header><h2>Gradient ledger</h2>
        <p class={`verdict ${ledger.balanced ? 'good' : 'bad'}`} data-field="ledger.balanced">{ledger.balanced ? 'Balanced' : 'Does not add up'}</p></header>
      <p class="sum">
        <span><b data-field="ledger.received">{whole(ledger.received)}</b><small>received</small></span><i>=</i>
        <span><b data-field="ledger.applied">{whole(ledger.applied)}</b><small>applied</small></span><i>+</i>
        <span><b data-field="ledger.rejected">{whole(rejected)}</b><small>rejected</small></span>
        {ledger.rolled_back > 0 && <><i>+</i><span><b data-field="ledger.rolled_back">{whole(ledger.rolled_back)}</b><small>rolled back</small></span></>}
      </p>
      <dl class="reasons">
        {reasons.map(([reason, count]) => <div key={reason} class={count ? '' : 'none'}><dt>{reason}</dt><dd>{whole(count)}</dd></div>)}
        <div class={ledger.duplicates ? '' : 'none'}><dt>repeats, not counted</dt><dd>{whole(ledger.duplicates)}</dd></div>
      </dl>
    </section>
  );
}

export function StalenessPanel({staleness, groups}) {
  return (
    <section class="panel staleness">
      <header><h2>Staleness</h2><p class="legend"><span>bound <b>{staleness.bound === 'unlimited' ? 'unlimited' : `${staleness.bound} clocks`}</b></span></p></header>
      <p class="sum">
        <span><b data-field="staleness.mean">{fixed(staleness.mean, 2)}</b><small>mean, versions</small></span>
        <span><b data-field="staleness.max">{whole(staleness.max)}</b><small>greatest</small></span>
      </p>
      <table>
        <thead><tr><th scope="col">Group</th><th scope="col" class="n">Version</th><th scope="col" class="n">Applied</th><th scope="col" class="n">Mean</th><th scope="col" class="n">Greatest</th></tr></thead>
        <tbody>{groups.map((g) => <tr key={g.name}><th scope="row">{g.name}</th><td class="n">{whole(g.version)}</td><td class="n">{whole(g.applied)}</td>
          <td class="n">{fixed(g.staleness_mean, 2)}</td><td class="n">{whole(g.staleness_max)}</td></tr>)}</tbody>
      </table>
    </section>
  );
}
