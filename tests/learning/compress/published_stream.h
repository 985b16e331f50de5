// SPDX-License-Identifier: Apache-2.0
// Synchronous rounds of some workers' error feedback around one published sum, and what their unions come to.
#pragma once

#include <set>

#include "learning/compress/error_feedback.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {

class Rounds {
 public:
  Rounds(std::string_view spec, std::size_t workers, std::size_t length) : length_(length) {
    for (std::size_t p = 0; p < workers; ++p) {
      memories_.push_back(std::move(ErrorFeedback::make(spec, {{0, length, false}}, length)).value());
      memories_.back().take_seat({static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(workers)});
    }
  }

  /// `delta(p)`: what worker p adds. Returns the size of the union; `largest` is the most entries of one worker so far.
  template <class Delta>
  std::size_t run(Delta delta) {
    std::vector<float> sum(length_, 0.0F);
    std::set<std::uint32_t> together;
    sent.assign(memories_.size(), std::vector<float>(length_, 0.0F));
    for (std::size_t p = 0; p < memories_.size(); ++p) {
      const auto blocks = memories_[p].compress(delta(p), step_);
      HG_CHECK(blocks.ok(), "finite");
      std::size_t count = 0;
      for (const GradientBlock& block : *blocks) {
        Entries entries;
        HG_CHECK(entries_of(block, length_, entries).ok(), "our own");
        together.insert(entries.indices.begin(), entries.indices.end());
        count += entries.indices.size();
        HG_CHECK(accumulate(block, sum).ok() && accumulate(block, sent[p]).ok(), "our own");
      }
      largest = std::max(largest, count);
    }
    ++step_;
    const GradientBlock published = compressor_of("nonzero", length_)->compress(sum, step_);
    for (ErrorFeedback& memory : memories_) memory.observe(std::span(&published, 1));
    return together.size();
  }

  [[nodiscard]] const ErrorFeedback& memory(std::size_t p) const { return memories_[p]; }
  std::size_t largest = 0;
  std::vector<std::vector<float>> sent;  ///< in the last round, by worker

 private:
  std::size_t length_;
  std::uint64_t step_ = 0;
  std::vector<ErrorFeedback> memories_;
};

/// A planted hot set: every 50th entry has gradients ten times those of the others, in a random half of the steps of each worker.
class HotSet {
 public:
  static constexpr std::size_t kEvery = 50;
  explicit HotSet(std::size_t length) : values_(length) {}

  std::span<const float> next() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const bool hot = i % kEvery == 7 && random_.below(2) == 0;
      values_[i] = static_cast<float>(random_.normal()) * (hot ? 10.0F : 1.0F);
    }
    return values_;
  }

 private:
  Random random_{17};
  std::vector<float> values_;
};

/// Mean union of the later half of 40 rounds.
inline double mean_union(std::string_view spec, std::size_t workers, std::size_t length) {
  Rounds rounds(spec, workers, length);
  HotSet stream(length);
  double total = 0;
  for (int round = 0; round < 40; ++round) {
    const std::size_t size = rounds.run([&](std::size_t) { return stream.next(); });
    if (round >= 20) total += static_cast<double>(size);
  }
  return total / 20;
}

}  // namespace hourglass::compress::testing
