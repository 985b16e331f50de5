// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/trial.h"

#include <algorithm>
#include <utility>

namespace hourglass {

std::deque<AskedCommand> Pause::take_commands() {
  constexpr Duration kAgain = std::chrono::seconds(10);
  const Instant now = reactor_->now();
  const Order wanted = now < Instant(until_) ? Order::pause : Order::resume;
  if (now < Instant(at_) || (asked_ == wanted && now - asked_at_ < kAgain)) return {};
  asked_ = wanted;
  asked_at_ = now;
  return {{++given_, wanted}};
}

namespace {
SimulatedClusterOptions with_pause(TrialOptions& options) {
  if (options.pause) options.cluster.commands = &*options.pause;
  return options.cluster;
}
}  // namespace

Trial::Trial(TrialOptions options)
    : options_(std::move(options)),
      cluster_(with_pause(options_)),
      checks_(cluster_),
      adversary_(cluster_, options_.faults, options_.cluster.seed) {}

TrialResult Trial::run() {
  constexpr Duration kLook = std::chrono::seconds(1);
  if (options_.pause) options_.pause->tell_time(&cluster_.reactor());
  cluster_.start();
  const Duration healed = std::max(adversary_.healed_at(), options_.pause ? options_.pause->until() : Duration::zero());
  const Instant limit = Instant(healed + options_.heals_within);
  bool cancelled = false;
  while (!cluster_.finished() && cluster_.reactor().now() < limit && !cancelled && checks_.violations().empty()) {
    cluster_.finish(kLook);
    cancelled = watch_ && watch_();
  }
  TrialResult out;
  out.finished = cluster_.finished();
  if (!cancelled && checks_.violations().empty()) checks_.at_end(out.finished, options_.loss_falls);
  out.violations = checks_.violations();
  out.trace_hash = cluster_.reactor().trace_hash();
  out.events = cluster_.reactor().events_handled();
  out.virtual_seconds = seconds(cluster_.reactor().now().time_since_epoch());
  return out;
}

}  // namespace hourglass
