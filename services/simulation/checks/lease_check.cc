// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/checks/lease_check.h"

#include <algorithm>

namespace hourglass::checks {

void LeaseCheck::posts(Instant now, ActorId loader, ActorId worker, const Batch& batch) {
  if (batch.mode != Mode::train) return;
  Loader& books = loaders_[loader];
  const auto [row, fresh] = books.issued.try_emplace(batch.lease, Issued{worker, batch.epoch, batch.ids, false, false});
  if (!fresh) {
    return violations_.add(now, "leases", "lease " + std::to_string(batch.lease) + " of " + to_string(loader) + " is issued twice");
  }
  for (const std::uint32_t sample : batch.ids) ++books.handed[{batch.epoch, sample}];
}

void LeaseCheck::posts(Instant now, ActorId worker, const BatchRequest& request, bool diverged) {
  for (const LeaseResult& result : request.done) {
    if (result.samples == 0) continue;
    for (auto& [loader, books] : loaders_) {
      const auto lease = books.issued.find(result.lease);
      if (lease == books.issued.end() || lease->second.worker != worker || lease->second.told) continue;
      lease->second.told = true;
      told_[worker] += lease->second.samples.size();
      break;
    }
  }
  if (!diverged && told_[worker] > pushes_.settled_samples(worker)) {
    violations_.add(now, "done when settled",
                    to_string(worker) + " says that " + std::to_string(told_[worker]) + " samples are done; in its settled pushes are " +
                        std::to_string(pushes_.settled_samples(worker)));
  }
}

void LeaseCheck::handles(Instant now, ActorId loader, ActorId worker, const BatchRequest& request) {
  Loader& books = loaders_[loader];
  for (const LeaseResult& result : request.done) {
    const auto lease = books.issued.find(result.lease);
    if (lease == books.issued.end() || lease->second.worker != worker || lease->second.done || result.samples == 0) continue;
    lease->second.done = true;
    if (result.samples != lease->second.samples.size()) {
      violations_.add(now, "leases",
                      "lease " + std::to_string(result.lease) + " of " + std::to_string(lease->second.samples.size()) +
                          " samples comes back with " + std::to_string(result.samples));
    }
    for (const std::uint32_t sample : lease->second.samples) ++books.used[{lease->second.epoch, sample}];
    books.samples_used += lease->second.samples.size();
  }
}

void LeaseCheck::posts(Instant now, ActorId loader, const DataProgress& progress) {
  if (progress.handed_out == 0) return;  // it does not know yet where to begin
  Loader& books = loaders_[loader];
  if (progress.samples_done < books.newest.samples_done || progress.samples_repeated < books.newest.samples_repeated) {
    violations_.add(now, "progress", "the data loader's progress goes back");
  }
  books.newest = progress;
  const auto before =
      first_of_.try_emplace(loader, progress.samples_done - std::min(progress.samples_done, books.samples_used)).first->second;
  if (progress.samples_done > before + books.samples_used) {
    violations_.add(now, "each sample once",
                    to_string(loader) + " counts " + std::to_string(progress.samples_done - before) +
                        " samples as done; the leases that came back held " + std::to_string(books.samples_used));
  }
}

void LeaseCheck::handles(ActorId member, const Welcome& welcome) {
  if (member.role != Role::data_loader) return;
  const std::pair now{welcome.generation, welcome.attempt};
  const auto [joined, fresh] = joined_.try_emplace(member, now);
  if (!fresh && now <= joined->second) return;  // a repeat, or one that it did not wait for any more
  joined->second = now;
  loaders_.erase(member);
  first_of_.erase(member);
}

void LeaseCheck::at_end(Instant now, std::uint64_t samples, std::uint64_t repeated) {
  for (const auto& [loader, books] : loaders_) {
    if (!books.newest.finished) continue;
    std::uint64_t distinct = 0, again = 0;
    for (const auto& [sample, times] : books.handed) {
      const auto used = books.used.find(sample);
      if (used == books.used.end()) {
        violations_.add(now, "each sample once",
                        "sample " + std::to_string(sample.second) + " of epoch " + std::to_string(sample.first) +
                            " was handed out and never came back");
      } else {
        ++distinct, again += used->second - 1;
      }
    }
    const std::uint64_t before = first_of_.contains(loader) ? first_of_.at(loader) : 0;
    if (before + distinct != samples) {
      violations_.add(now, "each sample once",
                      std::to_string(distinct) + " different samples came back, after " + std::to_string(before) +
                          " of earlier loaders; the run says " + std::to_string(samples));
    }
    if (again > repeated) {
      violations_.add(now, "each sample once",
                      std::to_string(again) + " samples were used again; the run says that " + std::to_string(repeated) + " were repeated");
    }
  }
}

}  // namespace hourglass::checks
