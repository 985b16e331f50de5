// SPDX-License-Identifier: Apache-2.0
// Throws where a text is no valid Chrome trace, as its format is described: finite times, no overlap in a lane, flows that begin before they end, each in a span.
import {strict as assert} from 'node:assert';

export function checkTrace(text) {
  const lanes = new Map(), begun = new Map(), named = new Set(), kinds = new Set();
  let spans = 0, flows = 0;
  const lane = (event) => `${event.pid}/${event.tid}`;
  const covered = (event) => assert.ok((lanes.get(lane(event)) ?? []).some(([begin, end]) => begin <= event.ts && event.ts <= end), 'a flow outside of all spans');
  for (const event of JSON.parse(text).traceEvents) {
    if (event.ph === 'M') {
      if (event.name === 'process_name') named.add(event.pid);
      continue;
    }
    assert.ok(Number.isFinite(event.ts) && event.ts >= 0, `time ${event.ts}`);
    assert.ok(named.has(event.pid), `process ${event.pid} has no name`);
    if (event.ph === 'X') {
      assert.ok(Number.isFinite(event.dur) && event.dur >= 0, `duration ${event.dur}`);
      if (!lanes.has(lane(event))) lanes.set(lane(event), []);
      lanes.get(lane(event)).push([event.ts, event.ts + event.dur]);
      kinds.add(event.name);
      ++spans;
    } else if (event.ph === 's') {
      assert.ok(!begun.has(event.id), 'two flows of one id');
      covered(event);
      begun.set(event.id, event.ts);
    } else {
      assert.equal(event.ph, 'f');
      assert.ok(begun.get(event.id) <= event.ts, 'a flow ends that never began, or before it began');
      covered(event);
      ++flows;
    }
  }
  for (const [name, list] of lanes) {
    list.sort(([a, b], [c, d]) => a - c || b - d);
    list.forEach(([begin], i) => assert.ok(i === 0 || list[i - 1][1] <= begin, `spans of lane ${name} overlap`));
  }
  assert.equal(flows, begun.size, 'a flow without an end');
  return {spans, flows, kinds, processes: named.size};
}
