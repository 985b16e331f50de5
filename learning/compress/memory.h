// SPDX-License-Identifier: Apache-2.0
// What stands between a group's updates and its compressors, and remembers from one update to the next.
//
// An update passes through in this order: take() the whole group, addends() of each range, its compressor, sent() of each range, finish().
// restore(), held(), flushed(), adopt() and serve() come between updates. All vectors cover the group; offsets of blocks are group offsets.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/spec.h"
#include "messages/gradient_block.h"

namespace hourglass::compress {

/// A part of the group with a compressor of its own.
struct Range {
  std::size_t offset = 0;
  std::size_t length = 0;
  bool plain = false;  ///< small: sent dense whatever the spec

  [[nodiscard]] std::span<const float> of(std::span<const float> group) const { return group.subspan(offset, length); }
  [[nodiscard]] std::span<float> of(std::span<float> group) const { return group.subspan(offset, length); }
};

/// What a compressor is given: a + b, which belongs into `sum` (may be `b`); or `a` alone where `b` is empty. Its sum is finite.
struct Addends {
  std::span<const float> a, b;
  std::span<float> sum;
};

/// What the compressors promise.
struct Reach {
  bool lossless = false;    ///< what is decoded is what was compressed
  bool keeps_range = true;  ///< see Compressor::keeps_range()
};

class Memory {
 public:
  virtual ~Memory() = default;
  /// Before the first update, and whenever the compressors change.
  virtual void serve(const Reach& reach) { reach_ = reach; }
  /// `delta` lives until finish(). Errors: bad_data where it, or what would become of it, is not finite; then nothing changes.
  virtual Status take(std::span<const float> delta) = 0;
  virtual Addends addends(const Range& range) = 0;
  /// The range's block has gone out; null: there was nothing to say. Its sum is where addends() wanted it.
  virtual void sent(const Range& range, const GradientBlock* block) = 0;
  virtual void finish() {}

  /// The blocks went out, but were not applied. Errors: as validate(); bad_data where the state would not stay finite. Then nothing
  /// changes.
  virtual Status restore(std::span<const GradientBlock> blocks) = 0;
  /// What a flush sends; empty where nothing can be held.
  [[nodiscard]] virtual std::span<const float> held() const = 0;
  /// held() has gone out, exactly.
  virtual void flushed() = 0;
  /// Goes on from what another memory held. Errors: bad_config where it would be lost.
  virtual Status adopt(std::span<const float> held) = 0;
  /// False where what is held means nothing to another memory.
  [[nodiscard]] virtual bool releases() const { return true; }
  /// True where all that was sent and what is held add up to all updates.
  [[nodiscard]] virtual bool conserves() const = 0;

 protected:
  Reach reach_;
};

using MakeMemory = Result<std::unique_ptr<Memory>> (*)(const SpecStage& stage, std::size_t group_size);

/// Keeps sums of updates and state within a float, mostly without a look at the state: no magnitude in it is larger than the bound.
class Headroom {
 public:
  /// Whether delta + held is finite, and stays so; then the bound covers the sum.
  bool admits(std::span<const float> delta, std::span<const float> held, const Reach& reach);
  /// After the blocks have gone out. A decoded value that keeps its range leaves no more than there was.
  void settle(std::span<const float> held, const Reach& reach);
  void measure(std::span<const float> held);
  void clear() { bound_ = 0; }

 private:
  double bound_ = 0;
};

/// Sums that may decode to more than was compressed stay below this: the square of it, times any count, fits a double.
inline constexpr double kReachMax = 1e30;

/// values = keep * values + gain * added, each product rounded.
void mix(std::span<float> values, float keep, std::span<const float> added, float gain);
/// values += weight * blocks, all or nothing. Errors: as Memory::restore().
Status add_back(std::span<const GradientBlock> blocks, float weight, std::vector<float>& values);
/// Own blocks: cannot fail.
void subtract(const GradientBlock& block, std::span<float> values);
bool has_nonzero(std::span<const float> values);

}  // namespace hourglass::compress
