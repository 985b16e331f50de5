// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sensing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "learning/compress/hash.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr int kSteps = 12;
constexpr float kStepMax = 8;

std::uint32_t magnitude_of(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7fffffffU; }

/// `count` different rows of `length`, by a shuffle that stops early.
std::vector<std::uint32_t> draw_rows(std::uint64_t key, std::size_t length, std::size_t count) {
  std::vector<std::uint32_t> rows(length);
  std::iota(rows.begin(), rows.end(), 0U);
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(mix(key + i) >> 32);
    std::swap(rows[i], rows[i + below(bits, static_cast<std::uint32_t>(length - i))]);
  }
  rows.resize(count);
  return rows;
}

/// The `count`-th largest of the magnitudes in `work`, which is reordered.
std::uint32_t threshold_of(std::span<std::uint32_t> work, std::size_t count) {
  const auto at = work.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(work.begin(), at, work.end(), std::greater<>());
  return *at;
}

}  // namespace

std::vector<std::uint32_t> largest_of(std::span<const float> values, std::size_t count) {
  std::vector<std::uint32_t> chosen;
  if (count == 0 || values.empty()) return chosen;
  std::vector<std::uint32_t> work(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) work[i] = magnitude_of(values[i]);
  count = std::min(count, values.size());
  const std::uint32_t threshold = threshold_of(work, count);
  std::size_t equal = count;
  for (const float value : values) equal -= magnitude_of(value) > threshold ? 1 : 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t magnitude = magnitude_of(values[i]);
    if (magnitude == 0 || magnitude < threshold || (magnitude == threshold && equal == 0)) continue;
    if (magnitude == threshold) --equal;
    chosen.push_back(static_cast<std::uint32_t>(i));
  }
  return chosen;
}

Sensing::Sensing(std::uint64_t key, std::size_t length, std::size_t measurements)
    : key_(mix(key)),
      rows_(draw_rows(mix(key + 1), length, measurements)),
      scale_(1 / std::sqrt(static_cast<float>(measurements))),
      bound_(std::sqrt(static_cast<float>(measurements))),
      work_(length),
      gradient_(length),
      step_(length),
      residual_(measurements),
      measured_(measurements),
      magnitudes_(length) {}

void Sensing::measure(std::span<const float> x, std::span<float> y) {
  kernels().flip_signs(x.data(), x.size(), key_, scale_, work_.data());
  kernels().hadamard(work_.data(), work_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) y[i] = work_[rows_[i]];
}

void Sensing::transpose(std::span<const float> r, std::span<float> g) {
  std::fill(work_.begin(), work_.end(), 0.0F);
  for (std::size_t i = 0; i < rows_.size(); ++i) work_[rows_[i]] = r[i];
  kernels().hadamard(work_.data(), work_.size());
  kernels().flip_signs(work_.data(), work_.size(), key_, scale_, g.data());
}

void Sensing::keep_largest(std::size_t sparsity, std::uint32_t reached, std::span<float> x) {
  std::size_t candidates = 0;
  for (const float value : x) {
    magnitudes_[candidates] = magnitude_of(value);
    candidates += magnitude_of(value) >= reached ? 1 : 0;
  }
  const std::uint32_t threshold = threshold_of(std::span(magnitudes_).first(candidates), sparsity);
  std::size_t equal = sparsity;
  for (const float value : x) equal -= magnitude_of(value) > threshold ? 1 : 0;
  for (float& value : x) {
    const std::uint32_t magnitude = magnitude_of(value);
    if (magnitude > threshold) continue;
    if (magnitude == threshold && equal > 0) {
      --equal;
    } else {
      value = 0;
    }
  }
}

void Sensing::recover(std::span<const float> y, std::size_t sparsity, std::span<float> x) {
  std::fill(x.begin(), x.end(), 0.0F);
  std::copy(y.begin(), y.end(), residual_.begin());
  for (int step = 0; step < kSteps; ++step) {
    transpose(residual_, gradient_);
    // The best step along the gradient within the present support; the first support is the gradient's own.
    step_ = gradient_;
    if (step == 0) {
      keep_largest(sparsity, 0, step_);
    } else {
      for (std::size_t i = 0; i < x.size(); ++i) step_[i] = x[i] != 0 ? step_[i] : 0;
    }
    const double energy = kernels().sum_of_squares(step_.data(), step_.size());
    measure(step_, measured_);
    const double spread = kernels().sum_of_squares(measured_.data(), measured_.size());
    const float size = spread > 0 ? std::min(static_cast<float>(energy / spread), kStepMax) : 0.0F;
    std::size_t support = 0;
    std::uint32_t least = UINT32_MAX;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool known = x[i] != 0;
      x[i] = std::clamp(x[i] + size * gradient_[i], -bound_, bound_);
      support += known ? 1 : 0;
      least = known ? std::min(least, magnitude_of(x[i])) : least;
    }
    keep_largest(sparsity, support == sparsity ? least : 0, x);
    measure(x, measured_);
    for (std::size_t i = 0; i < y.size(); ++i) residual_[i] = y[i] - measured_[i];
  }
}

}  // namespace hourglass::compress
