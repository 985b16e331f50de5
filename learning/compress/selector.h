// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/spec.h"
#include "learning/compress/shape.h"

namespace hourglass::compress {

/// Chosen entries of a range, indices strictly ascending, none of them exactly 0.
struct Entries {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

/// Which of the workers this is, where they take turns.
struct Seat {
  std::uint32_t number = 0;
  std::uint32_t count = 1;
};

/// Decides what of a range is sent. One object per range; may remember.
class Selector {
 public:
  virtual ~Selector() = default;
  /// False: everything is sent, in order, and `chosen` means nothing. Whatever is random comes from `step`, so that workers that are at the
  /// same step choose alike where a method wants that.
  virtual bool select(std::span<const float> values, std::uint64_t step, Entries& chosen) = 0;
  /// sum = a + b, then select(sum), in one pass over memory where the method has one. Errors: bad_data where the sum is not finite.
  virtual Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t step,
                                  Entries& chosen);
  /// True where observe() makes a difference: then what the aggregator publishes is decoded for it.
  [[nodiscard]] virtual bool observes() const { return false; }
  /// What the aggregator published of this range: the sum of some workers' entries.
  virtual void observe(const Entries& /*published*/) {}
  /// False where a chosen entry's value is another than the range's: it may be larger.
  [[nodiscard]] virtual bool keeps_range() const { return true; }
  virtual void take_seat(const Seat& /*seat*/) {}
  /// A ratio policy's choice, in (0, 1], from the next select() on. Methods that choose by something else ignore it.
  virtual void set_ratio(double /*ratio*/) {}
};

using MakeSelector = Result<std::unique_ptr<Selector>> (*)(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
