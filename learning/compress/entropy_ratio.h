// SPDX-License-Identifier: Apache-2.0
// Ratio policy `entropy`: the entropy of a layer's magnitudes decides which share of it is sent.
//   h(i) = mean |x| over interval i of m;  P(i) = h(i) / sum h;  H = -sum P ln P (over P > 0);  Hn = H / ln m in [0, 1]
//   form=literal: ratio = least + (most - least) Hn^gamma         a layer whose information is spread out sends more
//   form=budget:  ratio in proportion to Hn^gamma, sum ratio n = R * sum n over all layers (R: the selector's ratio); see share_out()
// The patent's signed means could make P negative, so h is of absolute values. Intervals: by=blocks: m contiguous blocks of equal length,
// the last may be shorter (the patent's words); by=values: m bins of equal width between 0 and the largest magnitude, P(i) the share of the
// layer's entries in bin i (the other reading).
// Options: form (default literal), by (blocks), intervals in [0, 65536] (0, the default: min(256, max(8, ceil(n / 64)))), least and most in
// (0, 1] (1e-4, 1e-2; literal), gamma in [0, 16] (2), every (10): calls from one look to the next, average (10): calls that the exponential
// average of Hn covers. A layer of zeros says nothing, and a single interval has Hn = 0.
// Source: patent CN109409505A (steps 51 to 53; what follows them is this project's); EGC, HPCC 2019 (IEEE 8855357).
#pragma once

#include "learning/compress/ratio_policy.h"

namespace hourglass::compress {

/// Errors: bad_config for an unknown option, one out of range, or least > most.
Result<std::unique_ptr<RatioPolicy>> make_entropy_ratio(const SpecStage& stage, double ratio, std::span<const Shape> shapes);

struct Entropy {
  double nats = 0;
  std::size_t intervals = 0;  ///< that there are: at most as many as values
  bool known = false;         ///< false for zeros

  /// In [0, 1]; 0 where there is one interval.
  [[nodiscard]] double normalised() const;
};
/// `intervals` >= 1.
Entropy entropy_of_blocks(std::span<const float> values, std::size_t intervals);
Entropy entropy_of_values(std::span<const float> values, std::size_t intervals);

}  // namespace hourglass::compress
