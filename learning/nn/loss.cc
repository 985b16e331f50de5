// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/loss.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hourglass::nn {

LossResult softmax_cross_entropy(std::span<const float> logits, std::span<const std::uint16_t> labels, std::size_t classes,
                                 std::span<float> gradient) {
  HG_CHECK(classes > 0 && logits.size() == labels.size() * classes, "logits must be labels x classes");
  HG_CHECK(gradient.empty() || gradient.size() == logits.size(), "the gradient must be as large as the logits");
  LossResult result;
  const double share = labels.empty() ? 0.0 : 1.0 / static_cast<double>(labels.size());
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const std::span<const float> z = logits.subspan(row * classes, classes);
    const std::size_t label = labels[row];
    HG_CHECK(label < classes, "a label must be smaller than the number of classes");
    if (!std::all_of(z.begin(), z.end(), [](float logit) { return std::isfinite(logit); })) {
      result.loss_sum += kLossMax;
      if (!gradient.empty()) std::fill_n(gradient.begin() + static_cast<std::ptrdiff_t>(row * classes), classes, 0.0F);
      continue;
    }
    const auto largest = std::max_element(z.begin(), z.end());  // subtracted: exp() cannot overflow, and one term is 1
    const bool wanted = !gradient.empty();
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const double term = std::exp(static_cast<double>(z[c]) - *largest);
      sum += term;
      if (wanted) gradient[row * classes + c] = static_cast<float>(term);
    }
    const double label_term = static_cast<double>(z[label]) - *largest;
    result.loss_sum += std::min(std::log(sum) - label_term, kLossMax);
    if (static_cast<std::size_t>(largest - z.begin()) == label) ++result.hits;
    if (!wanted) continue;
    const std::span<float> out = gradient.subspan(row * classes, classes);
    for (float& each : out) each = static_cast<float>(each / sum * share);
    out[label] = static_cast<float>((std::exp(label_term) / sum - 1.0) * share);
  }
  return result;
}

}  // namespace hourglass::nn
