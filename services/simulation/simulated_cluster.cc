// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/simulated_cluster.h"

#include <utility>

#include "actors/aggregator.h"
#include "actors/conv_worker.h"
#include "actors/data_loader.h"
#include "actors/fc_worker.h"
#include "actors/monitor.h"
#include "actors/tree.h"
#include "actors/tree_node.h"
#include "base/check.h"
#include "base/mutant.h"
#include "services/hosting/dataset_files.h"

namespace hourglass {
namespace {

constexpr double kReadBytesPerSecond = 2e9;        ///< checksums, decoding, adding
constexpr std::size_t kEvaluationReplyMax = 1024;  ///< an answer without gradients

Duration busy_time(const ComputeTimes& times, bool cut, const Envelope& envelope) {
  const bool evaluation = envelope.traffic == Traffic::evaluation;
  if (evaluation && times.evaluation_is_free) return Duration::zero();
  const Duration reading = from_seconds(static_cast<double>(envelope.body->size()) / kReadBytesPerSecond);
  const Duration forward = times.conv / 3;
  switch (envelope.type) {
    case MessageType::batch:
      if (cut) return reading + forward;
      return reading + (evaluation ? forward + times.fc / 3 : times.conv + times.fc);
    case MessageType::activations: return reading + (evaluation ? times.fc / 3 : times.fc);
    case MessageType::activation_gradients:
      return envelope.body->size() <= kEvaluationReplyMax ? reading : reading + (times.conv - forward);
    default: return reading;
  }
}

}  // namespace

SimulatedCluster::SimulatedCluster(SimulatedClusterOptions options)
    : options_(std::move(options)), reactor_(options_.seed, options_.network) {
  reactor_.set_busy_time([this, pauses = Random(options_.seed).fork("pauses")](const sim::Delivery& delivery) mutable {
    const ComputeTimes& times = options_.compute;
    Duration busy = busy_time(times, options_.job.fc_workers > 0, delivery.envelope);
    if (const auto slow = slow_.find(delivery.to); slow != slow_.end()) busy = from_seconds(seconds(busy) * slow->second);
    const bool batch = delivery.envelope.type == MessageType::batch && delivery.envelope.traffic != Traffic::evaluation;
    if (batch && times.pause_share > 0 && pauses.uniform() < times.pause_share) busy += times.pause;
    return busy;
  });
  for (const Role role : {Role::aggregator, Role::data_loader, Role::conv_worker, Role::fc_worker, Role::monitor, Role::tree_node})
    ids_[role] = {}, places_[role] = {};
  if (!options_.source) options_.source = dataset_files(options_.data_dir);
}

void SimulatedCluster::start() {
  add(Role::aggregator);
  if (options_.monitor) add(Role::monitor);
  add(Role::data_loader);
  const std::size_t nodes = options_.tree_nodes.value_or(Tree::nodes_wanted(options_.job));
  for (std::size_t i = 0; i < nodes; ++i) add(Role::tree_node);
  for (std::uint32_t i = 0; i < options_.job.fc_workers; ++i) add(Role::fc_worker);
  for (std::uint32_t i = 0; i < options_.job.conv_workers; ++i) add(Role::conv_worker);
}

ActorId SimulatedCluster::new_id(Role role) { return role == Role::aggregator ? kAggregator : ActorId{role, next_index_++}; }

ActorId SimulatedCluster::add(Role role) {
  const ActorId id = new_id(role);
  ids_[role].push_back(id);
  places_[role].push_back({id, role == Role::aggregator ? "aggregator" : to_string(id)});
  start_process(places_[role].size() - 1, id);
  return id;
}

ActorId SimulatedCluster::restart(Role role, std::size_t place, bool keeps_disk) {
  Place& here = places_[role].at(place);
  HG_CHECK(!reactor_.live(here.id), "a place holds one process at a time");
  if (!mutant(Mutant::incarnation_reused)) here.id = new_id(role);
  if (!keeps_disk) reactor_.storage(here.storage).files().clear();
  start_process(place, here.id);
  return here.id;
}

void SimulatedCluster::start_process(std::size_t place, ActorId id) {
  const Place& here = places_[id.role].at(place);
  const auto slow = options_.compute.slow.find({id.role, place});
  if (slow != options_.compute.slow.end()) slow_[id] = slow->second;
  ProcessIdentity identity;
  identity.build = "simulation";
  identity.incarnation = id.index + 1000;
  identity.name = "host-" + std::to_string(id.index);
  identity.host = "10.0." + std::to_string(id.index / 250) + "." + std::to_string(id.index % 250 + 1);
  identity.port = 7000;
  std::unique_ptr<Actor> actor;
  switch (id.role) {
    case Role::aggregator: actor = make_aggregator({options_.job, options_.run, 1, options_.recovery}, identity); break;
    case Role::data_loader: actor = make_data_loader(options_.source, identity); break;
    case Role::conv_worker: actor = make_conv_worker(options_.source, identity); break;
    case Role::fc_worker: actor = make_fc_worker(identity); break;
    case Role::monitor: actor = make_monitor(nullptr, options_.commands, identity); break;
    case Role::tree_node: actor = make_tree_node(identity); break;
  }
  reactor_.host(id, std::move(actor), here.storage);
}

bool SimulatedCluster::finish(Duration limit) {
  return reactor_.run_until([&] { return finished(); }, limit);
}

std::string SimulatedCluster::file(const std::string& name) {
  const auto bytes = reactor_.storage("aggregator").read(name);
  return bytes.ok() ? std::string(as_text(*bytes)) : "";
}

}  // namespace hourglass
