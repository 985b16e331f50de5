// SPDX-License-Identifier: Apache-2.0
#include "services/tensorboard/scalar_feed.h"

#include <algorithm>

#include "services/dashboard/state_json.h"

namespace hourglass::tensorboard {
namespace {
std::vector<Scalar> training_scalars(const DashboardState& state) {
  const RunStatus& status = *state.status;
  std::vector<Scalar> out;
  const auto add = [&](std::string tag, double value) { out.push_back({std::move(tag), static_cast<float>(value)}); };
  add("train/loss", status.loss);
  add("speed/samples_per_second", status.samples_per_second);
  add("bytes_per_second/total", state.bytes_per_second);
  double bytes = 0;
  for (std::size_t i = 0; i < kTraffics; ++i) {
    const TrafficState& traffic = state.traffic[i];
    bytes += traffic.socket_bytes;
    if (traffic.socket_bytes <= 0) continue;
    add("bytes_per_second/" + std::string(name_of(static_cast<Traffic>(i))), traffic.socket_bytes_per_second);
  }
  add("bytes/total", bytes);
  const LedgerSums sums = ledger_sums(status);
  add("staleness/mean", sums.staleness_mean);
  add("staleness/max", sums.staleness_max);
  if (!status.groups.empty()) add("run/version", static_cast<double>(status.groups[0].version));
  return out;
}
}  // namespace

ScalarFeed::News ScalarFeed::look(const DashboardState& state, double unix_seconds) {
  News news;
  if (!state.status || state.status->phase == Phase::waiting) return news;
  const RunStatus& status = *state.status;
  const auto samples = static_cast<std::int64_t>(status.samples_done);
  const double told_at = unix_seconds - std::max(0.0, state.status_age_seconds);
  if (!begun_ || status.generation != generation_ || samples < step_) {
    if (begun_ || goes_on_) {  // what earlier files say of these samples and later ones is void, and told again
      step_ = std::max<std::int64_t>(samples - 1, 0);
      evaluations_ = static_cast<std::size_t>(
          std::ranges::count_if(status.history, [&](const HistoryRow& row) { return static_cast<std::int64_t>(row.samples) < samples; }));
    }
    begun_ = true;
    generation_ = status.generation;
    news.begins = true;
    news.begin_step = step_ + 1;
  }
  for (; evaluations_ < status.history.size(); ++evaluations_) {
    const HistoryRow& row = status.history[evaluations_];
    // Two reports may differ by milliseconds in what they make of one moment.
    evaluated_at_ = std::max(evaluated_at_, told_at - std::max(0.0, status.seconds - row.seconds));
    news.rows.push_back({evaluated_at_,
                         static_cast<std::int64_t>(row.samples),
                         {{"test/loss", static_cast<float>(row.loss)}, {"test/accuracy", static_cast<float>(row.accuracy)}}});
  }
  if (samples > step_ && samples > 0) {
    step_ = samples;
    news.rows.push_back({told_at, samples, training_scalars(state)});
  }
  return news;
}

}  // namespace hourglass::tensorboard
