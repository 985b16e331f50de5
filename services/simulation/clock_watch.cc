// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/clock_watch.h"

#include <algorithm>
#include <optional>

#include "messages/all_messages.h"
#include "messages/codec.h"

namespace hourglass {

ClockWatch::ClockWatch(sim::SimReactor& reactor) : reactor_(reactor) {
  reactor.add_tap([this](const sim::Delivery& delivery) { look(delivery); });
}

void ClockWatch::look(const sim::Delivery& delivery) {
  std::optional<std::uint64_t> slowest;
  for (const auto& [id, worker] : workers_) {
    if (worker.active) slowest = std::min(slowest.value_or(worker.pushed), worker.pushed);
  }
  for (const auto& [id, worker] : workers_) {
    if (!worker.active || !reactor_.live(id)) continue;
    const auto unit = static_cast<std::uint64_t>(reactor_.metrics_of(id).value("unit"));
    if (unit > *slowest) gap_max_ = std::max(gap_max_, unit - *slowest);
  }
  const Envelope& envelope = delivery.envelope;
  if (envelope.from.role != Role::conv_worker) return;
  if (envelope.type == MessageType::hello) workers_.try_emplace(envelope.from);
  const auto found = workers_.find(envelope.from);
  if (found == workers_.end()) return;
  if (envelope.type == MessageType::activity) {
    const auto activity = decode<Activity>(*envelope.body);
    if (activity.ok()) found->second.active = activity->active;
  }
  if (envelope.type == MessageType::gradient_push) {
    const auto push = decode<GradientPush>(*envelope.body);
    if (push.ok()) found->second.pushed = std::max(found->second.pushed, push->clock + 1);
  }
  if (envelope.type == MessageType::goodbye) workers_.erase(found);
}

}  // namespace hourglass
