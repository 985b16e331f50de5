// SPDX-License-Identifier: Apache-2.0
// What each process did in the last seconds: a strip a process, with the same as a table. Hidden where nobody reports spans.
import {useEffect, useRef, useState} from 'preact/hooks';
import {byRole, percent, unknown, whole, workerName} from './format.js';

const pollMs = 2000;
const laneHeight = 16;
/// Colour and pattern: one tells them apart without the other.
const looks = {
  load: ['--batch', 'dots'], forward: ['--activations', ''], backward: ['--push_conv', ''], encode: ['--snapshot', 'back'],
  step: ['--update_conv', ''], apply: ['--update_fc', 'across'], evaluate: ['--evaluation', 'dots'], wait: ['--track', 'slash'],
};

function draw(ink, pattern, s) {
  ink.beginPath();
  if (pattern === 'slash') for (let i = -s; i <= 2 * s; i += s / 2) { ink.moveTo(i, s); ink.lineTo(i + s, 0); }
  if (pattern === 'back') for (let i = -s; i <= 2 * s; i += s / 2) { ink.moveTo(i, 0); ink.lineTo(i + s, s); }
  if (pattern === 'across') for (let i = s / 4; i < s; i += s / 2) { ink.moveTo(0, i); ink.lineTo(s, i); }
  ink.stroke();
  if (pattern === 'dots') for (const [x, y] of [[s / 4, s / 4], [(3 * s) / 4, (3 * s) / 4]]) ink.fillRect(x - s / 12, y - s / 12, s / 6, s / 6);
}

/// One tile of each kind, for strips and legend.
function tiles(ratio) {
  const css = getComputedStyle(document.documentElement);
  return Object.fromEntries(Object.entries(looks).map(([kind, [color, pattern]]) => {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 12 * ratio;
    const ink = tile.getContext('2d');
    ink.fillStyle = css.getPropertyValue(color).trim();
    ink.fillRect(0, 0, tile.width, tile.height);
    ink.fillStyle = ink.strokeStyle = css.getPropertyValue(kind === 'wait' ? '--muted' : '--panel').trim();
    ink.lineWidth = ratio;
    draw(ink, pattern, tile.width);
    return [kind, tile];
  }));
}

function Key({kind, dark}) {
  const place = useRef(null);
  useEffect(() => place.current.getContext('2d').drawImage(tiles(1)[kind], 0, 0), [kind, dark]);
  return <span><canvas ref={place} width="12" height="12" aria-hidden="true" /> {kind}</span>;
}

const nameOf = (row, rows) => workerName(row, rows);
const ms = (x) => (x < 10 ? x.toFixed(2) : whole(x));
const text = (span, kinds) => `${kinds[span[0]]}, ${ms(span[3])} ms, began ${(-span[2] / 1000).toFixed(3)} s ago`;

function Strip({row, rows, data, dark, onRead}) {
  const place = useRef(null), chosen = useRef(-1);
  const height = Math.max(1, row.lanes) * laneHeight;
  const label = nameOf(row, rows);
  const read = (i) => {
    chosen.current = Math.min(row.spans.length - 1, Math.max(0, i));
    if (row.spans.length) onRead(`${label}: ${text(row.spans[chosen.current], data.kinds)}`);
  };
  useEffect(() => {
    const canvas = place.current, ratio = devicePixelRatio;
    const paint = () => {
      const width = canvas.clientWidth;
      if (!width) return;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      const ink = canvas.getContext('2d');
      const fill = Object.fromEntries(Object.entries(tiles(ratio)).map(([kind, tile]) => [kind, ink.createPattern(tile, 'repeat')]));
      const scale = canvas.width / (1000 * data.seconds);
      for (const [kind, lane, begin, length] of row.spans) {
        const left = Math.max(0, canvas.width + begin * scale);
        ink.fillStyle = fill[data.kinds[kind]];
        ink.fillRect(left, (lane * laneHeight + 1) * ratio, Math.max(0.75, canvas.width + (begin + length) * scale - left), (laneHeight - 2) * ratio);
      }
    };
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(canvas);
    return () => observer.disconnect();
  }, [row, data, dark, height]);
  const hover = (event) => {
    const box = place.current.getBoundingClientRect();
    const at = ((event.clientX - box.right) / box.width) * 1000 * data.seconds, lane = Math.floor((event.clientY - box.top) / laneHeight);
    const found = row.spans.findIndex((span) => span[1] === lane && span[2] <= at && at <= span[2] + span[3]);
    if (found >= 0) read(found);
  };
  const onKey = (event) => {
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    read(chosen.current < 0 ? row.spans.length - 1 : chosen.current + step);
  };
  return (
    <div class="lane">
      <span class="who" title={row.host}>{label}</span>
      <canvas ref={place} style={{height: `${height}px`}} role="img" tabindex="0" data-strip={row.id} aria-label={`${label}, last ${data.seconds} seconds, ${row.spans.length} spans; arrow keys read them`}
        onKeyDown={onKey} onMouseMove={hover} />
    </div>
  );
}

