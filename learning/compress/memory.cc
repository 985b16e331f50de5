// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/memory.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "learning/compress/compressor.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {

bool Headroom::admits(std::span<const float> delta, std::span<const float> held, const Reach& reach) {
  const float largest = kernels().largest_magnitude(delta.data(), delta.size());
  if (!std::isfinite(largest)) return false;
  // Without that promise a decoded value may reach the norm of what was encoded, and more.
  if (!reach.keeps_range && bound_ + largest >= kReachMax) return false;
  if (bound_ + largest >= FLT_MAX) measure(held);
  if (bound_ + largest >= FLT_MAX) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (!std::isfinite(delta[i] + held[i])) return false;
    }
  }
  bound_ = (bound_ + largest) * (1 + 0x1p-22);  // the sums are rounded
  return true;
}

void Headroom::settle(std::span<const float> held, const Reach& reach) {
  if (reach.lossless) {
    clear();
  } else if (!reach.keeps_range) {
    measure(held);
  }
}

void Headroom::measure(std::span<const float> held) { bound_ = kernels().largest_magnitude(held.data(), held.size()); }

void mix(std::span<float> values, float keep, std::span<const float> added, float gain) {
  HG_CHECK(values.size() == added.size(), "mix() needs two ranges of one length");
  float* const to = values.data();
  const float* const from = added.data();
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) to[i] = keep * to[i] + gain * from[i];
}

Status add_back(std::span<const GradientBlock> blocks, float weight, std::vector<float>& values) {
  std::vector<float> restored = values;
  for (const GradientBlock& block : blocks) {
    if (Status added = accumulate(block, restored, weight); !added.ok()) return added;
  }
  if (!kernels().finite(restored.data(), restored.size())) return {Errc::bad_data, "what was taken back does not fit a float"};
  values = std::move(restored);
  return {};
}

void subtract(const GradientBlock& block, std::span<float> values) {
  const Status subtracted = accumulate(block, values, -1.0F);
  HG_CHECK(subtracted.ok(), "a block of our own must decode");
}

bool has_nonzero(std::span<const float> values) {
  return std::any_of(values.begin(), values.end(), [](float value) { return value != 0; });
}

}  // namespace hourglass::compress
