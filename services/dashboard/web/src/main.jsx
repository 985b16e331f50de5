// SPDX-License-Identifier: Apache-2.0
import {render} from 'preact';
import 'uplot/dist/uPlot.min.css';
import './page.css';
import './timeline.css';
import {Charts} from './charts.jsx';
import {takeTokenFromAddress} from './commands.js';
import {Checkpoints} from './checkpoints.jsx';
import {Alerts, Events} from './events.jsx';
import {ago, epochNumber, percent} from './format.js';
import {LedgerPanel, StalenessPanel} from './ledger.jsx';
import {Layers} from './layers.jsx';
import {Run} from './run.jsx';
import {Still} from './still.jsx';
import {Store} from './store.js';
import {Timeline} from './timeline.jsx';
import {Toolbar} from './toolbar.jsx';
import {Topology} from './topology.jsx';
import {View} from './view.js';
import {Workers} from './workers.jsx';

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
  const epoch = run.epochs ? `, epoch ${epochNumber(run, state.job)}` : '';
  const alerts = (state.alerts ?? []).filter((alert) => alert.level === 'error').map((alert) => `. ${alert.text}`).join('');
  return `${run.held ? 'paused' : run.phase}${epoch}${gone ? `, ${gone} processes gone` : ''}${alerts}`;
}

function connection(store) {
  if (store.state?.closed) return ['ended', 'Ended'];
  if (!store.connected || store.stale()) return ['lost', store.state ? 'Reconnecting' : 'Connecting'];
  return ['live', 'Live'];
}

function App({store, view}) {
  const {state} = store;
  const [mood, text] = connection(store);
  return (
    <>
      <nav>
        <a href="/" class="brand"><img src="/icon.svg" alt="" width="26" height="26" />Hourglass</a>
        <p><button type="button" onClick={() => view.nextTheme()} title="Theme" aria-label={`Theme: ${view.theme}`}>{{auto: '◐', light: '☀', dark: '☾'}[view.theme]} {view.theme}</button>
          <span class={`link ${mood}`}>{text}</span></p>
      </nav>
      <p class="unseen" role="status" aria-live="polite">{announcement(store)}</p>
      <main data-sequence={state?.sequence}>
        {!state && <p class="empty first">Waiting for the first figures</p>}
        {state && <>
          <Banner store={store} />
          <Still on={[state, store.history, store.history.length]}>{() => <Run state={state} history={store.history} />}</Still>
          <Still on={[state]}>{() => <Alerts state={state} />}</Still>
          <Still on={[state]}>{() => <Topology state={state} />}</Still>
          <Toolbar store={store} view={view} />
          <Charts store={store} view={view} />
          <Still on={[state, view.dark]}>{() => <Timeline view={view} />}</Still>
          <Still on={[state, store.speeds, view.q, view.sort]}>{() => <Workers state={state} view={view} speeds={store.speeds} />}</Still>
          <Still on={[state, view.dark]}>{() => <Layers state={state} />}</Still>
          {state.ledger && <Still on={[state]}>{() => <div class="pair"><LedgerPanel ledger={state.ledger} /><StalenessPanel state={state} /></div>}</Still>}
          <Still on={[state, store.files]}>{() => <Checkpoints files={store.files} state={state} />}</Still>
          <Still on={[store.events, store.events.at(-1)?.id, view.level, view.find]}>{() => <Events events={store.events} view={view} />}</Still>
        </>}
      </main>
      <footer>
        <span>Hourglass {state?.build}</span>{state?.run?.id && <span>run {state.run.id}</span>}
        <span><a href="/api/v1/state">JSON</a></span><span><a href="/api/v1/trace" download="hourglass-trace.json">Trace</a></span><span><a href="/metrics">Prometheus</a></span><span><a href="/licenses.txt">Licences</a></span>
      </footer>
    </>
  );
}

const place = document.getElementById('app');
let asked = false;
let store, view;
/// One drawing for all changes of a moment.
function changed() {
  if (asked || !store || !view) return;
  store.lay(view.beside);
  asked = true;
  queueMicrotask(() => {
    asked = false;
    render(<App store={store} view={view} />, place);
    const {state} = store;
    if (state) document.title = state.run.phase === 'training' ? `${percent(state.run.progress, 0)} · ${state.run.model} · Hourglass` : `${state.run.phase} · Hourglass`;
  });
}
takeTokenFromAddress();
view = new View(changed);
store = new Store(changed);
changed();
store.start();
