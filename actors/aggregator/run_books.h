// SPDX-License-Identifier: Apache-2.0
// How far the run has come: training data, evaluations, seconds, rates.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/archive.h"
#include "base/time.h"
#include "messages/data_progress.h"
#include "messages/evaluation_result.h"
#include "messages/run_status.h"

namespace hourglass {

class RunBooks {
 public:
  static constexpr std::size_t kHistoryMax = 10000;

  /// False for what is older than what is known: a new data loader has not yet heard where the old one stopped.
  bool take(const DataProgress& progress);
  /// False for an evaluation that is known already, or came too late.
  bool take(const EvaluationResult& result, bool only_final, Instant now, double bytes);
  /// Where the run was resumed, its seconds go on.
  void training_began(Instant now) { began_ = now - earlier_; }
  void training_ended(Instant now) { ended_ = now; }
  /// Once a second.
  void update_rates(Instant now, double bytes);

  [[nodiscard]] const DataProgress& progress() const { return progress_; }
  [[nodiscard]] std::uint64_t evaluated_samples() const { return evaluated_samples_; }  ///< training samples done at the newest evaluation
  [[nodiscard]] std::optional<double> newest_accuracy() const {
    return history_.empty() ? std::nullopt : std::optional(history_.back().accuracy);
  }
  /// That the run has diverged, and what to do; else empty. The newest evaluation, or training since, has a loss that nothing that learns
  /// has: outputs that are not finite count as nn::kLossMax.
  [[nodiscard]] std::string alarm() const;
  [[nodiscard]] bool final_evaluated() const { return final_evaluated_; }
  [[nodiscard]] double training_seconds(Instant now) const;
  [[nodiscard]] double bytes_per_second() const { return bytes_per_second_; }
  /// For another life, before training begins in it.
  void save(ArchiveWriter& out, Instant now) const;
  void load(ArchiveReader& in);
  /// Fills in what these books hold.
  void fill(RunStatus& status, Instant now) const;

 private:
  struct Point {
    Instant at{};
    std::uint64_t samples = 0;
    double bytes = 0;
  };
  DataProgress progress_;
  std::vector<HistoryRow> history_;
  std::uint64_t evaluated_samples_ = 0;  ///< of the newest evaluation
  bool final_evaluated_ = false;
  std::optional<Instant> began_, ended_;
  Duration earlier_{};  ///< of training, in earlier lives
  std::deque<Point> points_;
  double samples_per_second_ = 0;
  double bytes_per_second_ = 0;
};

}  // namespace hourglass
