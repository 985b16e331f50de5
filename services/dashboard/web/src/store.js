// SPDX-License-Identifier: Apache-2.0
// What the page knows: the newest state, the test points, the curves. One event stream feeds it.
const rowsMax = 4000;   // then the server's down-sampled curves replace ours
const eventsMax = 500;  // as many as the server keeps
const speedsMax = 300;  // as above
const silenceMs = 5000; // states come each second

export class Store {
  constructor(changed) {
    this.changed = changed;
    this.state = null;
    this.history = [];
    this.events = [];
    this.columns = [];
    this.time = [];
    this.mean = [];       // one array per column
    this.runs = null;     // that can be laid beside this one
    this.beside = null;   // the curves of one of them
    this.besideOf = '';   // its id
    this.files = null;    // checkpoints
    this.filesOf = null;  // how many had been saved when they were listed
    this.speedsAt = -1;   // uptime of the monitor
    this.heardAt = 0;     // this browser's clock
    this.connected = false;
    this.curvesAsked = false;
    this.speeds = new Map();  // samples per second of each worker, the last minutes, one a second
    this.revision = 0;    // rises when curves or history change
  }

  start() {
    this.source = new EventSource('/api/v1/events');
    this.source.onopen = () => this.note({connected: true});
    this.source.onerror = () => this.note({connected: false});
    this.source.addEventListener('snapshot', (event) => {
      this.take(JSON.parse(event.data), true);
      this.fetchCurves();
      this.fetchSpeeds();
      this.fetchRuns();
    });
    this.source.addEventListener('state', (event) => this.take(JSON.parse(event.data), false));
    setInterval(() => this.changed(), 1000);
  }

  note(what) {
    Object.assign(this, what);
    this.changed();
  }

  take(state, first) {
    const before = this.state?.run?.id;
    if (before && state.run.id && before !== state.run.id) this.forget();
    const missed = !first && this.state !== null && state.sequence > this.state.sequence + 1;
    this.state = state;
    this.heardAt = Date.now();
    this.connected = true;
    this.takeHistory(state, first);
    this.takeEvents(state.events ?? [], first);
    if (!first && state.row) this.takeRow(state.row);
    this.takeSpeeds(state);
    const saved = state.workers.find((row) => row.role === 'aggregator')?.figures.checkpoints ?? 0;
    if (first || saved !== this.filesOf) this.fetchFiles(saved);
    if (missed) this.fetchCurves();  // we were slow, and the server dropped events
    this.changed();
  }

  forget() {
    this.history = [];
    this.time = [];
    this.mean = this.columns.map(() => []);
    this.fetchCurves();
  }

  takeHistory(state, first) {
    if (first) this.history = [];
    if (state.history_from > this.history.length) {
      this.fetchHistory();
      return;
    }
    const known = this.history.length;
    this.history.splice(state.history_from, Infinity, ...state.history);
    if (this.history.length !== known || first) ++this.revision;
  }

  /// The log goes on over runs; a state carries only its newest lines.
  takeEvents(events, first) {
    if (first) this.events = [];
    const known = this.events[this.events.length - 1]?.id ?? 0;
    const news = events.filter((event) => event.id > known);
    if (news.length === 0) return;
    if (known > 0 && news[0].id > known + 1) this.fetchHistory();  // we were slow
    this.events.push(...news);
    if (this.events.length > eventsMax) this.events.splice(0, this.events.length - eventsMax);
  }

  takeRow(row) {
    if (this.curvesAsked) this.rowsMeanwhile.push(row);
    if (this.columns.length === 0) {
      this.fetchCurves();
      return;
    }
    const newest = this.time[this.time.length - 1];
    if (newest !== undefined && row.time === newest) return;
    if (newest !== undefined && row.time < newest) {
      this.fetchCurves();  // the run went back to a checkpoint
      return;
    }
    this.time.push(row.time);
    this.mean.forEach((values, column) => values.push(row.values[column]));
    ++this.revision;
    if (this.time.length > rowsMax) this.fetchCurves();
  }

