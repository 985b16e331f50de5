// SPDX-License-Identifier: Apache-2.0
// What selectors share that rank entries by more than their magnitudes.
#pragma once

#include <cfloat>
#include <memory>
#include <span>
#include <vector>

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Option `ratio` in (0, 1]. Errors: bad_config.
Result<double> ratio_of(const SpecStage& stage, double fallback);
/// max(1, ceil(ratio length)); 0 for an empty range.
std::size_t budget_of(double ratio, std::size_t length);

/// Picks the largest of a vector of scores by topk, so with its order (descending, then by index) and at its speed. One for each purpose:
/// it guesses from the last call.
class Ranking {
 public:
  Ranking();
  /// `best`: indices ascending and scores of the min(k, non-zeros) largest magnitudes. k <= scores.size(); 0 gives none.
  void choose(std::span<const float> scores, std::size_t k, Entries& best);

 private:
  std::unique_ptr<Selector> topk_;
};

/// Takes `chosen`'s values from the range.
void gather(std::span<const float> values, Entries& chosen);

/// A finite score that is 0 exactly where the value is.
inline float score_for(float value, double score) {
  if (value == 0) return 0;
  if (!(score > FLT_TRUE_MIN)) return FLT_TRUE_MIN;
  return score < FLT_MAX ? static_cast<float>(score) : FLT_MAX;
}

}  // namespace hourglass::compress
