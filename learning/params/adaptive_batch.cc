// SPDX-License-Identifier: Apache-2.0
#include "learning/params/adaptive_batch.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hourglass::params {
namespace {

bool counts(const GradientNoise& noise) {
  return std::isfinite(noise.variance) && std::isfinite(noise.norm_squared) && noise.variance >= 0 && noise.norm_squared >= 0;
}

}  // namespace

AdaptiveBatch::AdaptiveBatch(std::uint64_t batch, std::uint64_t batch_max, double eta)
    : batch_(batch), batch_max_(batch_max), eta_squared_(eta * eta) {
  HG_CHECK(batch >= 1 && batch <= batch_max, "an adaptive batch starts between 1 and its maximum");
  HG_CHECK(eta > 0 && eta <= 1, "eta is in (0, 1]");
}

std::uint64_t AdaptiveBatch::update(std::span<const GradientNoise> workers) {
  double variance = 0;
  double norm_squared = 0;
  double counted = 0;
  for (const GradientNoise& worker : workers) {
    if (!counts(worker)) continue;
    ++counted;
    variance += (worker.variance - variance) / counted;
    norm_squared += (worker.norm_squared - norm_squared) / counted;
  }
  const double tolerated = eta_squared_ * norm_squared;
  if (counted == 0 || variance <= tolerated * static_cast<double>(batch_)) return batch_;
  const double wanted = std::ceil(variance / tolerated);  // infinite where there is noise alone
  if (wanted >= static_cast<double>(batch_max_)) {
    batch_ = batch_max_;
  } else {
    batch_ = std::max(batch_, static_cast<std::uint64_t>(wanted));
  }
  return batch_;
}

}  // namespace hourglass::params
