// SPDX-License-Identifier: Apache-2.0
import {ago} from './format.js';

const levels = ['info', 'warning', 'error'];
const sign = {info: 'i', warning: '!', error: '✕'};
const time = (ms) => new Date(ms).toLocaleTimeString('en-GB');

export function Alerts({state}) {
  if (!state.alerts?.length) return null;
  return (
    <section class={`panel alerts ${state.alerts[0].level}`} aria-label="Alerts">
      <ul>
        {state.alerts.map((alert) => <li key={`${alert.kind}${alert.worker}`} class={alert.level} data-alert={alert.kind}>
          <b aria-hidden="true">{sign[alert.level]}</b><span>{alert.text}</span><small>for {ago((state.time_ms - alert.since_ms) / 1000)}, since {time(alert.since_ms)}</small></li>)}
      </ul>
    </section>
  );
}

export function Events({events, view}) {
  const least = levels.indexOf(view.level);
  const words = view.find.toLowerCase();
  const rows = events.filter((event) => levels.indexOf(event.level) >= least && event.text.toLowerCase().includes(words)).reverse();
  return (
    <section class="panel events">
      <header><h2>Events</h2>
        <p class="fields">
          <label><span class="unseen">Least level</span><select value={view.level} onChange={(event) => view.set({level: event.target.value})}>{levels.map((level) => <option key={level} value={level}>{level}</option>)}</select></label>
          <label class="find"><span class="unseen">Search events</span><input type="search" placeholder="Search" value={view.find} onInput={(event) => view.set({find: event.target.value})} /></label>
        </p>
      </header>
      <div class="scroll" tabindex="0" role="region" aria-label="Events">
        <ol>{rows.map((event) => <li key={event.id} class={event.level}><time>{time(event.time_ms)}</time><b>{event.level}</b><span>{event.text}</span></li>)}</ol>
        {rows.length === 0 && <p class="empty">No such event</p>}
      </div>
    </section>
  );
}
