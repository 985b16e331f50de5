// SPDX-License-Identifier: Apache-2.0
#include "learning/params/arithmetic.h"

#include <algorithm>

#include "base/check.h"
#include "learning/compress/kernels.h"

namespace hourglass::params {

bool all_finite(std::span<const float> values) { return compress::kernels().finite(values.data(), values.size()); }

void add(std::span<float> sum, std::span<const float> step) {
  HG_CHECK(sum.size() == step.size(), "a step covers what it is added to");
  (void)compress::kernels().add(sum.data(), step.data(), sum.data(), sum.size());
}

bool step_if_usable(Optimizer& optimizer, std::span<const float> parameters, std::span<float> gradient, double rate) {
  const bool usable = compress::kernels().largest_magnitude(gradient.data(), gradient.size()) <= kGradientMax;  // false for NaN
  if (usable) {
    optimizer.step(parameters, gradient, rate);
  } else {
    std::fill(gradient.begin(), gradient.end(), 0.0F);
  }
  return usable;
}

}  // namespace hourglass::params
