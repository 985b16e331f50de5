// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/spec.h"
#include "messages/gradient_block.h"

namespace hourglass::compress {

/// How the values of a block are read: by the wire's enum alone, whoever wrote them. Stateless.
class ValueDecoder {
 public:
  virtual ~ValueDecoder() = default;
  [[nodiscard]] virtual ValueCodec wire() const = 0;
  /// Everything about values and levels, for a block of `count` entries, which is already known to be within the receiver's group: that its
  /// index codec is none where the values describe the whole range, too. Errors: malformed; bad_data for non-finite values.
  [[nodiscard]] virtual Status check(const GradientBlock& block) const = 0;
  /// target[i] += weight * value i. Checked blocks only.
  virtual void add(const GradientBlock& block, float weight, std::span<float> target) const = 0;
  /// target[indices[i]] += weight * value i. Checked blocks only.
  virtual void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                           std::span<float> target) const = 0;
};

/// How the values of a block are written. Has the options of its spec stage, no state.
class ValueCoder : public ValueDecoder {
 public:
  /// Sets value_codec, values and the levels of `block`, which has `values.size()` entries. `values` are finite. Whatever is random comes
  /// from `key`.
  virtual void encode(std::span<const float> values, std::uint64_t key, GradientBlock& block) const = 0;
  /// False where |value - decoded| can be larger than every magnitude that was encoded.
  [[nodiscard]] virtual bool keeps_range() const { return true; }
};

using MakeValueCoder = Result<std::unique_ptr<ValueCoder>> (*)(const SpecStage& stage);

/// target[indices[i]] += value(i). The places of the entries to come are fetched ahead: memory that is far away is most of the cost.
template <class Value>
void scatter(std::span<const std::uint32_t> indices, std::span<float> target, Value value) {
  constexpr std::size_t kAhead = 32;
  float* const sum = target.data();
  std::size_t i = 0;
  for (; i + kAhead < indices.size(); ++i) {
    __builtin_prefetch(sum + indices[i + kAhead], 1);
    sum[indices[i]] += value(i);
  }
  for (; i < indices.size(); ++i) sum[indices[i]] += value(i);
}

/// What check() of every decoder without levels begins with: `values` has `bytes`, the levels are 0.
Status check_plain(const GradientBlock& block, std::size_t bytes);

}  // namespace hourglass::compress
