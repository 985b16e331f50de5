// SPDX-License-Identifier: Apache-2.0
import {bytes, bytesRate, clock, kindName, percent, rate, unknown} from './format.js';

export const kinds = ['activations', 'activation_gradients', 'push_conv', 'push_fc', 'update_conv', 'update_fc', 'batch', 'snapshot', 'metrics', 'control', 'evaluation'];
const directions = {
  batch: 'data loader → CONV', activations: 'CONV → FC', activation_gradients: 'FC → CONV', push_conv: 'CONV → aggregator', push_fc: 'FC → aggregator',
  update_conv: 'aggregator → CONV', update_fc: 'aggregator → FC', snapshot: 'whole parameters, to those who join', metrics: 'all → monitor',
  control: 'membership, leases, verdicts', evaluation: 'the test set',
};

/// How many times fewer bytes than 32-bit values would take, and how many bits are left of each.
function Ratio({row}) {
  if (!row.raw_bytes || !row.payload_bytes) return unknown;
  const ratio = row.raw_bytes / row.payload_bytes;
  return <>{rate(ratio)}×<small>{(32 / ratio).toFixed(2)} bit</small></>;
}

export function TrafficTable({state, at, view}) {
  const rows = state.traffic;
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const most = sum('socket_bytes') || 1;
  const raw = rows.some((row) => row.raw_bytes);
  return (
    <table class="traffic">
      <thead><tr><th scope="col">Kind of message</th><th scope="col">{at ? `At ${clock(at.time)}` : 'Now'}</th>{raw && <th scope="col" class="raw" title="The same as 32-bit values">Raw</th>}
        <th scope="col" class="payload">Sent</th>{raw && <th scope="col" class="ratio" title="Raw against sent, and bits per value">Ratio</th>}<th scope="col" class="socket" title="With headers and framing">Socket</th><th scope="col" class="share">Share</th></tr></thead>
      <tbody>
        {rows.map((row) => <tr key={row.kind} class={row.socket_bytes === 0 ? 'none' : ''}>
          <th scope="row"><button type="button" aria-pressed={!view.hidden(`bytes.${row.kind}`)} title="Show or hide in the chart" onClick={() => view.toggle(`bytes.${row.kind}`)}>
            <i class="swatch" style={{background: `var(--${row.kind})`}} />{kindName(row.kind)}</button><small>{directions[row.kind]}</small></th>
          <td>{bytesRate(at ? at.rates[row.kind] : row.socket_bytes_per_second)}</td>
          {raw && <td class="raw">{row.raw_bytes ? bytes(row.raw_bytes) : unknown}</td>}
          <td class="payload" data-field={`traffic.${row.kind}.payload`}>{bytes(row.payload_bytes)}</td>
          {raw && <td class="ratio" data-field={`traffic.${row.kind}.ratio`}><Ratio row={row} /></td>}
          <td class="socket" data-field={`traffic.${row.kind}.socket`}>{bytes(row.socket_bytes)}</td>
          <td class="share">{percent(row.socket_bytes / most, 0)}</td>
        </tr>)}
      </tbody>
      <tfoot><tr><th scope="row">Total</th><td>{bytesRate(at ? Object.values(at.rates).reduce((x, y) => x + (y ?? 0), 0) : state.bytes_per_second)}</td>{raw && <td class="raw" />}
        <td class="payload">{bytes(sum('payload_bytes'))}</td>{raw && <td class="ratio" />}<td class="socket">{bytes(sum('socket_bytes'))}</td><td class="share" /></tr></tfoot>
    </table>
  );
}
