// SPDX-License-Identifier: Apache-2.0
import {fixed, percent, rate, unknown} from './format.js';

const steps = 7;
const digits = (x) => (x === null ? unknown : x === 0 ? '0' : x >= 1000 || x < 0.001 ? x.toExponential(1) : x.toPrecision(3));
const share = (x) => (x === null ? unknown : percent(x, x < 0.001 ? 3 : x < 0.1 ? 2 : 1));

/// log: shares of a column lie orders of magnitude apart.
const columns = [
  {id: 'density', name: 'Density', title: 'Entries of the layer that a push carries', value: (row) => row.density, show: share, log: true},
  {id: 'bits', name: 'Bits per parameter', title: 'Of a push, without headers', value: (row) => row.bits, show: digits, log: true},
  {id: 'ratio', name: 'Ratio', title: 'How many times fewer bytes than 32-bit values', value: (row) => (row.bits > 0 ? 32 / row.bits : null), show: (x) => (x === null ? unknown : `${rate(x)}×`), log: true},
  {id: 'residual', name: 'Residual norm', title: 'Of what compression holds back', value: (row) => row.residual, show: digits, log: true},
  {id: 'entropy', name: 'Entropy', title: 'Of the magnitudes before compression: 1 is spread out evenly', value: (row) => row.entropy, show: (x) => fixed(x, 3)},
];

/// A step of the colour scale for each value of a column; null where there is none.
export function heat(values, log) {
  const placed = values.map((x) => (x === null || !Number.isFinite(x) ? null : log ? Math.log(Math.max(x, 1e-12)) : x));
  const known = placed.filter((x) => x !== null);
  const least = Math.min(...known), most = Math.max(...known);
  return placed.map((x) => (x === null ? null : most - least < 1e-9 ? 0 : Math.min(steps - 1, Math.floor((steps * (x - least)) / (most - least)))));
}

/// A heat map that is a table: colour says what the figure says. Rows are the tensors that are compressed one by one.
export function Layers({state}) {
  const {layers, layers_left_out: left} = state;
  if (!layers?.length) return null;
  const shown = columns.filter((column) => layers.some((row) => column.value(row) !== null));
  const heats = shown.map((column) => heat(layers.map(column.value), column.log));
  const workers = Math.max(...layers.map((row) => row.workers));
  return (
    <section class="panel layers">
      <header><h2>Compression by layer</h2>
        <p class="legend"><span>mean over <b>{workers}</b> {workers === 1 ? 'worker' : 'workers'}{left > 0 && <>, <b>{left}</b> more {left === 1 ? 'layer' : 'layers'} not reported</>}</span>
          <span class="scale" aria-hidden="true">least {Array.from({length: steps}, (_, i) => <i key={i} class={`heat-${i}`} />)} most</span></p></header>
      <div class="scroll" tabindex="0" role="region" aria-label="Compression by layer">
        <table>
          <thead><tr><th scope="col">Layer</th>{shown.map((column) => <th key={column.id} scope="col" class="n" title={column.title}>{column.name}</th>)}</tr></thead>
          <tbody>
            {layers.map((row, i) => <tr key={row.name} data-layer={row.name}><th scope="row">{row.name}</th>
              {shown.map((column, c) => <td key={column.id} class={heats[c][i] === null ? '' : `heat-${heats[c][i]}`} data-cell={column.id}>{column.show(column.value(row))}</td>)}</tr>)}
          </tbody>
        </table>
      </div>
    </section>
  );
}
