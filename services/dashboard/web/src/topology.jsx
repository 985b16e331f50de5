// SPDX-License-Identifier: Apache-2.0
// The run as it is wired: data loader, CONV workers, FC workers, the aggregator below; who sends how much, and who is well.
import {useEffect, useRef, useState} from 'preact/hooks';
import {byRole, bytesRate, healthOf, rate, workerName} from './format.js';

const mark = {active: '✓', idle: '○', waits: '…', slow: '!', silent: '!', gone: '✕'};
const word = {active: 'at work', idle: 'idle', waits: 'waits', slow: 'straggler', silent: 'silent', gone: 'gone'};
const nodeHeight = 40, gap = 10, rowsMax = 10;

function useWidth() {
  const place = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(Math.floor(place.current.clientWidth)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}

/// A link is as wide as it is busy; its dashes run faster the busier it is.
function Link({from, to, bend, kind, bytes, most, down}) {
  const [x1, y1] = from, [x2, y2] = to;
  const share = most > 0 ? Math.sqrt((bytes ?? 0) / most) : 0;
  const path = down ? `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}` : `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  return <path class={`wire ${bytes > 0 ? 'busy' : ''}`} d={path} style={{stroke: `var(--${kind})`, strokeWidth: 1 + 3.5 * share, animationDuration: `${(2.4 - 1.8 * share).toFixed(1)}s`}} />;
}

function Node({x, y, width, row, name, note, health}) {
  return (
    <g class={`node ${health}`} transform={`translate(${x},${y})`} data-node={row?.id}>
      <title>{`${name}: ${word[health]}${row?.host ? `, ${row.host}` : ''}${row?.waits?.text ? `, waits for ${row.waits.text}` : ''}`}</title>
      <rect width={width} height={nodeHeight} rx="9" />
      <circle cx="18" cy={nodeHeight / 2} r="8" />
      <text class="mark" x="18" y={nodeHeight / 2 + 4}>{mark[health]}</text>
      <text class="name" x="34" y="17">{name}</text>
      <text class="note" x="34" y="31">{note}</text>
    </g>
  );
}

const Label = ({x, y, kind, text, rate: bytes, anchor = 'middle'}) => (
  <text class="wire-label" x={x} y={y} text-anchor={anchor}><tspan style={{fill: `var(--${kind}-text, var(--muted))`}}>{text}</tspan> <tspan class="value">{bytesRate(bytes)}</tspan></text>
);

/// At most rowsMax nodes of a column: those that are not well come first, and the rest is a number.
function chosen(rows, alerts) {
  if (rows.length <= rowsMax) return {shown: rows, more: 0};
  const unwell = (row) => (healthOf(row, alerts) === 'active' ? 1 : 0);
  const shown = [...rows].sort((a, b) => unwell(a) - unwell(b) || byRole(a, b)).slice(0, rowsMax - 1).sort(byRole);
  return {shown, more: rows.length - shown.length};
}

function Drawing({state, width}) {
  const {workers, alerts, traffic} = state;
  const of = (role) => workers.filter((row) => row.role === role).sort(byRole);
  const flows = Object.fromEntries(traffic.map((row) => [row.kind, row.socket_bytes_per_second]));
  const conv = chosen(of('conv-worker'), alerts), fc = chosen(of('fc-worker'), alerts), loaders = of('data-loader'), trees = of('tree-node');
  const aggregator = of('aggregator')[0];
  const narrow = width < 620;
  const health = (row) => healthOf(row, alerts);
  const note = (row) => (row.waits ? `waits ${Math.round(row.waits.seconds)} s` : row.presence === 'gone' ? 'gone' : row.last_seen_seconds > 3 ? `silent ${Math.round(row.last_seen_seconds)} s`
    : row.samples_per_second !== null ? `${rate(row.samples_per_second)} samples/s` : row.presence);
  const most = Math.max(1, ...workers.flatMap((row) => Object.values(row.sends)));
  const nodes = [], wires = [], labels = [];
  const w = narrow ? Math.min(150, (width - gap) / 2) : Math.min(168, width * 0.19);
  const place = (rows, x, y, across = 1) => rows.map((row, i) => {
    const at = {row, x: x + (i % across) * (w + gap), y: y + Math.floor(i / across) * (nodeHeight + gap)};
    nodes.push(<Node key={row.id} x={at.x} y={at.y} width={w} row={row} name={workerName(row, workers)} note={note(row)} health={health(row)} />);
    return at;
  });
  const extra = (more, x, y) => more > 0 && labels.push(<text key={`more${x}`} class="wire-label" x={x + w / 2} y={y + 16} text-anchor="middle">and {more} more, all at work</text>);
  let height;
  if (narrow) {
    // From top to bottom: the hourglass as it stands.
    const across = Math.max(1, Math.floor((width + gap) / (w + gap))), rowsOf = (n) => Math.ceil(n / across);
    const middle = (n) => (width - Math.min(n, across) * (w + gap) + gap) / 2;
    const band = 54;
    let y = 0;
    const step = (list, more) => {
      const placed = place(list, middle(list.length), y, across);
      y += rowsOf(Math.max(1, list.length)) * (nodeHeight + gap) - gap;
      if (more > 0) {
        extra(more, (width - w) / 2, y);
        y += 22;
      }
      return placed;
    };
    const between = (top, bottom, kind, bytes) => wires.push(<Link key={kind} from={[width / 2, top]} to={[width / 2, bottom]} bend={20} kind={kind} bytes={bytes} most={most} down />);
    const say = (kind, text, row, back) => labels.push(<Label key={kind} x={width / 2 + (back ? -12 : 12)} anchor={back ? 'end' : 'start'} y={row + band / 2 + 4} kind={kind} text={text} rate={flows[kind]} />);
    step(loaders, 0);
    between(y, y + band, 'batch', flows.batch);
    say('batch', 'batches ↓', y);
    y += band;
    step(conv.shown, conv.more);
    if (fc.shown.length > 0) {
      between(y, y + band, 'activations', flows.activations);
      say('activations', 'activations ↓', y);
      say('activation_gradients', 'gradients ↑', y, true);
      y += band;
      step(fc.shown, fc.more);
    }
    between(y, y + band, 'push_conv', flows.push_conv);
    say('push_conv', 'pushes ↓', y);
    say('update_conv', 'updates ↑', y, true);
    y += band;
    if (aggregator) step([aggregator], 0);
    height = y;
  } else {
    const columns = [loaders.length, conv.shown.length, fc.shown.length];
    const tall = (n) => Math.max(1, n) * (nodeHeight + gap) - gap;
    const body = Math.max(...columns.map(tall)), head = 26;
    const x = fc.shown.length > 0 ? [0, (width - w) / 2, width - w] : [width * 0.1, width * 0.9 - w];
    const top = (n) => head + (body - tall(n)) / 2;
    const L = place(loaders, x[0], top(loaders.length)), C = place(conv.shown, x[1], top(conv.shown.length));
    const F = fc.shown.length > 0 ? place(fc.shown, x[2], top(fc.shown.length)) : [];
    const bottom = head + body + (conv.more > 0 ? 24 : 0);
    extra(conv.more, x[1], top(conv.shown.length) + tall(conv.shown.length));
    const mid = (at) => at.y + nodeHeight / 2, bend = (x[1] - x[0] - w) / 2;
    const here = (at) => at.row.presence !== 'gone';
    for (const l of L) for (const c of C.filter(here)) wires.push(<Link key={`b${l.row.id}${c.row.id}`} from={[l.x + w, mid(l)]} to={[c.x, mid(c)]} bend={bend} kind="batch" bytes={(flows.batch ?? 0) / (C.length || 1)} most={most} />);
    for (const c of C.filter(here)) {
      for (const f of F.filter(here)) {
        wires.push(<Link key={`a${c.row.id}${f.row.id}`} from={[c.x + w, mid(c) - 3]} to={[f.x, mid(f) - 3]} bend={bend} kind="activations" bytes={(c.row.sends.activations ?? 0) / F.length} most={most} />);
        wires.push(<Link key={`g${c.row.id}${f.row.id}`} from={[f.x, mid(f) + 4]} to={[c.x + w, mid(c) + 4]} bend={-bend} kind="activation_gradients" bytes={(f.row.sends.activation_gradients ?? 0) / (C.length || 1)} most={most} />);
      }
    }
    const gapMiddle = (i) => (x[i] + w + x[i + 1]) / 2;
    labels.push(<Label key="batch" x={gapMiddle(0)} y={14} kind="batch" text="batches →" rate={flows.batch} />);
    if (F.length > 0) {
      labels.push(<Label key="act" x={gapMiddle(1)} y={14} kind="activations" text="activations →" rate={flows.activations} />);
      labels.push(<Label key="grad" x={gapMiddle(1)} y={head + body - 2} kind="activation_gradients" text="← gradients" rate={flows.activation_gradients} />);
    }
    const below = bottom + 58 + (trees.length > 0 ? 24 : 0), center = x[1] + w / 2;
    wires.push(<Link key="push" from={[center - 14, bottom]} to={[center - 14, below]} bend={20} kind="push_conv" bytes={flows.push_conv} most={most} down />);
    wires.push(<Link key="update" from={[center + 14, below]} to={[center + 14, bottom]} bend={-20} kind="update_conv" bytes={flows.update_conv} most={most} down />);
    labels.push(<Label key="pushes" x={center - 26} y={bottom + 33} anchor="end" kind="push_conv" text="pushes ↓" rate={flows.push_conv} />);
    labels.push(<Label key="updates" x={center + 26} y={bottom + 33} anchor="start" kind="update_conv" text="↑ updates" rate={flows.update_conv} />);
    if (trees.length > 0) labels.push(<text key="trees" class="wire-label" x={center} y={bottom + 56} text-anchor="middle">through {trees.length} tree {trees.length === 1 ? 'node' : 'nodes'}</text>);
    if (F.length > 0 && (flows.push_fc > 0 || flows.snapshot > 0)) {
      const kind = flows.push_fc > 0 ? 'push_fc' : 'snapshot';
      const fx = x[2] + w / 2;
      wires.push(<path key="fc" class={`wire ${flows[kind] > 0 ? 'busy' : ''}`} style={{stroke: `var(--${kind})`, strokeWidth: 1.5}} d={`M${fx},${top(fc.shown.length) + tall(fc.shown.length)} C${fx},${below + nodeHeight / 2} ${fx},${below + nodeHeight / 2} ${x[1] + w},${below + nodeHeight / 2}`} />);
      labels.push(<Label key="fcp" x={fx - 30} y={below + nodeHeight / 2 + 16} kind={kind} text={kind === 'push_fc' ? '← pushes' : '← state'} rate={flows[kind]} />);
    }
    if (aggregator) place([aggregator], x[1], below);
    height = below + nodeHeight;
  }
  const unwell = workers.filter((row) => !['active', 'idle'].includes(health(row)));
  const summary = `${conv.shown.length + conv.more} CONV workers, ${fc.shown.length + fc.more} FC workers. ${unwell.length === 0 ? 'All are well.' : unwell.map((row) => `${workerName(row, workers)}: ${word[health(row)]}`).join('; ')}`;
  return <svg class="hourglass" role="img" aria-label={summary} width={width} height={height + 2} viewBox={`-1 -1 ${width + 2} ${height + 2}`}>{wires}{nodes}{labels}</svg>;
}

export function Topology({state}) {
  const [place, width] = useWidth();
  return (
    <section class="panel topology">
      <header><h2>Hourglass</h2><p class="legend"><span>✓ at work</span><span>… waits</span><span>! silent or slow</span><span>✕ gone</span></p></header>
      <div ref={place}>{width > 0 && <Drawing state={state} width={width} />}</div>
    </section>
  );
}
