// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/random.h"
#include "learning/data/dataset.h"

namespace hourglass::data {

std::vector<std::uint32_t> epoch_order(std::size_t size, std::uint64_t seed, std::uint32_t epoch) {
  HG_CHECK(size <= std::numeric_limits<std::uint32_t>::max(), "sample indices have 32 bits");
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  Random random = Random(seed).fork("epoch order " + std::to_string(epoch));
  random.shuffle(order);
  return order;
}

void normalise(std::span<const std::byte> images, std::size_t channels, std::size_t pixels, std::span<const float> mean,
               std::span<const float> deviation, std::span<float> out) {
  HG_CHECK(mean.size() == channels && deviation.size() == channels, "one mean and one deviation per channel");
  HG_CHECK(out.size() == images.size(), "one float per byte");
  const std::size_t sample = channels * pixels;
  HG_CHECK(images.empty() || (sample > 0 && images.size() % sample == 0), "whole samples");
  std::array<float, 256> table{};
  for (std::size_t channel = 0; channel < channels; ++channel) {
    HG_CHECK(deviation[channel] > 0.0F, "a deviation must be positive");
    for (std::size_t value = 0; value < table.size(); ++value) {
      table[value] = (static_cast<float>(value) / 255.0F - mean[channel]) / deviation[channel];
    }
    for (std::size_t at = channel * pixels; at < images.size(); at += sample) {
      const std::byte* from = images.data() + at;
      float* to = out.data() + at;
      for (std::size_t i = 0; i < pixels; ++i) to[i] = table[std::to_integer<std::size_t>(from[i])];
    }
  }
}

}  // namespace hourglass::data
