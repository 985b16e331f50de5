// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/spec.h"
#include "learning/compress/shape.h"
#include "messages/gradient_block.h"

namespace hourglass::compress {

/// Writes a whole range at once: a sketch, a factorisation, a rotation. May keep state; one object per range. The reader is a ValueDecoder.
class Transform {
 public:
  virtual ~Transform() = default;
  /// Sets value_codec and values of `block`, whose count is its length and whose index codec is none. `values` are finite. Whatever is
  /// random comes from `key`.
  virtual void encode(std::span<const float> values, std::uint64_t key, GradientBlock& block) = 0;
};

using MakeTransform = Result<std::unique_ptr<Transform>> (*)(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
