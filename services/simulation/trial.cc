// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/trial.h"

#include <utility>

namespace hourglass {

Trial::Trial(TrialOptions options)
    : options_(std::move(options)),
      cluster_(options_.cluster),
      checks_(cluster_),
      adversary_(cluster_, options_.faults, options_.cluster.seed) {}

TrialResult Trial::run() {
  constexpr Duration kLook = std::chrono::seconds(1);
  cluster_.start();
  const Instant limit = Instant(adversary_.healed_at() + options_.heals_within);
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
