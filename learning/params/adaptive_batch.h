// SPDX-License-Identifier: Apache-2.0
// How many samples a worker's local step takes, for local gradient methods: as few as the noise of the gradient allows, more as it grows
// against the gradient. After each synchronisation, with Var the variance of one sample's gradient (summed over the parameters) and g the
// mean gradient, both averaged over the workers:
//   where Var / b > eta^2 ||g||^2:   b = min(b_max, ceil(Var / (eta^2 ||g||^2)))
// b never falls. Two numbers a worker and synchronisation travel.
// Source: Lau et al. 2024 (2406.13936), the norm test of Byrd et al. 2012.
#pragma once

#include <cstdint>
#include <span>

namespace hourglass::params {

/// What one worker saw since the last synchronisation. Finite and not negative, else it does not count.
struct GradientNoise {
  double variance = 0;      ///< of one sample's gradient
  double norm_squared = 0;  ///< of the mean gradient
};

class AdaptiveBatch {
 public:
  /// 1 <= batch <= batch_max; eta in (0, 1], the paper uses 0.8 to 0.9: a smaller one tolerates less noise.
  AdaptiveBatch(std::uint64_t batch, std::uint64_t batch_max, double eta);

  /// The batch from now on. Workers that do not count leave the others; where none does, nothing changes.
  std::uint64_t update(std::span<const GradientNoise> workers);
  [[nodiscard]] std::uint64_t batch() const { return batch_; }

 private:
  std::uint64_t batch_;
  std::uint64_t batch_max_;
  double eta_squared_;
};

}  // namespace hourglass::params
