// SPDX-License-Identifier: Apache-2.0
import {useEffect, useRef, useState} from 'preact/hooks';
import uPlot from 'uplot';
import {clock} from './format.js';

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 604800];

function axis(values, size) {
  return {
    stroke: css('--muted'),
    font: `11px ${css('--font')}`,
    grid: {stroke: css('--grid'), width: 1},
    ticks: {show: false},
    gap: 6,
    size,
    values,
  };
}

function options({curves, tick, low, high, stacked, wide}, width, height, onCursor) {
  return {
    width,
    height,
    padding: [8, 10, 0, 0],
    legend: {show: false},
    cursor: {
      sync: {key: 'hourglass'},
      y: false,
      points: {show: !stacked, size: 7, width: 2, fill: css('--panel'), stroke: (u, i) => css(curves[i - 1].color)},
      drag: {x: true, y: false},
    },
    scales: {
      x: {time: false},
      y: {
        range: (u, least, greatest) => {
          if (least === null || greatest === null) return [0, high ?? 1];
          const pad = (greatest - least) * 0.08 || Math.abs(greatest) * 0.1 || 1;
          return [low ?? Math.max(0, least - pad), high ?? greatest + pad];
        },
      },
    },
    axes: [
      {...axis((u, splits) => splits.map(clock), 26), incrs: seconds, space: 64},
      {...axis((u, splits) => splits.map(tick), wide ? 66 : 48), space: 34},
    ],
    series: [
      {},
      ...curves.map((curve) => ({
        stroke: css(curve.color),
        width: stacked ? 0.75 : curve.points ? 1.25 : 1.75,
        dash: curve.dash,
        fill: stacked ? css(curve.color) : curve.filled ? `${css(curve.color)}1c` : undefined,
        points: {show: curve.points ? true : undefined, size: 7, width: 1.5, fill: css(curve.color), stroke: css('--panel')},
      })),
    ],
    hooks: {setCursor: [(u) => onCursor(u.cursor.idx)]},
  };
}

/// True, and again on each change, where the browser prefers dark: colours are read when a chart is made.
export function useDark() {
  const query = useRef(matchMedia('(prefers-color-scheme: dark)')).current;
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const listen = () => setDark(query.matches);
    query.addEventListener('change', listen);
    return () => query.removeEventListener('change', listen);
  }, []);
  return dark;
}

/// data: uPlot's, [x, one array per curve]; of stacked curves the sums, greatest first. onHover: index of the moment under the pointer, or null.
export function Chart({title, curves, data, format, tick = format, height = 200, low, high, stacked, wide, legend = true, empty, onHover}) {
  const place = useRef(null);
  const plot = useRef(null);
  const [index, setIndex] = useState(null);
  const dark = useDark();
  const hasData = data[0].length > 0;

  useEffect(() => {
    if (!hasData) return undefined;
    const element = place.current;
    plot.current = new uPlot(options({curves, tick, low, high, stacked, wide}, element.clientWidth, height, setIndex), data, element);
    const observer = new ResizeObserver(() => plot.current?.setSize({width: element.clientWidth, height}));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current.destroy();
      plot.current = null;
    };
  }, [dark, hasData, height]);

  useEffect(() => {
    const u = plot.current;
    if (!u) return;
    // A stretch that was zoomed into stays; a double click shows all again.
    const [old] = u.data;
    const {min, max} = u.scales.x;  // not known before the first drawing
    const zoomed = typeof min === 'number' && typeof max === 'number' && (min > old[0] || max < old[old.length - 1]);
    u.setData(data, !zoomed);
    if (zoomed) u.redraw();
  }, [data]);

  const at = index !== null && index < data[0].length ? index : null;
  useEffect(() => onHover?.(at), [at, data]);
  const value = (i) => {
    const values = data[i + 1] ?? [];
    if (at !== null) return values[at];
    return values.findLast?.((x) => typeof x === 'number') ?? values.filter((x) => typeof x === 'number').pop();
  };
  return (
    <section class="panel chart">
      <header>
        <h2>{title}</h2>
        {legend && <p class="legend">
          {curves.map((curve, i) => <span key={curve.name}>
            <i class={curve.points ? 'dot' : 'dash'} style={{color: `var(${curve.color})`}} />{curve.name} <b>{format(value(i))}</b>
          </span>)}
          {at !== null && <span class="at">at {clock(data[0][at])}</span>}
        </p>}
      </header>
      <div class="plot" ref={place} style={{height: `${height}px`}}>{!hasData && <p class="empty">{empty ?? 'No data yet'}</p>}</div>
    </section>
  );
}

/// Test points among the training curve: alignment leaves no gaps in either.
export const join = (tables) => uPlot.join(tables.map((table) => (table[0].length ? table : [[], ...table.slice(1).map(() => [])])));
