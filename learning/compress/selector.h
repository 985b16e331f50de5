// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/spec.h"

namespace hourglass::compress {

/// Chosen entries of a range, indices strictly ascending, none of them exactly 0.
struct Entries {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

/// Decides what of a range is sent. May remember what helps it to be fast next time; what it chooses depends on the values alone, or on
/// values and `step`.
class Selector {
 public:
  virtual ~Selector() = default;
  /// False: everything is sent, in order, and `chosen` means nothing.
  virtual bool select(std::span<const float> values, std::uint64_t step, Entries& chosen) = 0;
  /// sum = a + b, then select(sum), in one pass over memory where the method has one. Errors: bad_data where the sum is not finite.
  virtual Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t step,
                                  Entries& chosen);
};

using MakeSelector = Result<std::unique_ptr<Selector>> (*)(const SpecStage& stage);

}  // namespace hourglass::compress
