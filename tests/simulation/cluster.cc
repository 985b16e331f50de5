// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/cluster.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "actors/job_model.h"
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

namespace {

SimulatedClusterOptions simulated(const ClusterOptions& options) {
  SimulatedClusterOptions out;
  out.job = options.job;
  out.network = options.network;
  out.seed = options.seed;
  out.recovery = options.recovery;
  out.monitor = options.monitor;
  out.commands = options.commands;
  out.tree_nodes = options.tree_nodes;
  return out;
}

}  // namespace

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)), cluster_(simulated(options_)) {
  reactor().set_busy_time([](const sim::Delivery& delivery) -> Duration {  // of a slow machine, so that faults find work under way
    switch (delivery.envelope.type) {
      case MessageType::batch: return std::chrono::milliseconds(20);
      case MessageType::activations: return std::chrono::milliseconds(10);
      case MessageType::activation_gradients: return std::chrono::milliseconds(40);
      default: return Duration::zero();
    }
  });
  reactor().add_tap([this](const sim::Delivery& delivery) { check(delivery); });
  if (std::getenv("HOURGLASS_TEST_LOG") != nullptr) {
    reactor().set_log([this](ActorId id, Severity, std::string_view event, const Fields& fields) {
      std::fprintf(stderr, "%10.4f %s %.*s", seconds(reactor().now().time_since_epoch()), to_string(id).c_str(),
                   static_cast<int>(event.size()), event.data());
      for (const auto& [key, value] : fields) std::fprintf(stderr, " %s=%s", key.c_str(), value.c_str());
      std::fprintf(stderr, "\n");
    });
  }
  cluster_.start();
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
    if (update->generation < generation_) return;             // of an earlier life, under way when it ended
    if (update->generation > generation_) versions_.clear();  // what was rolled back
    generation_ = update->generation;
    if (update->deltas.empty()) return;
    std::uint64_t& version = versions_[delivery.to];
    if (update->deltas.back().to < version) complain("versions go backwards");
    version = update->deltas.back().to;
  }
}

bool Cluster::run_until_samples(std::uint64_t samples, Duration limit) {
  const auto applied = [&] {
    std::uint64_t pushes = 0;
    for (const auto& [worker, count] : applied_) pushes += worker.role == Role::conv_worker ? count : 0;
    return pushes * options_.job.local_steps * options_.job.batch;
  };
  return reactor().run_until([&] { return applied() >= samples; }, limit) && applied() < samples + samples / 2;
}

nlohmann::json Cluster::status() {
  const auto bytes = reactor().storage("aggregator").read("status.json");
  return bytes.ok() ? nlohmann::json::parse(as_text(*bytes)) : nlohmann::json();
}

nlohmann::json Cluster::result() {
  const auto bytes = reactor().storage("aggregator").read("result.json");
  if (!bytes.ok()) {
    ADD_FAILURE() << "no result.json";
    return {};
  }
  return nlohmann::json::parse(as_text(*bytes));
}

std::vector<float> Cluster::parameters() {
  auto model = make_job_model(options_.job);
  const auto file = reactor().storage("aggregator").read("model.safetensors");
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
