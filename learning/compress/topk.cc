// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/topk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr double kRatioDefault = 0.01;
constexpr double kRatioLeast = 1e-9;
constexpr std::size_t kSampleMax = 16384;
constexpr std::size_t kWithoutGuess = 4096;  ///< ranges up to this length are collected whole

std::uint32_t magnitude_bits(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7fffffffU; }

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

/// The threshold for the next call: the last k-th magnitude times a factor that follows how well the last guesses did. Under error feedback
/// the k-th magnitude grows from step to step, and many entries wait just below it, so no fixed margin is right.
class Guess {
 public:
  [[nodiscard]] std::uint32_t bits() const { return kth_ == 0 ? 0 : magnitude_bits(std::bit_cast<float>(kth_) * factor_); }
  void forget() { *this = Guess(); }
  void remember(std::uint32_t kth) { kth_ = kth; }
  void learn(std::size_t found, std::size_t k) {
    const double excess = static_cast<double>(found) / static_cast<double>(k);
    if (excess < 1) {
      factor_ *= 0.96F;
    } else if (excess < 1.3) {
      factor_ *= 0.99F;
    } else if (excess > 1.7) {
      factor_ *= static_cast<float>(1 + 0.02 * std::min(excess - 1.5, 3.0));
    }
    factor_ = std::clamp(factor_, 0.5F, 1.5F);
  }

 private:
  std::uint32_t kth_ = 0;  ///< magnitude bits; 0: nothing known
  float factor_ = 0.92F;
};

class TopK final : public Selector {
 public:
  explicit TopK(double ratio) : ratio_(ratio) {}

  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    const std::size_t k = begin(values.size(), chosen);
    if (k == 0) return true;
    if (collects_all(values.size(), k)) {
      collect(values, 1, values.size(), chosen);
      keep_largest(k, chosen);
      return true;
    }
    if (const std::uint32_t guess = guess_.bits(); guess != 0) {
      const std::size_t found = collect(values, guess, capacity(values.size(), k), chosen);
      guess_.learn(found, k);
      if (collected_well(found, k, chosen)) return true;
    }
    search(values, k, chosen);
    return true;
  }

  Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t step,
                          Entries& chosen) override {
    const std::size_t k = begin(sum.size(), chosen);
    const std::uint32_t guess = guess_.bits();
    if (k == 0 || guess == 0 || collects_all(sum.size(), k)) return Selector::add_select(a, b, sum, step, chosen);
    const std::size_t room = capacity(sum.size(), k);
    make_room(room, chosen);
    const Compacted found =
        kernels().add_compact(a.data(), b.data(), sum.data(), sum.size(), guess, chosen.indices.data(), chosen.values.data(), room);
    if (!found.finite) return {Errc::bad_data, "the sum to be compressed has a non-finite value"};
    guess_.learn(found.count, k);
    if (!collected_well(found.count, k, chosen)) search(sum, k, chosen);
    return true;
  }

  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  std::size_t begin(std::size_t length, Entries& chosen) {
    chosen.indices.clear();
    chosen.values.clear();
    if (length != length_) guess_.forget();
    length_ = length;
    // The factor forgives the last bit of ratio * length: 7 % of 100 is 7, not 8.
    const double wanted = std::ceil(ratio_ * static_cast<double>(length) * (1 - 1e-12));
    return std::min(length, std::max<std::size_t>(1, static_cast<std::size_t>(wanted)));
  }
  static bool collects_all(std::size_t length, std::size_t k) { return length <= kWithoutGuess || k >= length / 8; }
  static std::size_t capacity(std::size_t length, std::size_t k) { return std::min(length, 4 * k + 4096); }
  static void make_room(std::size_t entries, Entries& chosen) {
    chosen.indices.resize(entries + kCompactSlack);
    chosen.values.resize(entries + kCompactSlack);
  }

  static std::size_t collect(std::span<const float> values, std::uint32_t at_least, std::size_t room, Entries& chosen) {
    make_room(room, chosen);
    const std::size_t found =
        kernels().compact(values.data(), values.size(), at_least, chosen.indices.data(), chosen.values.data(), room).count;
    if (found <= room) {
      chosen.indices.resize(found);
      chosen.values.resize(found);
    }
    return found;
  }

  /// Whether the k largest are among what was collected; then only they are left.
  bool collected_well(std::size_t found, std::size_t k, Entries& chosen) {
    if (found < k || found > capacity(length_, k)) return false;
    chosen.indices.resize(found);
    chosen.values.resize(found);
    keep_largest(k, chosen);
    return true;
  }

  void search(std::span<const float> values, std::size_t k, Entries& chosen) {
    const std::uint32_t sampled = sample_threshold(values, k);
    if (sampled != 0 && collected_well(collect(values, sampled, capacity(values.size(), k), chosen), k, chosen)) return;
    const std::uint32_t coarse = find_coarse_magnitude(values, k);
    if (coarse != 0 && collected_well(collect(values, coarse, capacity(values.size(), k), chosen), k, chosen)) return;
    const RankedMagnitude last = find_magnitude(values, k);
    make_room(k, chosen);
    chosen.indices.resize(k);
    chosen.values.resize(k);
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
    chosen.indices.resize(out);
    chosen.values.resize(out);
    guess_.remember(last.bits);
  }

  /// A magnitude that at least k entries reach with high probability, and not many more.
  static std::uint32_t sample_threshold(std::span<const float> values, std::size_t k) {
    const std::size_t stride = std::max<std::size_t>(8, values.size() / kSampleMax) | 1;  // odd: not a divisor of a matrix' columns
    std::vector<float> sample;
    sample.reserve(values.size() / stride + 1);
    for (std::size_t i = stride / 2; i < values.size(); i += stride) sample.push_back(values[i]);
    const double expected = static_cast<double>(sample.size()) * static_cast<double>(k) / static_cast<double>(values.size());
    const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 2);
    return find_magnitude(sample, std::min(rank, sample.size())).bits;
  }

  void keep_largest(std::size_t k, Entries& chosen) {
    const std::size_t found = chosen.values.size();
    if (found <= k) return;
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
    chosen.indices.resize(out);
    chosen.values.resize(out);
    guess_.remember(last.bits);
  }

  double ratio_;
  std::size_t length_ = 0;
  Guess guess_;
};

}  // namespace

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

Result<std::unique_ptr<Selector>> make_topk(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"ratio"}); !known.ok()) return known.error();
  const Result<double> ratio = stage.number("ratio", kRatioDefault, kRatioLeast, 1.0);
  if (!ratio.ok()) return ratio.error();
  return std::unique_ptr<Selector>(std::make_unique<TopK>(*ratio));
}

}  // namespace hourglass::compress
