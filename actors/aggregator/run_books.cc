// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/run_books.h"

#include <algorithm>

#include "messages/codec.h"

namespace hourglass {
namespace {
constexpr Duration kRateWindow = std::chrono::seconds(5);
}

bool RunBooks::take(const DataProgress& progress) {
  if (progress.samples_done < progress_.samples_done) return false;
  progress_ = progress;
  return true;
}

bool RunBooks::take(const EvaluationResult& result, bool only_final, Instant now, double bytes) {
  if (result.count == 0) return false;
  if (result.final_parameters ? final_evaluated_ : (result.samples_done <= evaluated_samples_ || only_final)) return false;
  evaluated_samples_ = std::max(evaluated_samples_, result.samples_done);
  final_evaluated_ = final_evaluated_ || result.final_parameters;
  if (history_.size() >= kHistoryMax) history_.erase(history_.begin() + 1);  // the first row stays: it shows where the run began
  HistoryRow row;
  row.seconds = training_seconds(now);
  row.samples = result.samples_done;
  row.bytes = static_cast<std::uint64_t>(bytes);
  row.loss = result.loss_sum / static_cast<double>(result.count);
  row.accuracy = static_cast<double>(result.hits) / static_cast<double>(result.count);
  history_.push_back(row);
  return true;
}

void RunBooks::update_rates(Instant now, double bytes) {
  points_.push_back({now, progress_.samples_done, bytes});
  while (points_.size() > 2 && now - points_[1].at >= kRateWindow) points_.pop_front();
  const double span = seconds(points_.back().at - points_.front().at);
  if (span <= 0) return;
  samples_per_second_ = static_cast<double>(points_.back().samples - points_.front().samples) / span;
  bytes_per_second_ = std::max(0.0, points_.back().bytes - points_.front().bytes) / span;
}

std::string RunBooks::alarm() const {
  constexpr double kLossOfNothing = 1000;
  const bool diverged = progress_.loss > kLossOfNothing || (!history_.empty() && history_.back().loss > kLossOfNothing);
  return diverged ? "the model has diverged; start anew with a lower train.learning_rate, train.local_steps or train.staleness" : "";
}

double RunBooks::training_seconds(Instant now) const { return seconds(began_ ? ended_.value_or(now) - *began_ : earlier_); }

void RunBooks::save(ArchiveWriter& out, Instant now) const {
  out.put_bytes(encode(progress_));
  out.put(training_seconds(now));
  out.put(evaluated_samples_);
  out.put(static_cast<std::uint64_t>(history_.size()));
  for (const HistoryRow& row : history_) {
    out.put(row.seconds);
    out.put(row.samples);
    out.put(row.bytes);
    out.put(row.loss);
    out.put(row.accuracy);
  }
}

void RunBooks::load(ArchiveReader& in) {
  const auto progress = decode<DataProgress>(in.get_bytes());
  if (!progress.ok()) return in.fail();
  progress_ = *progress;
  earlier_ = from_seconds(std::max(0.0, in.get<double>()));
  in.get(evaluated_samples_);
  const auto rows = in.get_up_to<std::uint64_t>(kHistoryMax);
  for (std::uint64_t i = 0; i < rows && in.ok(); ++i) {
    HistoryRow row;
    in.get(row.seconds);
    in.get(row.samples);
    in.get(row.bytes);
    in.get(row.loss);
    in.get(row.accuracy);
    history_.push_back(row);
  }
}

void RunBooks::fill(RunStatus& status, Instant now) const {
  status.epoch = progress_.epoch;
  status.samples_done = progress_.samples_done;
  status.samples_total = progress_.samples_total;
  status.samples_repeated = progress_.samples_repeated;
  status.seconds = training_seconds(now);
  status.samples_per_second = samples_per_second_;
  status.loss = progress_.loss;
  status.progress =
      progress_.samples_total == 0 ? 0 : static_cast<double>(progress_.samples_done) / static_cast<double>(progress_.samples_total);
  status.history = history_;
}

}  // namespace hourglass