  async fetchCurves() {
    if (this.curvesAsked) return;
    this.curvesAsked = true;
    this.rowsMeanwhile = [];  // the answer may be older than they are
    try {
      const curves = await (await fetch('/api/v1/series')).json();
      this.columns = curves.columns;
      this.time = curves.time;
      this.mean = curves.mean;
      this.curvesAsked = false;
      const end = this.time[this.time.length - 1] ?? -1;
      for (const row of this.rowsMeanwhile) if (row.time > end) this.takeRow(row);
      ++this.revision;
      this.changed();
    } catch {
      // The stream's next snapshot asks again.
    } finally {
      this.curvesAsked = false;
    }
  }

  /// As the server keeps them: one a second, who is no longer shown is forgotten.
  takeSpeeds(state) {
    if (state.uptime_seconds - this.speedsAt < 0.7 && state.uptime_seconds >= this.speedsAt) return;
    this.speedsAt = state.uptime_seconds;
    const next = new Map();
    for (const {id, samples, samples_per_second: speed} of state.workers) {
      if (samples !== null) next.set(id, [...(this.speeds.get(id) ?? []).slice(1 - speedsMax), speed]);
    }
    this.speeds = next;
  }

  async fetchSpeeds() {
    try {
      const {workers} = await (await fetch('/api/v1/speeds')).json();
      this.speeds = new Map(Object.entries(workers));
      this.changed();
    } catch {
      // Then they begin with this tab.
    }
  }

  async fetchRuns() {
    try {
      this.runs = (await (await fetch('/api/v1/runs')).json()).runs;
      this.changed();
    } catch {
      // Then there is none to choose.
    }
  }

  /// Asks for the curves of this run, once; empty: of none.
  async lay(id) {
    if (id === this.besideOf) return;
    this.besideOf = id;
    this.beside = null;
    ++this.revision;
    if (!/^[0-9a-f]{16}$/.test(id)) return;
    try {
      const answer = await fetch(`/api/v1/runs/${id}`);
      const curves = answer.ok ? await answer.json() : null;
      if (this.besideOf !== id) return;  // another one has been chosen meanwhile
      this.beside = curves;
      ++this.revision;
      this.changed();
    } catch {
      this.besideOf = '';  // the next drawing asks again
    }
  }

  async fetchFiles(saved) {
    this.filesOf = saved;
    try {
      this.files = await (await fetch('/api/v1/checkpoints')).json();
      this.changed();
    } catch {
      this.filesOf = null;  // the next state asks again
    }
  }

  async fetchHistory() {
    if (this.historyAsked) return;
    this.historyAsked = true;
    try {
      const full = await (await fetch('/api/v1/state')).json();
      this.history = full.history;
      this.events = full.events;
      ++this.revision;
      this.changed();
    } catch {
      // The next state asks again.
    } finally {
      this.historyAsked = false;
    }
  }

  /// All rows, with a hole where some are missing: a gap is drawn as a gap.
  table() {
    const time = [], rows = [];
    for (let i = 0; i < this.time.length; ++i) {
      const step = this.time[i] - this.time[i - 1];
      const usual = Math.max(this.time[i - 1] - this.time[i - 2] || 0, this.time[i + 1] - this.time[i] || 0, 2);
      if (i > 0 && step > 2.5 * usual) {
        time.push(this.time[i] - step / 2);
        rows.push(-1);
      }
      time.push(this.time[i]);
      rows.push(i);
    }
    const {columns, mean} = this;
    const column = (name) => {
      const values = mean[columns.indexOf(name)] ?? [];
      return rows.map((i) => (i < 0 ? null : values[i] ?? null));
    };
    return {time, column};
  }

  silentMs() {
    return this.heardAt === 0 ? 0 : Date.now() - this.heardAt;
  }
  stale() {
    return this.state !== null && !this.state.closed && this.silentMs() > silenceMs;
  }
}
