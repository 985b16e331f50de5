// SPDX-License-Identifier: Apache-2.0
// What a worker sees of its gradients' noise within one unit, for adaptive_batch.h. From the mean gradients g_1 .. g_n of batches of b
// samples: the variance of one sample's gradient is estimated as b / (n - 1) sum ||g_j - g||^2, where g is their mean.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/params/adaptive_batch.h"

namespace hourglass::params {

class NoiseMeter {
 public:
  explicit NoiseMeter(std::size_t size) : sum_(size, 0.0F) {}
  /// One batch's mean gradient.
  void take(std::span<const float> gradient, std::uint32_t samples);
  /// Of what was taken since the last call; both 0 where fewer than two gradients were, or where they are not finite.
  GradientNoise read();

 private:
  std::vector<float> sum_;
  double squares_ = 0;  ///< sum of ||g_j||^2
  std::uint64_t samples_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace hourglass::params
