// SPDX-License-Identifier: Apache-2.0
#include "learning/params/noise_meter.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hourglass::params {

void NoiseMeter::take(std::span<const float> gradient, std::uint32_t samples) {
  HG_CHECK(gradient.size() == sum_.size(), "a gradient covers its group");
  double square = 0;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    sum_[i] += gradient[i];
    square += double{gradient[i]} * double{gradient[i]};
  }
  squares_ += square;
  samples_ += samples;
  ++count_;
}

GradientNoise NoiseMeter::read() {
  GradientNoise out;
  const auto count = static_cast<double>(count_);
  if (count_ >= 2) {
    double square = 0;
    for (const float value : sum_) square += double{value} * double{value};
    out.norm_squared = square / (count * count);
    const double batch = static_cast<double>(samples_) / count;
    out.variance = batch * std::max(0.0, squares_ - count * out.norm_squared) / (count - 1);
    if (!std::isfinite(out.variance) || !std::isfinite(out.norm_squared)) out = {};
  }
  std::fill(sum_.begin(), sum_.end(), 0.0F);
  squares_ = 0;
  samples_ = count_ = 0;
  return out;
}

}  // namespace hourglass::params
