// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/ranking.h"

#include <algorithm>
#include <cmath>

#include "learning/compress/topk.h"

namespace hourglass::compress {

Result<double> ratio_of(const SpecStage& stage, double fallback) { return stage.number("ratio", fallback, 1e-9, 1.0); }

std::size_t budget_of(double ratio, std::size_t length) {
  // The factor forgives the last bit of ratio * length: 7 % of 100 is 7, not 8.
  const double wanted = std::ceil(ratio * static_cast<double>(length) * (1 - 1e-12));
  return std::min(length, std::max<std::size_t>(1, static_cast<std::size_t>(wanted)));
}

Ranking::Ranking() : topk_(make_topk({.name = "topk", .words = {}, .options = {}}, {}).value()) {}

void Ranking::choose(std::span<const float> scores, std::size_t k, Entries& best) {
  best.indices.clear();
  best.values.clear();
  if (k == 0) return;
  topk_->set_ratio(static_cast<double>(k) / static_cast<double>(scores.size()));
  topk_->select(scores, 0, best);
}

void gather(std::span<const float> values, Entries& chosen) {
  chosen.values.resize(chosen.indices.size());
  for (std::size_t i = 0; i < chosen.indices.size(); ++i) chosen.values[i] = values[chosen.indices[i]];
}

}  // namespace hourglass::compress
