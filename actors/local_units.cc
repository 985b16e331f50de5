// SPDX-License-Identifier: Apache-2.0
#include "actors/local_units.h"

namespace hourglass {

std::uint64_t LocalUnits::next(std::uint64_t clock) const {
  if (open_.empty()) return clock;
  const bool full = open_.back().started >= open_.back().batches;
  return clock + open_.size() - (full ? 0 : 1);
}

void LocalUnits::started() {
  if (open_.empty() || open_.back().started >= open_.back().batches) {
    open_.push_back({work_, std::uint64_t{work_.steps} * work_.step_batches, 0});
  }
  ++open_.back().started;
}

void LocalUnits::dropped() {
  if (open_.empty()) return;
  Unit& last = open_.back();
  if (last.started > 0) --last.started;
  if (last.started == 0 && (open_.size() > 1 || learned_ == 0)) open_.pop_back();
}

bool LocalUnits::learned() {
  ++learned_;
  ++in_step_;
  return open_.empty() || in_step_ >= open_.front().work.step_batches || complete();
}

void LocalUnits::close() {
  if (!open_.empty()) open_.pop_front();
  learned_ = in_step_ = 0;
}

}  // namespace hourglass
