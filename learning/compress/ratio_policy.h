// SPDX-License-Identifier: Apache-2.0
// Decides from step to step, for all ranges of a group together, which share of each is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/spec.h"
#include "learning/compress/shape.h"

namespace hourglass::compress {

class RatioPolicy {
 public:
  virtual ~RatioPolicy() = default;
  /// Whether the next choose() looks at what is to be compressed. That costs the pass that adds and selects at once.
  [[nodiscard]] virtual bool looks() const { return false; }
  /// Before each compression. Sets ratios[i], in (0, 1], for range i, or leaves them as they are. `sums`: what is to be compressed, one a
  /// range, finite; empty where !looks().
  virtual void choose(std::span<const std::span<const float>> sums, std::uint64_t step, std::span<double> ratios) = 0;
};

/// `ratio`: the selector's. `shapes`: of the ranges that have one.
using MakeRatioPolicy = Result<std::unique_ptr<RatioPolicy>> (*)(const SpecStage& stage, double ratio, std::span<const Shape> shapes);

/// Numbers of ranges that are looked at in every `every`-th call, averaged exponentially over about `average` calls.
class Scores {
 public:
  Scores(std::size_t ranges, std::uint64_t every, std::uint64_t average);
  /// Reads `every` and `average` (each 1 to 1e6, default 10). Errors: bad_config.
  static Result<Scores> make(const SpecStage& stage, std::size_t ranges);

  [[nodiscard]] bool due() const { return calls_ % every_ == 0; }
  void pass() { ++calls_; }
  /// The first one counts fully.
  void note(std::size_t range, double score);
  [[nodiscard]] std::span<const double> values() const { return values_; }

 private:
  std::vector<double> values_;
  std::vector<bool> known_;
  std::uint64_t every_;
  std::uint64_t calls_ = 0;
  double weight_;  ///< of a new one, for the calls since the last
};

/// Ratios so that sum ratio[i] * length[i] == share * sum length[i], ratio * length in proportion to `weights` (finite, >= 0), but no ratio
/// above 1: what a range cannot take, the others get. Where all that could still take something has weight 0, in proportion to the lengths.
/// A range sends max(1, ceil(ratio * length)), so the total sent is within the number of ranges of what was asked for.
void share_out(double share, std::span<const double> weights, std::span<const Shape> shapes, std::span<double> ratios);

}  // namespace hourglass::compress
