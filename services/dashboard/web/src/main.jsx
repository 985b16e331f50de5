// SPDX-License-Identifier: Apache-2.0
import {render} from 'preact';
import {useMemo, useState} from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import './page.css';
import {Chart, join} from './chart.jsx';
import {ago, bytesRate, epochNumber, fixed, percent, rate, short} from './format.js';
import {LedgerPanel, Run, StalenessPanel, TrafficTable, Workers} from './panels.jsx';
import {Store} from './store.js';

const kinds = ['activations', 'activation_gradients', 'push_conv', 'push_fc', 'update_conv', 'update_fc', 'batch', 'snapshot', 'metrics', 'control', 'evaluation'];

/// Each curve carries those below it, so that filled areas drawn from the top one down look stacked.
function stack([time, ...columns]) {
  const sums = [];
  columns.forEach((values, i) => sums.push(values.map((x, row) => (x === null ? null : x + (i === 0 ? 0 : sums[i - 1][row] ?? 0)))));
  return [time, ...sums.reverse()];
}

/// Bytes by kind; the table shows what was sent at the moment under the pointer.
function Moved({store}) {
  const [hovered, setHovered] = useState(null);
  const moved = useMemo(() => store.withGaps(kinds.map((kind) => `bytes_per_second.${kind}`)), [store.revision]);
  const stacked = useMemo(() => stack(moved), [moved]);
  const at = hovered === null || hovered >= moved[0].length ? null
    : {time: moved[0][hovered], rates: Object.fromEntries(kinds.map((kind, i) => [kind, moved[i + 1][hovered]]))};
  return (
    <div class="bytes">
      <Chart title="Bytes per second by kind of message" data={stacked} format={bytesRate} tick={(x) => bytesRate(x).replace(/\.0+(?= )/, '')} low={0}
        height={342} stacked wide legend={false} onHover={setHovered} curves={[...kinds].reverse().map((kind) => ({name: kind, color: `--${kind}`}))} />
      <section class="panel"><header><h2>Bytes sent, all processes</h2></header><TrafficTable state={store.state} at={at} /></section>
    </div>
  );
}

function Charts({store}) {
  const {revision} = store;
  const loss = useMemo(() => join([store.withGaps(['loss']), [store.history.map((row) => row.seconds), store.history.map((row) => row.loss)]]), [revision]);
  const accuracy = useMemo(() => {
    if (store.history.length === 0) return [[], []];
    // Joined with the curves' times only to reach as far as the other charts do.
    const [time, , values] = join([[store.time, store.time.map(() => null)], [store.history.map((row) => row.seconds), store.history.map((row) => row.accuracy)]]);
    return [time, values];
  }, [revision]);
  const speed = useMemo(() => store.withGaps(['samples_per_second']), [revision]);
  return (
    <>
      <div class="charts">
        <Chart title="Loss" data={loss} format={(x) => fixed(x, 3)} tick={short} low={0}
          curves={[{name: 'train', color: '--train'}, {name: 'test', color: '--test', points: true, dash: [5, 4]}]} />
        <Chart title="Test accuracy" data={accuracy} format={(x) => percent(x, 2)} tick={(x) => `${short(100 * x)} %`} empty="No evaluation yet"
          curves={[{name: 'test', color: '--test', points: true}]} />
        <Chart title="Samples per second" data={speed} format={rate} tick={short} low={0} curves={[{name: 'all workers', color: '--speed', filled: true}]} />
      </div>
      <Moved store={store} />
    </>
  );
}

function Banner({store}) {
  const {state} = store;
  if (store.stale()) return <p class="banner bad" role="alert">No data for {ago(store.silentMs() / 1000)}. The figures below are of {new Date(state.time_ms).toLocaleTimeString()}; trying to reconnect.</p>;
  if (state.closed) return <p class="banner">{state.run.phase === 'finished' ? 'The run has finished' : 'The monitor has left the run'}; these are its last figures.</p>;
  if (state.run.status_age_seconds > 5) return <p class="banner bad" role="alert">The aggregator has been silent for {ago(state.run.status_age_seconds)}.</p>;
  return null;
}

/// Read out by screen readers: changes of state, never each tick.
function announcement(store) {
  const {state} = store;
  if (!state) return 'Connecting';
  if (store.stale()) return 'No data from the monitor';
  const {run, workers} = state;
  const gone = workers.filter((worker) => worker.presence === 'gone').length;
  const epoch = run.epochs ? `, epoch ${epochNumber(run)} of ${run.epochs}` : '';
  return `${run.phase}${epoch}${gone ? `, ${gone} processes gone` : ''}`;
}

function connection(store) {
  if (store.state?.closed) return ['ended', 'Ended'];
  if (!store.connected || store.stale()) return ['lost', store.state ? 'Reconnecting' : 'Connecting'];
  return ['live', 'Live'];
}

function App({store}) {
  const {state} = store;
  const [mood, text] = connection(store);
  return (
    <>
      <nav>
        <a href="/" class="brand"><img src="/icon.svg" alt="" width="26" height="26" />Hourglass</a>
        <span class={`link ${mood}`}>{text}</span>
      </nav>
      <p class="unseen" role="status" aria-live="polite">{announcement(store)}</p>
      <main data-sequence={state?.sequence}>
        {!state && <p class="empty first">Waiting for the first figures</p>}
        {state && <>
          <Banner store={store} />
          <Run state={state} history={store.history} />
          <Charts store={store} />
          <Workers state={state} />
          {state.ledger && <div class="pair"><LedgerPanel ledger={state.ledger} /><StalenessPanel staleness={state.staleness} groups={state.groups} /></div>}
        </>}
      </main>
      <footer>
        <span>Hourglass {state?.build}</span>{state?.run?.id && <span>run {state.run.id}</span>}
        <span><a href="/api/v1/state">JSON</a></span><span><a href="/metrics">Prometheus</a></span><span><a href="/licenses.txt">Licences</a></span>
      </footer>
    </>
  );
}

const place = document.getElementById('app');
let asked = false;
/// One drawing for all changes of a moment.
const store = new Store(() => {
  if (asked) return;
  asked = true;
  queueMicrotask(() => {
    asked = false;
    render(<App store={store} />, place);
    const {state} = store;
    if (state) document.title = state.run.phase === 'training' ? `${percent(state.run.progress, 0)} · ${state.run.model} · Hourglass` : `${state.run.phase} · Hourglass`;
  });
});
store.changed();
store.start();