/// Share of time that each kind takes, up to the newest span: what is younger is yet to be reported.
function Shares({rows, data}) {
  const newest = Math.max(...rows.flatMap((row) => row.spans.map((span) => span[2] + span[3])));
  const length = Math.max(1, 1000 * data.seconds + Math.min(0, newest));
  const sum = (row, kind) => row.spans.reduce((total, span) => total + (span[0] === kind ? Math.min(span[3], 1000 * data.seconds + span[2] + span[3]) : 0), 0);
  return (
    <div class="scroll" tabindex="0" role="region" aria-label="Timeline, as a table">
      <table>
        <thead><tr><th scope="col">Process</th>{data.kinds.map((kind) => <th key={kind} scope="col" class="n">{kind}</th>)}<th scope="col" class="n">Not kept</th></tr></thead>
        <tbody>{rows.map((row) => <tr key={row.id}><th scope="row">{nameOf(row, rows)}</th>
          {data.kinds.map((kind, i) => <td key={kind} class="n">{percent(sum(row, i) / length, 1)}</td>)}
          <td class="n">{row.dropped ? whole(row.dropped) : unknown}</td></tr>)}</tbody>
      </table>
    </div>
  );
}

export function Timeline({view}) {
  const [data, setData] = useState(null);
  const [seconds, setSeconds] = useState(10);
  const [asTable, setAsTable] = useState(false);
  const [reading, setReading] = useState('');
  useEffect(() => {
    if (view.paused) return undefined;
    let ended = false;
    const ask = async () => {
      if (document.hidden) return;
      try {
        const answer = await (await fetch(`/api/v1/timeline?seconds=${seconds}`)).json();
        if (!ended) setData(answer);
      } catch {
        // The banner says that the monitor is silent.
      }
    };
    ask();
    const timer = setInterval(ask, pollMs);
    return () => {
      ended = true;
      clearInterval(timer);
    };
  }, [seconds, view.paused]);
  if (!data?.rows.some((row) => row.spans.length)) return null;
  const rows = data.rows.filter((row) => row.spans.length).sort(byRole);
  const dropped = rows.some((row) => row.dropped > 0);
  return (
    <section class="panel timeline" aria-label="Timeline">
      <header><h2>Timeline</h2>
        <p class="legend">{data.kinds.map((kind) => <Key key={kind} kind={kind} dark={view.dark} />)}</p>
        <p class="tools">
          {[10, 30, 60].map((length) => <button type="button" key={length} aria-pressed={seconds === length} onClick={() => setSeconds(length)}>{length} s</button>)}
          <button type="button" aria-pressed={asTable} aria-label="Table: Timeline" title="As a table" onClick={() => setAsTable(!asTable)}>≡</button>
          <a href="/api/v1/trace" download="hourglass-trace.json" title="The last minute as a Chrome trace, for ui.perfetto.dev">Trace ↓</a>
        </p></header>
      {asTable ? <Shares rows={rows} data={data} /> : rows.map((row) => <Strip key={row.id} row={row} rows={rows} data={data} dark={view.dark} onRead={setReading} />)}
      {!asTable && <p class="ruler" aria-hidden="true"><span>{data.seconds} s ago</span><span>{data.seconds / 2} s</span><span>now</span></p>}
      <p class="reading" aria-live="polite">{reading || (asTable ? '' : 'Point at a strip, or press the arrow keys on it, to read its spans.')}</p>
      {dropped && <p class="note">Gaps: each process tells the newest spans of each second; earlier ones of a busy second are counted, not kept.</p>}
    </section>
  );
}
