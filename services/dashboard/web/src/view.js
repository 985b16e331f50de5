// SPDX-License-Identifier: Apache-2.0
// How the page is looked at: kept in the URL's hash, so that a link shows the same. The theme is the browser's alone, and stays there.
export const defaults = {x: 'time', window: '0', smooth: '0', log: '', zoom: '', off: '', q: '', sort: '', level: 'info', find: '', beside: ''};
const writePauseMs = 300;  // browsers ignore, or refuse, a page that changes its URL as fast as a hand pans
const themes = ['auto', 'light', 'dark'];

export class View {
  constructor(changed) {
    this.changed = changed;
    this.paused = false;
    this.theme = 'auto';
    try {
      this.theme = localStorage.getItem('theme') ?? 'auto';
    } catch {
      // Storage may be forbidden; then the theme lasts as long as the tab.
    }
    this.read();
    addEventListener('hashchange', () => {
      this.read();
      changed();
    });
    this.media = matchMedia('(prefers-color-scheme: dark)');
    this.media.addEventListener('change', () => this.paint());
    this.paint();
  }

  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of Object.entries(defaults)) this[name] = given.get(name) ?? value;
    this.understand();
  }

  understand() {
    const zoom = this.zoom.split('-').map(Number);
    this.range = zoom.length === 2 && zoom[0] < zoom[1] ? zoom : null;
    if (!['time', 'step', 'samples', 'bytes'].includes(this.x)) this.x = 'time';
  }

  set(what) {
    Object.assign(this, what);
    this.understand();
    if (this.pausing) {
      this.unwritten = true;
    } else {
      this.write();
      this.pausing = setTimeout(() => {
        this.pausing = null;
        if (this.unwritten) this.write();
      }, writePauseMs);
    }
    this.changed();
  }

  write() {
    this.unwritten = false;
    const kept = new URLSearchParams();
    for (const [name, value] of Object.entries(defaults)) if (this[name] !== value) kept.set(name, this[name]);
    const hash = kept.toString();
    history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
  }

  /// A stretch of the x-axis, or null for all of it.
  zoomTo(range) {
    this.set({zoom: range ? range.map((x) => Number(Math.max(0, x).toPrecision(6))).join('-') : ''});
  }
  pause(on) {
    this.paused = on;
    this.changed();
  }

  hidden(curve) {
    return this.off.split(' ').includes(curve);
  }
  toggle(curve) {
    const off = new Set(this.off.split(' ').filter(Boolean));
    if (!off.delete(curve)) off.add(curve);
    this.set({off: [...off].join(' ')});
  }

  get dark() {
    return this.theme === 'dark' || (this.theme !== 'light' && this.media.matches);
  }
  nextTheme() {
    this.theme = themes[(themes.indexOf(this.theme) + 1) % themes.length];
    try {
      localStorage.setItem('theme', this.theme);
    } catch {
      // As above.
    }
    this.paint();
  }
  paint() {
    if (this.theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.theme;
    this.changed();
  }
}
