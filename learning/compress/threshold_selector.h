// SPDX-License-Identifier: Apache-2.0
// What selectors share that send about `ratio` of the entries by a threshold which may serve several calls.
#pragma once

#include "learning/compress/selection.h"

namespace hourglass::compress {

/// Small ranges are gathered whole. A threshold that is known serves in one pass over memory, add_select() included, until what it finds is
/// no longer acceptable; then the method searches anew.
class ThresholdSelector : public Selector {
 public:
  ThresholdSelector(double ratio, std::int64_t reuse) : ratio_(ratio), reused_(reuse) {}

  bool select(std::span<const float> values, std::uint64_t step, Entries& chosen) final;
  Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t step,
                          Entries& chosen) final;
  void set_ratio(double ratio) final;

 protected:
  /// Entries that are collected at most.
  [[nodiscard]] virtual std::size_t room(std::size_t length, std::size_t k) const = 0;
  /// Whether what a known threshold found will do; if so, `chosen` is trimmed. `found` > room: `chosen` is of no use.
  virtual bool accept(std::size_t found, std::size_t length, std::size_t k, Entries& chosen) = 0;
  /// Finds a threshold and what reaches it; tells reused() for the next calls. k > 0.
  virtual void search(std::span<const float> values, std::size_t k, std::uint64_t step, Entries& chosen) = 0;

  [[nodiscard]] double ratio() const { return ratio_; }
  ReusedThreshold& reused() { return reused_; }

 private:
  std::size_t begin(std::size_t length, Entries& chosen);
  bool reuse(std::size_t found, std::size_t length, std::size_t k, Entries& chosen);

  double ratio_;
  std::size_t length_ = 0;
  ReusedThreshold reused_;
};

}  // namespace hourglass::compress
