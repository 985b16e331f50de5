// SPDX-License-Identifier: Apache-2.0
// What the page knows: the newest state, the test points, the curves. One event stream feeds it.
const rowsMax = 4000;   // then the server's down-sampled curves replace ours
const silenceMs = 5000; // states come each second

export class Store {
  constructor(changed) {
    this.changed = changed;
    this.state = null;
    this.history = [];
    this.columns = [];
    this.time = [];
    this.mean = [];       // one array per column
    this.heardAt = 0;     // this browser's clock
    this.connected = false;
    this.curvesAsked = false;
    this.revision = 0;    // rises when curves or history change
  }

  start() {
    this.source = new EventSource('/api/v1/events');
    this.source.onopen = () => this.note({connected: true});
    this.source.onerror = () => this.note({connected: false});
    this.source.addEventListener('snapshot', (event) => {
      this.take(JSON.parse(event.data), true);
      this.fetchCurves();
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
    if (!first && state.row) this.takeRow(state.row);
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

  async fetchHistory() {
    if (this.historyAsked) return;
    this.historyAsked = true;
    try {
      const full = await (await fetch('/api/v1/state')).json();
      this.history = full.history;
      ++this.revision;
      this.changed();
    } catch {
      // The next state asks again.
    } finally {
      this.historyAsked = false;
    }
  }

  /// A column with a hole where rows are missing: a gap is drawn as a gap.
  withGaps(names) {
    const time = [];
    const columns = names.map((name) => this.mean[this.columns.indexOf(name)] ?? []);
    const out = columns.map(() => []);
    for (let i = 0; i < this.time.length; ++i) {
      const step = this.time[i] - this.time[i - 1];
      const usual = Math.max(this.time[i - 1] - this.time[i - 2] || 0, this.time[i + 1] - this.time[i] || 0, 2);
      if (i > 0 && step > 2.5 * usual) {
        time.push(this.time[i] - step / 2);
        out.forEach((values) => values.push(null));
      }
      time.push(this.time[i]);
      out.forEach((values, c) => values.push(columns[c][i] ?? null));
    }
    return [time, ...out];
  }

  silentMs() {
    return this.heardAt === 0 ? 0 : Date.now() - this.heardAt;
  }
  stale() {
    return this.state !== null && !this.state.closed && this.silentMs() > silenceMs;
  }
}
