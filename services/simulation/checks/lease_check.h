// SPDX-License-Identifier: Apache-2.0
// Every sample of an epoch is used once, or counted as repeated; a lease is done when what was learned from it is settled.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "messages/all_messages.h"
#include "services/simulation/checks/push_check.h"
#include "services/simulation/checks/violations.h"

namespace hourglass::checks {

class LeaseCheck {
 public:
  LeaseCheck(const Job& job, const PushCheck& pushes, Violations& violations) : job_(job), pushes_(pushes), violations_(violations) {}

  void posts(Instant now, ActorId loader, ActorId worker, const Batch& batch);
  /// `diverged`: steps of this worker were dropped, as not finite; they end without a push.
  void posts(Instant now, ActorId worker, const BatchRequest& request, bool diverged);
  void handles(Instant now, ActorId loader, ActorId worker, const BatchRequest& request);
  void posts(Instant now, ActorId loader, const DataProgress& progress);
  /// A loader that joins anew begins with what the aggregator knows.
  void handles(ActorId member, const Welcome& welcome);
  /// After a run that used up its data. `repeated`: as the aggregator says.
  void at_end(Instant now, std::uint64_t samples, std::uint64_t repeated);

 private:
  struct Issued {
    ActorId worker;
    std::uint32_t epoch = 0;
    std::vector<std::uint32_t> samples;
    bool told = false;  ///< its worker has said that it is done
    bool done = false;  ///< the loader has heard it
  };
  struct Loader {
    std::map<std::uint64_t, Issued> issued;                                   ///< training leases, by id
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> handed;  ///< (epoch, sample) -> times
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> used;    ///< likewise, of those that came back done
    std::uint64_t samples_used = 0;
    DataProgress newest;
  };

  const Job& job_;
  const PushCheck& pushes_;
  Violations& violations_;
  std::map<ActorId, Loader> loaders_;
  std::map<ActorId, std::pair<std::uint32_t, std::uint32_t>> joined_;  ///< generation and attempt of each loader's newest Welcome
  std::map<ActorId, std::uint64_t> told_;                              ///< by worker: samples that it says are done
  std::map<ActorId, std::uint64_t> first_of_;                          ///< by loader: samples that were done before it came
};

}  // namespace hourglass::checks
