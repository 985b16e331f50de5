// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "messages/gradient_block.h"

namespace hourglass::compress {

/// How the values of a block are written and applied. Stateless.
class ValueCoder {
 public:
  virtual ~ValueCoder() = default;
  [[nodiscard]] virtual ValueCodec wire() const = 0;
  /// Sets value_codec, values and the levels of `block`, which has `values.size()` entries. `values` are finite.
  virtual void encode(std::span<const float> values, GradientBlock& block) const = 0;
  /// Everything about values and levels; `count` is already known to be within the receiver's group. Errors: malformed; bad_data for
  /// non-finite values.
  [[nodiscard]] virtual Status check(const GradientBlock& block) const = 0;
  /// target[i] += weight * value i. Checked blocks only.
  virtual void add(const GradientBlock& block, float weight, std::span<float> target) const = 0;
  /// target[indices[i]] += weight * value i. Checked blocks only.
  virtual void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                           std::span<float> target) const = 0;
};

/// What check() of every coder without levels begins with: `values` has `bytes`, the levels are 0.
Status check_plain(const GradientBlock& block, std::size_t bytes);

}  // namespace hourglass::compress
