// SPDX-License-Identifier: Apache-2.0
// Numbers for people. What is not known is a dash, never a zero.
export const unknown = '–';
const known = (x) => typeof x === 'number' && Number.isFinite(x);

export const whole = (x) => (known(x) ? Math.round(x).toLocaleString('en-US') : unknown);
export const fixed = (x, digits) => (known(x) ? x.toFixed(digits) : unknown);
export const percent = (x, digits = 1) => (known(x) ? `${(100 * x).toFixed(digits)} %` : unknown);

/// Three digits that matter: 1234 -> 1,234; 12.3; 1.23.
export function rate(x) {
  if (!known(x)) return unknown;
  if (x >= 100) return whole(x);
  return x >= 10 ? x.toFixed(1) : x.toFixed(2);
}

/// For axes: no digits that say nothing.
export const short = (x) => Number(x.toFixed(3)).toLocaleString('en-US');

/// 1.2k, 34M: for axes of counts.
export const compact = (x) => (known(x) ? x.toLocaleString('en-US', {notation: 'compact', maximumFractionDigits: 2}) : unknown);

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
export function bytes(x) {
  if (!known(x)) return unknown;
  let unit = 0;
  while (x >= 999.5 && unit + 1 < units.length) {
    x /= 1000;
    ++unit;
  }
  return `${unit === 0 ? Math.round(x) : x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2)} ${units[unit]}`;
}
export const bytesRate = (x) => (known(x) ? `${bytes(x)}/s` : unknown);

const two = (x) => String(x).padStart(2, '0');
/// 4:05, 1:04:05.
export function clock(seconds) {
  if (!known(seconds)) return unknown;
  const s = Math.max(0, Math.round(seconds));
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
/// 0.4 s, 12 s, 3 min.
export function ago(seconds) {
  if (!known(seconds)) return unknown;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/// The same up to days, without tenths: 45 s, 12 min, 5 h, 3 d.
export function age(seconds) {
  if (!known(seconds)) return unknown;
  const s = Math.max(0, seconds);
  return s < 120 ? `${Math.round(s)} s` : s < 7200 ? `${Math.round(s / 60)} min` : s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} d`;
}

export const kindName = (kind) => kind.replaceAll('_', ' ');
export const roleName = (role) =>
  ({'data-loader': 'Data loader', 'conv-worker': 'CONV worker', 'fc-worker': 'FC worker', 'aggregator': 'Aggregator', 'monitor': 'Monitor', 'tree-node': 'Tree node'})[role] ?? role;
/// Epochs count from 0 on the wire and from 1 for people.
/// Where the number of samples ends the run, that of epochs says nothing.
export const epochNumber = (run, job) => (job?.samples ? run.epoch + 1 : Math.min(run.epoch + 1, run.epochs));

export const isWorker = (row) => row.role === 'conv-worker' || row.role === 'fc-worker';
const order = ['aggregator', 'data-loader', 'conv-worker', 'fc-worker', 'tree-node', 'monitor'];
export const byRole = (a, b) => order.indexOf(a.role) - order.indexOf(b.role) || a.number - b.number;
export function workerName(row, rows) {
  const numbered = isWorker(row) || row.role === 'tree-node' || rows.some((other) => other.role === row.role && other.id !== row.id);
  return numbered ? `${roleName(row.role)} ${row.number}` : roleName(row.role);
}

/// How a process fares, in one word; alerts are the server's judgement.
export function healthOf(row, alerts) {
  if (row.presence === 'gone') return 'gone';
  if (row.last_seen_seconds > 3) return 'silent';
  if (row.waits) return 'waits';
  if (alerts.some((alert) => alert.worker === row.id && alert.kind === 'straggler')) return 'slow';
  return row.presence;
}
