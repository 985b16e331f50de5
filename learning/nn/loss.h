// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace hourglass::nn {

/// What a sample counts whose logits are not finite: a diverged model shows, and sums stay finite.
inline constexpr double kLossMax = 1e6;

struct LossResult {
  double loss_sum = 0;     ///< over samples, natural log
  std::uint32_t hits = 0;  ///< samples whose largest logit is the label (first one on ties)
};

/// Softmax cross-entropy over `labels.size()` rows of `classes` logits. Where `gradient` is not empty it receives the gradient of the MEAN
/// loss: (softmax - onehot) / rows, and 0 for rows whose logits are not finite. Labels must be < classes.
LossResult softmax_cross_entropy(std::span<const float> logits, std::span<const std::uint16_t> labels, std::size_t classes,
                                 std::span<float> gradient);

}  // namespace hourglass::nn
