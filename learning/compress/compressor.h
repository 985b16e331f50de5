// SPDX-License-Identifier: Apache-2.0
// From a vector of floats to a self-describing gradient block, by a spec string: "topk ratio=0.01 | two_level | rice".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learning/compress/selector.h"
#include "learning/compress/shape.h"
#include "messages/gradient_block.h"

namespace hourglass::compress {

/// Compresses one contiguous range of a parameter group. May keep state; one object per range.
class Compressor {
 public:
  virtual ~Compressor() = default;
  /// The block's offset is 0: the caller places it. `values` must be finite. Never selects a value that is exactly 0. An empty or all-zero
  /// range gives a block of count 0 (dense: all its values).
  virtual GradientBlock compress(std::span<const float> values, std::uint64_t step) = 0;
  /// sum = a + b, then compress(sum), in one pass over memory where the method has one. `sum` may be `b`.
  /// Errors: bad_data where the sum is not finite; `sum` is then of no use.
  virtual Result<GradientBlock> compress_sum(std::span<const float> a, std::span<const float> b, std::span<float> sum,
                                             std::uint64_t step) = 0;
  /// See Selector.
  [[nodiscard]] virtual bool observes() const { return false; }
  virtual void observe(const Entries& /*published*/) {}
  virtual void take_seat(const Seat& /*seat*/) {}
  virtual void set_ratio(double /*ratio*/) {}
  /// False where |value - decoded| can be larger than every magnitude that was compressed.
  [[nodiscard]] virtual bool keeps_range() const { return true; }
};

/// In the order in which a spec has them.
enum class StageKind : std::uint8_t { memory, ratio, selector, transform, value_codec, index_codec };
inline constexpr std::array kStageKinds = {StageKind::memory,    StageKind::ratio,       StageKind::selector,
                                           StageKind::transform, StageKind::value_codec, StageKind::index_codec};
std::string_view name_of(StageKind kind);

/// What the contract suite may expect of a row.
struct Traits {
  bool counts = false;       ///< selector: sends min(k, non-zeros) entries, k = max(1, ceil(ratio n))
  bool remembers = false;    ///< the outcome depends on earlier calls
  bool keeps_sign = true;    ///< no decoded value has the opposite sign
  bool keeps_zero = true;    ///< what was 0 decodes to 0
  bool always_sends = true;  ///< something of whatever is not all 0
  bool unbiased = false;     ///< the mean of what is decoded, over steps, is what was encoded
  bool linear = false;       ///< decode(a) + decode(b) == decode(a + b) where both used one key
};
struct CompressRow {
  std::string_view name;
  StageKind kind;
  std::string_view help;
  std::string_view bits;     ///< what an entry costs, for people
  std::string_view source;   ///< the paper
  std::string_view example;  ///< a whole spec for tests and benches
  Traits traits = {};
};
/// Every name that a spec may use; drives --help, the contract suite, benches and docs.
const std::vector<CompressRow>& registry();

/// A range's compressor. Errors: bad_config naming the stage, with the list. A spec is a selector, then optionally a value codec (default
/// f32) and an index codec (default auto: the smallest); or a transform alone. Before these a group's spec (see ErrorFeedback) may have a
/// memory and a ratio policy, which are not a range's.
Result<std::unique_ptr<Compressor>> make_compressor(std::string_view spec, const Shape& shape);
/// True where decode(compress(x)) == x for every x: "dense", "dense | f32".
Result<bool> is_lossless(std::string_view spec);

/// Checks everything about a block that decode() could not: ranges, counts against lengths, blob sizes, strictly ascending indices, levels.
/// After ok, accumulate() cannot fail. Errors: malformed; bad_data for non-finite values. `group_size`: floats in the group.
Status validate(const GradientBlock& block, std::size_t group_size);
/// sum[offset + i] += weight * value for each entry. `sum` is the whole group. Errors as validate(); then `sum` is unchanged.
Status accumulate(const GradientBlock& block, std::span<float> sum, float weight = 1.0F);
/// The entries of a block, relative to its offset: all of its range where it has no indices. Errors as validate().
Status entries_of(const GradientBlock& block, std::size_t group_size, Entries& entries);
/// The entries of a range at `indices` (ascending), as f32, with the smallest index codec: for assign(). The caller sets its offset.
GradientBlock block_of_values(std::span<const float> range, std::span<const std::uint32_t> indices);
/// As validate(); f32 blocks only, else malformed.
Status validate_values(const GradientBlock& block, std::size_t group_size);
/// Like accumulate, but the entries are overwritten. Errors as validate_values().
Status assign(const GradientBlock& block, std::span<float> values);

}  // namespace hourglass::compress
