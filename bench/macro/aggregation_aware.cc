// SPDX-License-Identifier: Apache-2.0
// Bytes and accuracy of selectors that follow the published stream, against plain topk: whole runs of the real actors in the simulator, on
// Fashion-MNIST, the whole model on the CONV workers, synchronous, the downlink carrying exactly what changed. One line a run.
//   aggregation_aware [samples] [workers ...]     default: 24000 4 8 16
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/aggregator.h"
#include "actors/conv_worker.h"
#include "actors/data_loader.h"
#include "messages/all_messages.h"
#include "runtime/sim/sim_reactor.h"
#include "services/hosting/dataset_files.h"

namespace {

using namespace hourglass;

constexpr const char* kSpecs[] = {
    "topk ratio=0.01",
    "aggregation_aware ratio=0.01",
    "aggregation_aware ratio=0.01 window=4",
    "aggregation_aware ratio=0.01 metric=frequency",
    "aggregation_aware ratio=0.01 metric=frequency lambda=20",
    "aggregation_aware ratio=0.01 metric=consensus",
    "aggregation_aware ratio=0.01 metric=hysteresis",
    "clt_k ratio=0.01",
};

ProcessIdentity identity_of(ActorId id) {
  ProcessIdentity identity;
  identity.build = "bench";
  identity.incarnation = id.index + 1000;
  identity.name = "host-" + std::to_string(id.index);
  identity.host = "10.0.0." + std::to_string(id.index);
  identity.port = 7000;
  return identity;
}

int run(const std::string& selector, std::uint32_t workers, std::uint64_t samples) {
  Job job;
  job.model = "lenet5";
  job.dataset = "fashion_mnist";
  job.conv_workers = workers;
  job.fc_workers = 0;
  job.batch = 16;
  job.samples = samples;
  job.epochs = 1000;
  job.evaluate_every = samples;
  job.staleness = 0;
  job.outstanding = 1;
  job.learning_rate = 0.05;
  job.compress = selector + " | two_level | rice";
  job.downlink = "nonzero";
  sim::SimReactor reactor(1, {});
  const auto host = [&](ActorId id, std::unique_ptr<Actor> actor) { reactor.host(id, std::move(actor), to_string(id)); };
  host(kAggregator, make_aggregator({job, 77, 1, {.checkpoint_every_seconds = 0}}, identity_of(kAggregator)));
  const ActorId loader{Role::data_loader, 1};
  host(loader, make_data_loader(dataset_files(""), identity_of(loader)));
  for (std::uint32_t i = 0; i < workers; ++i) {
    const ActorId id{Role::conv_worker, 2 + i};
    host(id, make_conv_worker(dataset_files(""), identity_of(id)));
  }
  std::uint64_t deltas = 0, entries = 0, update_bytes = 0, push_bytes = 0, pushes = 0;
  reactor.add_tap([&](const sim::Delivery& delivery) {
    if (delivery.envelope.traffic == Traffic::push_conv) {
      const auto push = decode<GradientPush>(*delivery.envelope.body);
      if (push.ok() && !push->flush) {
        ++pushes;
        push_bytes += delivery.envelope.body->size();
      }
    }
    if (delivery.envelope.traffic != Traffic::update_conv) return;
    const auto update = decode<ParameterUpdate>(*delivery.envelope.body);
    if (!update.ok() || update->absolute) return;  // the exact values at the end are the same for everybody
    update_bytes += delivery.envelope.body->size();
    for (const VersionDelta& delta : update->deltas) {
      ++deltas;
      for (const GradientBlock& block : delta.blocks) entries += block.index_codec == IndexCodec::none ? 0 : block.count;
    }
  });
  const bool finished = reactor.run_until([&] { return reactor.exit_of(kAggregator) != nullptr; }, std::chrono::hours(24));
  const auto bytes = reactor.storage(to_string(kAggregator)).read("result.json");
  if (!finished || !bytes.ok()) {
    std::fprintf(stderr, "%s with %u workers did not finish\n", selector.c_str(), workers);
    return EXIT_FAILURE;
  }
  const auto result = nlohmann::json::parse(as_text(*bytes));
  const double rounds = static_cast<double>(deltas) / workers;
  std::printf("%-58s %3u %6.0f %9.0f %9.0f %9.0f %8.4f\n", selector.c_str(), workers, rounds,
              static_cast<double>(push_bytes) / static_cast<double>(pushes),
              static_cast<double>(update_bytes) / static_cast<double>(deltas), static_cast<double>(entries) / static_cast<double>(deltas),
              result["accuracy"].get<double>());
  std::fflush(stdout);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
  const std::uint64_t samples = count > 1 ? std::strtoull(words[1], nullptr, 10) : 24000;
  std::vector<std::uint32_t> workers;
  for (int i = 2; i < count; ++i) workers.push_back(static_cast<std::uint32_t>(std::strtoul(words[i], nullptr, 10)));
  if (workers.empty()) workers = {4, 8, 16};
  std::printf("%-58s %3s %6s %9s %9s %9s %8s\n", "selector", "P", "rounds", "push, B", "update, B", "union", "accuracy");
  for (const std::uint32_t each : workers) {
    for (const char* selector : kSpecs) {
      if (run(selector, each, samples) != EXIT_SUCCESS) return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
