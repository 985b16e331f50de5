// SPDX-License-Identifier: Apache-2.0
import {fixed, percent, whole} from './format.js';

export function LedgerPanel({ledger}) {
  const reasons = Object.entries(ledger.rejected);
  const rejected = reasons.reduce((sum, [, count]) => sum + count, 0);
  return (
    <section class="panel ledger">
      <header><h2>Gradient ledger</h2>
        <p class={`verdict ${ledger.balanced ? 'good' : 'bad'}`} data-field="ledger.balanced">{ledger.balanced ? 'Balanced' : 'Does not add up'}</p></header>
      <p class="sum">
        <span><b data-field="ledger.received">{whole(ledger.received)}</b><small>received</small></span><i>=</i>
        <span><b data-field="ledger.applied">{whole(ledger.applied)}</b><small>applied</small></span><i>+</i>
        <span><b data-field="ledger.rejected">{whole(rejected)}</b><small>rejected</small></span>
        {ledger.rolled_back > 0 && <><i>+</i><span><b data-field="ledger.rolled_back">{whole(ledger.rolled_back)}</b><small>rolled back</small></span></>}
      </p>
      <dl class="reasons">
        {reasons.map(([reason, count]) => <div key={reason} class={count ? '' : 'none'}><dt>rejected: {reason}</dt><dd>{whole(count)}</dd></div>)}
        <div class={ledger.duplicates ? '' : 'none'}><dt>repeats, not counted</dt><dd>{whole(ledger.duplicates)}</dd></div>
      </dl>
    </section>
  );
}

/// 0, 1, 2-3, 4-7, ...
const bucket = (i) => (i < 2 ? `${i}` : `${2 ** (i - 1)}–${2 ** i - 1}`);
const bucketOf = (versions) => (versions < 1 ? 0 : Math.floor(Math.log2(versions)) + 1);

/// A bound in clocks as versions: while a push is on its way, each other worker makes at most 2 s + 1.
function boundInVersions({bound}, workers) {
  const others = workers.filter((row) => row.role === 'conv-worker' && row.presence === 'active').length - 1;
  return bound === 'unlimited' || others < 1 ? null : (2 * bound + 1) * others;
}

function Histogram({group, limit}) {
  const counts = group.staleness_counts, total = counts.reduce((x, y) => x + y, 0);
  const most = Math.max(...counts);
  const rows = Math.max(counts.length, limit === null ? 0 : bucketOf(limit) + 1);
  return (
    <table class="histogram">
      <thead><tr><th scope="col">Versions behind</th><th scope="col">Applied pushes of {group.name}</th><th scope="col" class="n">Share</th></tr></thead>
      <tbody>{Array.from({length: rows}, (_, i) => <tr key={i} class={limit !== null && i === bucketOf(limit) ? 'bound' : ''}>
        <th scope="row">{bucket(i)}</th>
        <td><span class="bar"><i style={{width: `${(100 * (counts[i] ?? 0)) / most}%`}} /></span> <span class="count">{whole(counts[i] ?? 0)}</span>{limit !== null && i === bucketOf(limit) && <small>the bound allows about {limit}</small>}</td>
        <td class="n">{percent((counts[i] ?? 0) / total, 1)}</td></tr>)}</tbody>
    </table>
  );
}

export function StalenessPanel({state}) {
  const {staleness, groups, workers} = state;
  const limit = boundInVersions(staleness, workers);
  const counted = groups.filter((group) => group.staleness_counts.some((count) => count > 0));
  return (
    <section class="panel staleness">
      <header><h2>Staleness</h2><p class="legend"><span>bound <b>{staleness.bound === 'unlimited' ? 'unlimited' : `${staleness.bound} clocks`}</b></span></p></header>
      <p class="sum">
        <span><b data-field="staleness.mean">{fixed(staleness.mean, 2)}</b><small>mean, versions</small></span>
        <span><b data-field="staleness.max">{whole(staleness.max)}</b><small>greatest</small></span>
        {groups.map((group) => <span key={group.name}><b>{whole(group.version)}</b><small>version of {group.name}</small></span>)}
      </p>
      {counted.map((group) => <Histogram key={group.name} group={group} limit={group.name === 'conv' ? limit : null} />)}
      {counted.length === 0 && <p class="empty">No push applied yet</p>}
    </section>
  );
}
