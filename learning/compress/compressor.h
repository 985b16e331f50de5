// SPDX-License-Identifier: Apache-2.0
// From a vector of floats to a self-describing gradient block, by a spec string: "topk ratio=0.01 | two_level | rice".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "messages/gradient_block.h"

namespace hourglass::compress {

/// Compresses one contiguous range of a parameter group. May keep state (a threshold guess); one object per range.
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
};

enum class StageKind : std::uint8_t { selector, value_codec, index_codec };
struct CompressRow {
  std::string_view name;
  StageKind kind;
  std::string_view help;
  std::string_view bits;    ///< what an entry costs, for people
  std::string_view source;  ///< the paper
};
/// Every name that a spec may use; drives --help, the contract suite, benches and docs.
const std::vector<CompressRow>& registry();

/// Errors: bad_config naming the stage, with the list. A spec is a selector (dense | topk ratio=R), then optionally a value codec
/// (f32 | bf16 | two_level) and an index codec (auto | raw | bitmap | rice; default auto: the smallest).
Result<std::unique_ptr<Compressor>> make_compressor(std::string_view spec);
/// True where decode(compress(x)) == x for every x: "dense", "dense | f32".
Result<bool> is_lossless(std::string_view spec);

/// Checks everything about a block that decode() could not: ranges, counts against lengths, blob sizes, strictly ascending indices, levels.
/// After ok, accumulate() cannot fail. Errors: malformed; bad_data for non-finite values. `group_size`: floats in the group.
Status validate(const GradientBlock& block, std::size_t group_size);
/// sum[offset + i] += weight * value for each entry. `sum` is the whole group. Errors as validate(); then `sum` is unchanged.
Status accumulate(const GradientBlock& block, std::span<float> sum, float weight = 1.0F);
/// Like accumulate, but the range's entries are overwritten (absolute values; dense f32 blocks only, else malformed).
Status assign(const GradientBlock& block, std::span<float> values);

}  // namespace hourglass::compress
