// SPDX-License-Identifier: Apache-2.0
// What selectors share: gathering what reaches a magnitude in one pass, and the exact k largest. Magnitudes are compared by their bits
// (of |x| as an integer), whose order is that of the numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "learning/compress/selector.h"

namespace hourglass::compress {

inline constexpr double kRatioDefault = 0.01;
/// Ranges up to this length are cheaper to gather whole than to guess about.
inline constexpr std::size_t kSmallRange = 4096;

inline std::uint32_t magnitude_bits(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7fffffffU; }
/// k = max(1, ceil(ratio * length)), at most `length`; forgives the last bit of the product: 7 % of 100 is 7, not 8.
std::size_t entries_at(double ratio, std::size_t length);
/// Option `ratio` of a stage. Errors: bad_config outside (0, 1].
Result<double> ratio_of(const SpecStage& stage);

/// The entries with magnitude bits >= `at_least` (>= 1), in order, where they are at most `room`; otherwise a number > room, and `chosen`
/// is of no use.
std::size_t collect(std::span<const float> values, std::uint32_t at_least, std::size_t room, Entries& chosen);
/// sum = a + b and collect() of it, in one pass. Errors: bad_data where the sum is not finite.
Result<std::size_t> add_collect(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint32_t at_least,
                                std::size_t room, Entries& chosen);

/// The k largest magnitudes among `chosen` stay, in order; the lower index where two are equal. The k-th magnitude; 0 where all stay.
std::uint32_t keep_largest(std::size_t k, Entries& chosen);
/// The k largest magnitudes of the values, exactly, by the same order, no zeros. The k-th magnitude; 0 where there are at most k.
std::uint32_t select_largest(std::span<const float> values, std::size_t k, Entries& chosen);
/// From a sample at a fixed stride: a magnitude that at least k entries reach with high probability, and not many more; 0: no such.
std::uint32_t sample_threshold(std::span<const float> values, std::size_t k);
/// Whether select_largest() gathers all that is not 0: a guessed threshold would not pay.
inline bool gathers_all(std::size_t length, std::size_t k) { return length <= kSmallRange || k >= length / 8; }

/// The magnitude of rank `rank` (1 = largest) and how many are strictly larger.
struct RankedMagnitude {
  std::uint32_t bits = 0;
  std::size_t larger = 0;
};
/// 1 <= rank <= values.size(); values finite. Three passes, no memory.
RankedMagnitude find_magnitude(std::span<const float> values, std::size_t rank);

/// A threshold that is used for `calls` calls in a row before it is estimated anew: "reuse" (Fang et al. 2018, arXiv 1808.04357).
class ReusedThreshold {
 public:
  explicit ReusedThreshold(std::int64_t calls) : calls_(calls) {}
  /// 0: it has to be estimated.
  [[nodiscard]] std::uint32_t bits() const { return used_ < calls_ ? bits_ : 0; }
  void set(std::uint32_t bits) {
    bits_ = bits;
    used_ = 1;
  }
  void use() { ++used_; }
  void forget() { bits_ = 0; }

 private:
  std::int64_t calls_;
  std::int64_t used_ = 0;
  std::uint32_t bits_ = 0;
};

}  // namespace hourglass::compress
