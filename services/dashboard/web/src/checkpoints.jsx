// SPDX-License-Identifier: Apache-2.0
import {age, bytes, clock, percent, unknown, whole} from './format.js';

/// What the run folder can be resumed from. Hidden where the monitor knows no folder.
export function Checkpoints({files, state}) {
  if (!files?.available) return null;
  const {checkpoints: rows, total} = files;
  return (
    <section class="panel checkpoints">
      <header><h2>Checkpoints</h2>
        {total > 0 && <p class="legend"><span>{rows.length < total ? <>the newest <b>{rows.length}</b> of </> : null}<b data-field="checkpoints.total">{total}</b> on disk</span></p>}</header>
      {rows.length === 0 ? <p class="empty">None yet</p> : (
        <div class="scroll" tabindex="0" role="region" aria-label="Checkpoints">
          <table>
            <thead><tr><th scope="col">File</th><th scope="col" class="n">Size</th><th scope="col" class="n">Age</th><th scope="col" class="n">At</th><th scope="col" class="n">Samples</th>
              <th scope="col" class="n">Step</th><th scope="col" class="n">Accuracy</th></tr></thead>
            <tbody>
              {rows.map((row) => <tr key={row.name} data-checkpoint={row.name}>
                <th scope="row"><a href={`/api/v1/checkpoints/${row.name}`} download={row.name}>{row.name}</a>{!row.readable && <small class="broken">cannot be read</small>}</th>
                <td class="n" title={`${whole(row.bytes)} bytes`} data-cell="bytes">{bytes(row.bytes)}</td>
                <td class="n" title={new Date(row.modified_ms).toLocaleString('en-GB')}>{age((state.time_ms - row.modified_ms) / 1000)}</td>
                <td class="n">{row.readable ? clock(row.seconds) : unknown}</td>
                <td class="n" data-cell="samples">{row.readable ? <>{whole(row.samples)}{row.samples_total > 0 && <small>{percent(row.samples / row.samples_total, 0)}</small>}</> : unknown}</td>
                <td class="n">{row.readable ? whole(row.version) : unknown}</td>
                <td class="n">{percent(row.accuracy, 2)}</td>
              </tr>)}
            </tbody>
          </table>
        </div>)}
    </section>
  );
}
