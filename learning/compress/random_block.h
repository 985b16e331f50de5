// SPDX-License-Identifier: Apache-2.0
// Selector `random_block ratio=R seed=S`: one contiguous block. The range is cut into m = ceil(n / k) blocks of nearly equal length, at
// most k = max(1, ceil(R n)); which of them is sent follows from (seed, step, m) alone, so all workers that are at one step send the same.
// At each step every block is equally likely; within a round of m steps (m consecutive steps from a multiple of m on) each comes once, in
// an order that the round draws: after 2m - 1 consecutive steps every entry was sent. Entries that are exactly 0 are not sent.
//   ratio  (0, 1], default 0.01        seed  [0, 2^53], default 0
// Nothing is compared: one read of k values. Its indices cost about one bit each as a bitmap of gaps (rice).
// Source: Foroutan & Jaggi 2020, arXiv 2009.09271 (there: independent draws); rounds bound how long an entry can wait.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options outside their ranges or unknown.
Result<std::unique_ptr<Selector>> make_random_block(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
