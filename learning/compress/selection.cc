// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/selection.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kSampleMax = 16384;

/// Counts of magnitudes whose bits above `shift + width` equal `prefix`, by the `width` bits above `shift`. Four tables, because increments
/// of one counter wait for each other.
class Histogram {
 public:
  void fill(std::span<const float> values, unsigned shift, unsigned width, std::uint32_t prefix) {
    for (auto& table : tables_) table.fill(0);
    const std::uint32_t mask = (1U << width) - 1;
    const std::uint32_t elsewhere = 1U << width;
    const auto bin = [&](float value) {
      const std::uint32_t bits = magnitude_bits(value) >> shift;
      return (bits >> width) == prefix ? bits & mask : elsewhere;
    };
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
      for (std::size_t j = 0; j < 4; ++j) ++tables_[j][bin(values[i + j])];
    }
    for (; i < values.size(); ++i) ++tables_[0][bin(values[i])];
  }
  /// The highest bin at which the count from the top reaches rank - larger; adds the bins above it to `larger`.
  [[nodiscard]] std::uint32_t descend(std::size_t rank, unsigned width, std::size_t& larger) const {
    std::uint32_t bin = 1U << width;
    for (;;) {
      --bin;
      std::size_t here = 0;
      for (const auto& table : tables_) here += table[bin];
      if (larger + here >= rank || bin == 0) return bin;
      larger += here;
    }
  }

 private:
  std::array<std::array<std::uint32_t, 2049>, 4> tables_;
};

/// A lower bound of the magnitude of rank `rank`, near it but for ties.
std::uint32_t find_coarse_magnitude(std::span<const float> values, std::size_t rank) {
  Histogram histogram;
  std::size_t larger = 0;
  histogram.fill(values, 20, 11, 0);
  return histogram.descend(rank, 11, larger) << 20;
}

void make_room(std::size_t entries, Entries& chosen) {
  chosen.indices.resize(entries + kCompactSlack);
  chosen.values.resize(entries + kCompactSlack);
}

void cut(std::size_t entries, Entries& chosen) {
  chosen.indices.resize(entries);
  chosen.values.resize(entries);
}

}  // namespace

std::size_t entries_at(double ratio, std::size_t length) {
  const double wanted = std::ceil(ratio * static_cast<double>(length) * (1 - 1e-12));
  return std::min(length, std::max<std::size_t>(1, static_cast<std::size_t>(wanted)));
}

Result<double> ratio_of(const SpecStage& stage) { return stage.number("ratio", kRatioDefault, kRatioLeast, 1.0); }

std::size_t collect(std::span<const float> values, std::uint32_t at_least, std::size_t room, Entries& chosen) {
  make_room(room, chosen);
  const std::size_t found =
      kernels().compact(values.data(), values.size(), at_least, chosen.indices.data(), chosen.values.data(), room).count;
  if (found <= room) cut(found, chosen);
  return found;
}

Result<std::size_t> add_collect(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint32_t at_least,
                                std::size_t room, Entries& chosen) {
  make_room(room, chosen);
  const Compacted found =
      kernels().add_compact(a.data(), b.data(), sum.data(), sum.size(), at_least, chosen.indices.data(), chosen.values.data(), room);
  if (!found.finite) return {Errc::bad_data, "the sum to be compressed has a non-finite value"};
  if (found.count <= room) cut(found.count, chosen);
  return found.count;
}

std::uint32_t keep_largest(std::size_t k, Entries& chosen) {
  const std::size_t found = chosen.values.size();
  if (found <= k) return 0;
  const RankedMagnitude last = find_magnitude(chosen.values, k);
  std::size_t ties = k - last.larger;
  std::size_t out = 0;
  for (std::size_t i = 0; i < found; ++i) {
    const std::uint32_t bits = magnitude_bits(chosen.values[i]);
    const bool tie = bits == last.bits && ties > 0;
    chosen.indices[out] = chosen.indices[i];
    chosen.values[out] = chosen.values[i];
    ties -= static_cast<std::size_t>(tie);
    out += static_cast<std::size_t>(tie || bits > last.bits);
  }
  cut(out, chosen);
  return last.bits;
}

std::uint32_t sample_threshold(std::span<const float> values, std::size_t k) {
  const std::size_t stride = std::max<std::size_t>(8, values.size() / kSampleMax) | 1;  // odd: not a divisor of a matrix' columns
  std::vector<float> sample;
  sample.reserve(values.size() / stride + 1);
  for (std::size_t i = stride / 2; i < values.size(); i += stride) sample.push_back(values[i]);
  const double expected = static_cast<double>(sample.size()) * static_cast<double>(k) / static_cast<double>(values.size());
  const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 2);
  return find_magnitude(sample, std::min(rank, sample.size())).bits;
}

std::uint32_t select_largest(std::span<const float> values, std::size_t k, Entries& chosen) {
  if (gathers_all(values.size(), k)) {
    collect(values, 1, values.size(), chosen);
    return keep_largest(k, chosen);
  }
  const std::size_t room = std::min(values.size(), 4 * k + 4096);
  const auto collects_well = [&](std::uint32_t at_least) {
    if (at_least == 0) return false;
    const std::size_t found = collect(values, at_least, room, chosen);
    return found >= k && found <= room;
  };
  if (collects_well(sample_threshold(values, k)) || collects_well(find_coarse_magnitude(values, k))) return keep_largest(k, chosen);
  const RankedMagnitude last = find_magnitude(values, k);
  cut(k, chosen);
  std::size_t out = 0;
  std::size_t ties = last.bits == 0 ? 0 : k - last.larger;
  for (std::size_t i = 0; i < values.size() && out < k; ++i) {
    const std::uint32_t bits = magnitude_bits(values[i]);
    const bool tie = bits == last.bits && ties > 0;
    if (bits <= last.bits && !tie) continue;
    ties -= static_cast<std::size_t>(tie);
    chosen.indices[out] = static_cast<std::uint32_t>(i);
    chosen.values[out++] = values[i];
  }
  cut(out, chosen);
  return last.bits;
}

RankedMagnitude find_magnitude(std::span<const float> values, std::size_t rank) {
  Histogram histogram;
  RankedMagnitude out;
  histogram.fill(values, 20, 11, 0);
  out.bits = histogram.descend(rank, 11, out.larger);
  for (const unsigned shift : {10U, 0U}) {
    histogram.fill(values, shift, 10, out.bits);
    out.bits = out.bits << 10 | histogram.descend(rank, 10, out.larger);
  }
  return out;
}

}  // namespace hourglass::compress
