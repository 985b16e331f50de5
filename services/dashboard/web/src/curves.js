// SPDX-License-Identifier: Apache-2.0
// From rows of the run to what a chart draws: the x-axis asked for, smoothing, stacks.

export const axes = {time: 'time', step: 'version', samples: 'samples', bytes: 'bytes'};

/// uPlot wants x to rise; a run that went back to a checkpoint may count less again.
function rising(values) {
  let most = 0;
  return values.map((x) => (most = Math.max(most, x ?? most)));
}

/// The x of each row, and where a moment of the run lies between them.
export function axisOf(table, name) {
  const x = name === 'time' ? table.time : rising(table.column(axes[name]));
  const at = (time) => {
    const {time: times} = table;
    let after = times.findIndex((t) => t >= time);
    if (after < 0) return name === 'time' ? time : x[x.length - 1] ?? 0;
    if (name === 'time') return time;
    if (after === 0) return x[0];
    const share = (time - times[after - 1]) / (times[after] - times[after - 1] || 1);
    return x[after - 1] + share * (x[after] - x[after - 1]);
  };
  return {x, at};
}

/// Exponential mean over time with its start put right: `amount` 0..0.99 of the old value is left after one second.
export function smooth(time, values, amount) {
  let mean = 0, weight = 0, last = null;
  return values.map((value, i) => {
    if (value === null || value === undefined) return null;
    const keep = last === null ? 0 : amount ** Math.max(0.01, time[i] - last);
    last = time[i];
    mean = keep * mean + (1 - keep) * value;
    weight = keep * weight + (1 - keep);
    return mean / weight;
  });
}

/// Each curve carries those below it, so that filled areas drawn from the top one down look stacked.
export function stack(columns, shown) {
  const sums = [];
  columns.forEach((values, i) => sums.push(values.map((x, row) => {
    const below = i === 0 ? 0 : sums[i - 1][row] ?? 0;
    return x === null ? null : (shown[i] ? x : 0) + below;
  })));
  return sums.reverse();
}

/// Another run's curve at the x of this one, and at its own beyond: so that both can be read at one place.
export function overlay(here, x, values) {
  const known = x.map((_, i) => i).filter((i) => values[i] !== null && values[i] !== undefined);
  if (known.length === 0) return [[], []];
  const end = here[here.length - 1] ?? -Infinity;
  const outX = [], outY = [];
  let next = 0;
  for (const at of here) {
    while (next < known.length && x[known[next]] < at) ++next;
    if (next === known.length) break;
    const b = known[next], a = known[next - 1];
    if (a === undefined && x[b] > at) continue;
    const share = a === undefined || x[b] === x[a] ? 1 : (at - x[a]) / (x[b] - x[a]);
    outX.push(at);
    outY.push(a === undefined ? values[b] : values[a] + share * (values[b] - values[a]));
  }
  for (const i of known) if (x[i] > end) outX.push(x[i]), outY.push(values[i]);
  return [outX, outY];
}

export const positive = (values) => values.map((x) => (x > 0 ? x : null));

export function toCsv(names, data) {
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = data[0].map((_, row) => data.map((column) => column[row] ?? '').join(','));
  return `${names.map(quote).join(',')}\n${rows.join('\n')}\n`;
}

export function save(name, type, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
