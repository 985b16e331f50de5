// SPDX-License-Identifier: Apache-2.0
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import uPlot from 'uplot';
import {save, toCsv} from './curves.js';
import {bytes, clock, compact} from './format.js';

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 604800];
const xFormat = {time: clock, step: compact, samples: compact, bytes};
const rowsMax = 200;  // of the table that stands for a chart

function axis(values, size) {
  return {stroke: css('--muted'), font: `11px ${css('--font')}`, grid: {stroke: css('--grid'), width: 1}, ticks: {show: false}, gap: 6, size, values};
}

function series(curve, stacked) {
  return {
    stroke: css(stacked ? '--panel' : curve.color),  // what lies on each other is told apart by more than colour
    alpha: curve.faint ? 0.3 : 1,
    width: stacked ? 1 : curve.points || curve.faint ? 1.25 : 1.75,
    dash: curve.dash,
    fill: stacked ? css(curve.color) : curve.filled ? `${css(curve.color)}1c` : undefined,
    points: {show: curve.points ? true : undefined, size: 7, width: 1.5, fill: css(curve.color), stroke: css('--panel')},
  };
}

function options({curves, tick, low, high, stacked, wide, log, view}, width, height, onCursor) {
  // Only the pointer is shared: a stretch that is dragged over goes through the view to all charts.
  const shared = new Set(['mousemove', 'mouseleave']);
  return {
    width,
    height,
    padding: [8, 10, 0, 0],
    legend: {show: false},
    cursor: {
      sync: {key: 'hourglass', filters: {pub: (type) => shared.has(type)}},
      y: false,
      points: {show: !stacked, size: 7, width: 2, fill: css('--panel'), stroke: (u, i) => css(curves[i - 1].color)},
      drag: {x: true, y: false, setScale: false},
      bind: {
        dblclick: () => () => view.zoomTo(null),
        mousedown: (u, target, start) => (event) => (event.shiftKey ? pan(u, event, view) : start(event)),
      },
    },
    scales: {
      x: {time: false},
      y: log ? {distr: 3} : {
        range: (u, least, greatest) => {
          if (least === null || greatest === null) return [0, high ?? 1];
          const pad = (greatest - least) * 0.08 || Math.abs(greatest) * 0.1 || 1;
          return [low ?? Math.max(0, least - pad), high ?? greatest + pad];
        },
      },
    },
    axes: [
      {...axis((u, splits) => splits.map(xFormat[view.x]), 26), incrs: view.x === 'time' ? seconds : undefined, space: 64},
      {...axis((u, splits) => splits.map((x) => (x === null ? '' : tick(x))), wide ? 66 : 48), space: 34},
    ],
    series: [{}, ...curves.map((curve) => series(curve, stacked))],
    hooks: {
      setCursor: [(u) => onCursor(u.cursor.idx)],
      setSelect: [(u) => {
        if (u.select.width < 4) return;
        const range = [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')];
        u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
        view.zoomTo(range);
      }],
    },
  };
}

function pan(u, event, view) {
  event.preventDefault();
  const from = event.clientX, {min, max} = u.scales.x, perPixel = (max - min) / u.over.clientWidth;
  const move = (e) => view.zoomTo([min - (e.clientX - from) * perPixel, max - (e.clientX - from) * perPixel]);
  const end = () => {
    removeEventListener('mousemove', move);
    removeEventListener('mouseup', end);
  };
  addEventListener('mousemove', move);
  addEventListener('mouseup', end);
}

/// Arrows move the pointer, with Shift the stretch; + and - zoom, 0 shows all.
function onKey(u, event, view) {
  if (!u || event.ctrlKey || event.metaKey || event.altKey) return;
  const {min, max} = u.scales.x, width = max - min, middle = (min + max) / 2;
  const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
  if (step && event.shiftKey) {
    view.zoomTo([min + 0.2 * step * width, max + 0.2 * step * width]);
  } else if (step) {
    const x = u.data[0];
    const index = Math.min(x.length - 1, Math.max(0, (u.cursor.idx ?? x.length) + step));
    u.setCursor({left: u.valToPos(x[index], 'x'), top: u.over.clientHeight / 2}, true, true);
  } else if (event.key === '+' || event.key === '=') {
    view.zoomTo([middle - width / 4, middle + width / 4]);
  } else if (event.key === '-') {
    view.zoomTo([middle - width, middle + width]);
  } else if (event.key === '0' || event.key === 'Escape') {
    view.zoomTo(null);
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

/// The plot with its title and legend, on one canvas.
function picture(u, title, curves) {
  const ratio = devicePixelRatio, {canvas} = u.ctx, head = 44 * ratio;
  const out = document.createElement('canvas');
  out.width = canvas.width;
  out.height = canvas.height + head;
  const ink = out.getContext('2d');
  ink.fillStyle = css('--panel');
  ink.fillRect(0, 0, out.width, out.height);
  ink.fillStyle = css('--ink');
  ink.font = `600 ${13 * ratio}px ${css('--font')}`;
  ink.fillText(title, 12 * ratio, 18 * ratio);
  ink.font = `${11 * ratio}px ${css('--font')}`;
  let left = 12 * ratio;
  for (const curve of curves) {
    ink.fillStyle = css(curve.color);
    ink.fillRect(left, 30 * ratio, 12 * ratio, 3 * ratio);
    ink.fillText(curve.name, left + 16 * ratio, 36 * ratio);
    left += 30 * ratio + ink.measureText(curve.name).width;
  }
  ink.drawImage(canvas, 0, head);
  return out;
}

function Export({title, name, curves, data, raw, plot, view}) {
  const columns = raw ?? data;
  const names = [view.x, ...(raw ? [...curves].reverse() : curves).map((curve) => curve.name)];
  return (
    <details class="menu">
      <summary aria-label={`Export: ${title}`} title="Export">↓</summary>
      <p>
        <button type="button" onClick={() => save(`${name}.csv`, 'text/csv', toCsv(names, columns))}>CSV</button>
        <button type="button" onClick={() => save(`${name}.json`, 'application/json', JSON.stringify(Object.fromEntries(names.map((key, i) => [key, columns[i]]))))}>JSON</button>
        <button type="button" onClick={() => picture(plot.current, title, curves).toBlob((blob) => save(`${name}.png`, 'image/png', blob))}>PNG</button>
      </p>
    </details>
  );
}

function Figures({title, curves, data, raw, format, view}) {
  const columns = raw ? raw.slice(1) : data.slice(1), shown = raw ? [...curves].reverse() : curves;
  const inside = data[0].map((x, i) => i).filter((i) => !view.range || (data[0][i] >= view.range[0] && data[0][i] <= view.range[1]));
  const stride = Math.max(1, Math.ceil(inside.length / rowsMax));
  const rows = inside.filter((_, i) => i % stride === 0 || i === inside.length - 1).reverse();
  return (
    <div class="scroll figures" tabindex="0" role="region" aria-label={`${title}, as a table`}>
      <table>
        <thead><tr><th scope="col">{view.x}</th>{shown.map((curve) => <th key={curve.name} scope="col" class="n">{curve.name}</th>)}</tr></thead>
        <tbody>{rows.map((i) => <tr key={i}><th scope="row">{xFormat[view.x](data[0][i])}</th>{columns.map((values, c) => <td key={c} class="n">{format(values[i])}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

const Sample = ({curve}) => (
  <svg width="22" height="8" aria-hidden="true"><line x1="0" x2="22" y1="4" y2="4" stroke={`var(${curve.color})`} stroke-width={curve.points ? 1.5 : 2.5} stroke-dasharray={curve.dash?.join(' ')} />
    {curve.points && <circle cx="11" cy="4" r="3.5" fill={`var(${curve.color})`} />}</svg>
);

/// data: uPlot's, [x, one array per curve]; of stacked curves the sums, greatest first, and `raw` the same unstacked, least first.
/// range: the stretch of x to show. onHover: index of the moment under the pointer, or null.
export function Chart({name, title, curves, data, raw, range, format, tick = format, height = 200, low, high, stacked, wide, log, legend = true, empty, onHover, view}) {
  const place = useRef(null);
  const plot = useRef(null);
  const [index, setIndex] = useState(null);
  const [asTable, setAsTable] = useState(false);
  const hasData = data[0].length > 0;
  const shape = curves.map((curve) => curve.name).join();
  // A stacked curve of nothing would lie on the one below it, and cost as much to draw as that.
  const blank = useMemo(() => curves.map((_, i) => stacked && !raw[curves.length - i].some((x) => x > 0)), [data, shape]);

  useEffect(() => {
    if (!hasData || asTable) return undefined;
    const element = place.current;
    plot.current = new uPlot(options({curves, tick, low, high, stacked, wide, log, view}, element.clientWidth, height, setIndex), data, element);
    const observer = new ResizeObserver(() => plot.current?.setSize({width: element.clientWidth, height}));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current.destroy();
      plot.current = null;
    };
  }, [view.dark, hasData, height, shape, log, view.x, asTable]);

  useEffect(() => {
    const u = plot.current;
    if (!u) return;
    u.batch(() => {
      u.setData(data, false);
      curves.forEach((curve, i) => {
        const show = stacked ? !blank[i] : !view.hidden(`${name}.${curve.name}`);
        if (u.series[i + 1].show !== show) u.setSeries(i + 1, {show});
      });
      if (range) u.setScale('x', {min: range[0], max: range[1]});
    });
  }, [data, range?.[0], range?.[1], view.off, view.dark, shape, log, view.x, asTable]);

  const at = index !== null && index < data[0].length && !asTable ? index : null;
  useEffect(() => onHover?.(at), [at, data]);
  const value = (i) => {
    const values = data[i + 1] ?? [];
    return at !== null ? values[at] : values.findLast?.((x) => typeof x === 'number') ?? values.filter((x) => typeof x === 'number').pop();
  };
  return (
    <section class="panel chart" data-chart={name}>
      <header>
        <h2>{title}</h2>
        {legend && <p class="legend">
          {curves.map((curve, i) => !curve.faint && <button type="button" key={curve.name} aria-pressed={!view.hidden(`${name}.${curve.name}`)} title="Show or hide"
            onClick={() => view.toggle(`${name}.${curve.name}`)}><Sample curve={curve} />{curve.name} <b>{format(value(i))}</b></button>)}
          {at !== null && <span class="at">at {xFormat[view.x](data[0][at])}</span>}
        </p>}
        {hasData && <p class="tools">
          <button type="button" aria-pressed={asTable} aria-label={`Table: ${title}`} title="As a table" onClick={() => setAsTable(!asTable)}>≡</button>
          {!asTable && <Export {...{title, name, curves, data, raw, plot, view}} />}
        </p>}
      </header>
      {asTable ? <Figures {...{title, curves, data, raw, format, view}} /> : (
        <div class="plot" ref={place} style={{height: `${height}px`}} role={hasData ? 'group' : undefined} tabindex={hasData ? 0 : undefined} aria-label={hasData ? `${title}: arrow keys read values, plus and minus zoom` : undefined}
          onKeyDown={(event) => onKey(plot.current, event, view)}>{!hasData && <p class="empty">{empty ?? 'No data yet'}</p>}</div>
      )}
    </section>
  );
}

/// Test points among the training curve: alignment leaves no gaps in either.
export const join = (tables) => uPlot.join(tables.map((table) => (table[0].length ? table : [[], ...table.slice(1).map(() => [])])));
