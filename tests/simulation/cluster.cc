// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/cluster.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "actors/aggregator.h"
#include "actors/conv_worker.h"
#include "actors/data_loader.h"
#include "actors/fc_worker.h"
#include "actors/job_model.h"
#include "actors/monitor.h"
#include "actors/tree.h"
#include "actors/tree_node.h"
#include "learning/nn/model_file.h"
#include "messages/all_messages.h"

namespace hourglass::testing_cluster {
namespace {
constexpr std::size_t kViolationsKept = 20;
}

Job small_job() {
  Job job;
  job.model = "conv 16 kernel=5 stride=2 | relu | pool 2 | flatten | cut | fc 32 | relu | fc";
  job.dataset = "synthetic";
  job.conv_workers = 2;
  job.fc_workers = 1;
  job.batch = 32;
  job.epochs = 1;
  job.samples = 1600;
  job.learning_rate = 0.05;
  return job;
}

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)), reactor_(options_.seed, options_.network) {
  reactor_.set_busy_time([](const sim::Delivery& delivery) -> Duration {  // of a slow machine, so that faults find work under way
    switch (delivery.envelope.type) {
      case MessageType::batch: return std::chrono::milliseconds(20);
      case MessageType::activations: return std::chrono::milliseconds(10);
      case MessageType::activation_gradients: return std::chrono::milliseconds(40);
      default: return Duration::zero();
    }
  });
  reactor_.add_tap([this](const sim::Delivery& delivery) { check(delivery); });
  if (std::getenv("HOURGLASS_TEST_LOG") != nullptr) {
    reactor_.set_log([this](ActorId id, Severity, std::string_view event, const Fields& fields) {
      std::fprintf(stderr, "%10.4f %s %.*s", seconds(reactor_.now().time_since_epoch()), to_string(id).c_str(),
                   static_cast<int>(event.size()), event.data());
      for (const auto& [key, value] : fields) std::fprintf(stderr, " %s=%s", key.c_str(), value.c_str());
      std::fprintf(stderr, "\n");
    });
  }
  add(Role::aggregator);
  if (options_.monitor) add(Role::monitor);
  add(Role::data_loader);
  const std::size_t fc = options_.fc_workers != 0 ? options_.fc_workers : options_.job.fc_workers;
  const std::size_t conv = options_.conv_workers != 0 ? options_.conv_workers : options_.job.conv_workers;
  const std::size_t nodes = options_.tree_nodes.value_or(Tree::nodes_wanted(options_.job));
  for (std::size_t i = 0; i < nodes; ++i) add(Role::tree_node);
  for (std::size_t i = 0; i < fc; ++i) add(Role::fc_worker);
  for (std::size_t i = 0; i < conv; ++i) add(Role::conv_worker);
}

ActorId Cluster::add(Role role) {
  const ActorId id = role == Role::aggregator ? kAggregator : ActorId{role, next_index_++};
  ProcessIdentity identity;
  identity.build = "test";
  identity.incarnation = id.index + 1000;
  identity.name = "host-" + std::to_string(id.index);
  identity.host = "10.0.0." + std::to_string(id.index);
  identity.port = 7000;
  std::unique_ptr<Actor> actor;
  switch (role) {
    case Role::aggregator: actor = make_aggregator({options_.job, 77, 1}, identity); break;
    case Role::data_loader:
      actor = make_data_loader(
          [](std::string_view name, data::Split split, std::uint64_t seed) { return data::load_dataset(name, "", split, seed); }, identity);
      break;
    case Role::conv_worker: actor = make_conv_worker(identity); break;
    case Role::fc_worker: actor = make_fc_worker(identity); break;
    case Role::monitor: actor = make_monitor(nullptr, identity); break;
    case Role::tree_node: actor = make_tree_node(identity); break;
  }
  ids_[role].push_back(id);
  reactor_.host(id, std::move(actor), role == Role::aggregator ? "aggregator" : to_string(id));
  return id;
}

void Cluster::check(const sim::Delivery& delivery) {
  const Envelope& envelope = delivery.envelope;
  const auto complain = [&](const std::string& text) {
    if (violations_.size() < kViolationsKept) {
      violations_.push_back(std::to_string(seconds(delivery.at.time_since_epoch())) + " s, " + to_string(envelope.from) + " -> " +
                            to_string(delivery.to) + ": " + text);
    }
  };
  // The Hourglass property: FC parameters and their gradients never touch a CONV worker.
  const bool conv_link = envelope.from.role == Role::conv_worker || delivery.to.role == Role::conv_worker;
  const bool fc_traffic = envelope.traffic == Traffic::push_fc || envelope.traffic == Traffic::update_fc;
  if (conv_link && fc_traffic) complain("FC bytes on a CONV worker's link");
  if (envelope.type == MessageType::push_verdict) {
    const auto verdict = decode<PushVerdict>(*envelope.body);
    if (!verdict.ok()) return complain("a verdict that does not decode");
    const int applied = verdict->verdict == Verdict::applied ? 1 : 0;
    const auto [row, fresh] = verdicts_.try_emplace({delivery.to, verdict->clock}, applied);
    if (fresh) applied_[delivery.to] += static_cast<std::uint64_t>(applied);
    if (row->second != applied) complain("two verdicts on one push");
  }
  if (envelope.type == MessageType::parameter_update && envelope.from == kAggregator) {
    const auto update = decode<ParameterUpdate>(*envelope.body);
    if (!update.ok()) return complain("an update that does not decode: " + update.error().text);
    if (update->deltas.empty()) return;
    std::uint64_t& version = versions_[delivery.to];
    if (update->deltas.back().to < version) complain("versions go backwards");
    version = update->deltas.back().to;
  }
}

bool Cluster::finish(Duration limit) {
  return reactor_.run_until([&] { return reactor_.exit_of(kAggregator) != nullptr; }, limit);
}

bool Cluster::run_until_samples(std::uint64_t samples, Duration limit) {
  const auto applied = [&] {
    std::uint64_t pushes = 0;
    for (const auto& [worker, count] : applied_) pushes += worker.role == Role::conv_worker ? count : 0;
    return pushes * options_.job.local_steps * options_.job.batch;
  };
  return reactor_.run_until([&] { return applied() >= samples; }, limit) && applied() < samples + samples / 2;
}

nlohmann::json Cluster::status() {
  const auto bytes = reactor_.storage("aggregator").read("status.json");
  return bytes.ok() ? nlohmann::json::parse(as_text(*bytes)) : nlohmann::json();
}

nlohmann::json Cluster::result() {
  const auto bytes = reactor_.storage("aggregator").read("result.json");
  if (!bytes.ok()) {
    ADD_FAILURE() << "no result.json";
    return {};
  }
  return nlohmann::json::parse(as_text(*bytes));
}

std::vector<float> Cluster::parameters() {
  auto model = make_job_model(options_.job);
  const auto file = reactor_.storage("aggregator").read("model.safetensors");
  if (!model.ok() || !file.ok()) {
    ADD_FAILURE() << "no model";
    return {};
  }
  std::vector<float> conv, fc;
  const Status loaded = nn::model_from_safetensors(model->model, *file, conv, fc);
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().text);
  conv.insert(conv.end(), fc.begin(), fc.end());
  return conv;
}

}  // namespace hourglass::testing_cluster
