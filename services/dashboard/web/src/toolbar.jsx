// SPDX-License-Identifier: Apache-2.0
import {useEffect, useRef} from 'preact/hooks';
import {percent} from './format.js';

const options = (pairs) => pairs.map(([value, text]) => <option key={value} value={value}>{text}</option>);
const keys = [['p', 'pause or resume the curves'], ['l', 'logarithmic axes'], ['r', 'show the whole run'], ['t', 'theme: auto, light, dark'], ['/', 'filter processes'], ['?', 'this list'],
  ['← →', 'on a chart: read values'], ['Shift ← →', 'on a chart: pan'], ['+ −', 'on a chart: zoom'], ['0', 'on a chart: show all']];

function Help({place}) {
  return (
    <dialog ref={place} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl>{keys.map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}</dl>
      <p>Drag over a chart to zoom all of them, Shift-drag to pan, double-click to show all.</p>
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}

/// An earlier run whose curves are drawn beside this one's; hidden where there is none.
function Beside({store, view}) {
  const others = (store.runs ?? []).filter((run) => run.id !== store.state.run.id);
  if (others.length === 0) return null;
  const name = (run) => `${run.folder}: ${run.model}${run.accuracy === null ? '' : `, ${percent(run.accuracy, 1)}`}`;
  return (
    <label>beside <select class="beside" value={view.beside} onChange={(event) => view.set({beside: event.target.value})}>
      <option value="">no other run</option>{others.map((run) => <option key={run.id} value={run.id}>{name(run)}</option>)}</select></label>
  );
}

/// How the charts are drawn; the same for all of them.
export function Toolbar({store, view}) {
  const help = useRef(null);
  useEffect(() => {
    const listen = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
      const todo = {
        p: () => view.pause(!view.paused), l: () => view.set({log: view.log ? '' : '1'}), r: () => view.set({zoom: '', window: '0'}), t: () => view.nextTheme(),
        '/': () => document.getElementById('filter')?.focus(), '?': () => help.current.showModal(),
      }[event.key];
      if (!todo) return;
      event.preventDefault();
      todo();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  return (
    <div class="toolbar" role="toolbar" aria-label="Charts">
      <label>x <select value={view.x} onChange={(event) => view.set({x: event.target.value, zoom: ''})}>{options([['time', 'time'], ['step', 'step'], ['samples', 'samples'], ['bytes', 'bytes']])}</select></label>
      <label>window <select value={view.window} onChange={(event) => view.set({window: event.target.value, zoom: ''})}>
        {options([['0', 'whole run'], ['60', 'last minute'], ['300', 'last 5 min'], ['900', 'last 15 min'], ['3600', 'last hour']])}</select></label>
      <label>smoothing <input type="range" min="0" max="0.99" step="0.01" value={view.smooth} onInput={(event) => view.set({smooth: event.target.value})} /></label>
      <button type="button" aria-pressed={view.log === '1'} onClick={() => view.set({log: view.log ? '' : '1'})}>log scale</button>
      <button type="button" aria-pressed={view.paused} onClick={() => view.pause(!view.paused)}>{view.paused ? 'Resume curves' : 'Pause curves'}</button>
      <Beside store={store} view={view} />
      {view.range && <button type="button" class="strong" onClick={() => view.zoomTo(null)}>Show all</button>}
      <span class="spring" />
      <button type="button" onClick={() => help.current.showModal()} aria-label="Keys">?</button>
      <Help place={help} />
    </div>
  );
}
