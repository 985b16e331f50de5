// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "learning/compress/selector.h"
#include "messages/gradient_block.h"

namespace hourglass::compress {

/// How the indices of a block are written: strictly ascending, relative to its offset, below its length. Stateless.
class IndexCoder {
 public:
  virtual ~IndexCoder() = default;
  [[nodiscard]] virtual IndexCodec wire() const = 0;
  /// Adds to what was chosen of `values` the entries that the reader will take for chosen: a coder whose index sets are approximate.
  virtual void widen(std::span<const float> /*values*/, Entries& /*chosen*/) const {}
  /// Whether `auto` may pick it for these entries: it writes any set, exactly.
  [[nodiscard]] virtual bool exact() const { return true; }
  /// Bytes that encode() will write.
  [[nodiscard]] virtual std::size_t bytes(std::span<const std::uint32_t> indices, std::size_t length) const = 0;
  /// Sets index_codec, indices and rice_bits of `block`.
  virtual void encode(std::span<const std::uint32_t> indices, std::size_t length, GradientBlock& block) const = 0;
  /// The only accepted bytes are those that encode() writes (with any rice_bits). `count` <= `length` is already known to be within the
  /// receiver's group; the blob is looked at before anything is allocated for `count`. Errors: malformed.
  [[nodiscard]] virtual Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const = 0;
};

}  // namespace hourglass::compress
