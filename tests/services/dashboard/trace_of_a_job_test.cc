// SPDX-License-Identifier: Apache-2.0
// The trace of a job's real actors, on the simulator's clock.
#include <gtest/gtest.h>

#include "actors/aggregator.h"
#include "actors/conv_worker.h"
#include "actors/data_loader.h"
#include "actors/fc_worker.h"
#include "actors/monitor.h"
#include "runtime/sim/sim_reactor.h"
#include "services/dashboard/trace.h"
#include "services/hosting/dataset_files.h"
#include "tests/services/dashboard/trace_check.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;
using Json = nlohmann::json;

class LastState final : public StateSink {
 public:
  void publish(std::shared_ptr<const DashboardState> state) override { newest = std::move(state); }
  std::shared_ptr<const DashboardState> newest;
};

std::string trace_of_a_job() {
  AggregatorOptions options;
  Job& job = options.job;
  job.model = "conv 4 kernel=5 stride=4 | relu | flatten | cut | fc 8 | relu | fc";
  job.dataset = "synthetic";
  job.batch = 8;
  job.epochs = 1;
  job.samples = 640;
  options.run = 77;
  LastState sink;
  sim::SimReactor reactor(3);
  reactor.set_busy_time([](const sim::Delivery& delivery) -> Duration {
    switch (delivery.envelope.type) {
      case MessageType::batch: return 20ms;
      case MessageType::activations: return 10ms;
      case MessageType::activation_gradients: return 40ms;
      default: return 0ms;
    }
  });
  const auto identity = [](std::uint32_t index) {
    return ProcessIdentity{"test", index, "host-" + std::to_string(index), "10.0.0." + std::to_string(index), 7000, index};
  };
  const DatasetSource source = dataset_files("");
  reactor.host(kAggregator, make_aggregator(options, identity(1)));
  reactor.host({Role::monitor, 2}, make_monitor(&sink, nullptr, identity(2)));
  reactor.host({Role::data_loader, 3}, make_data_loader(source, identity(3)));
  reactor.run_for(5s);  // the workers' clocks begin later
  reactor.host({Role::fc_worker, 4}, make_fc_worker(identity(4)));
  for (std::uint32_t index : {5U, 6U}) reactor.host({Role::conv_worker, index}, make_conv_worker(source, identity(index)));
  EXPECT_TRUE(reactor.run_until([&] { return reactor.exit_of(kAggregator) != nullptr; }, 300s));
  reactor.run_for(5s);
  return sink.newest ? trace_json(*sink.newest) : "";
}

TEST(TraceOfAJob, IsValidAndJoinsEverybodysWork) {
  const std::string text = trace_of_a_job();
  TraceFigures figures;
  ASSERT_EQ(check_trace(text, &figures), "");
  EXPECT_EQ(figures.processes, 5U) << "aggregator, loader, FC worker, two CONV workers";
  // 80 batches: each is loaded, forwarded, stepped on, sent back and pushed. A second has more spans than a report.
  EXPECT_GE(figures.flows, 80U);
  std::map<std::int64_t, std::string> processes;
  std::map<std::string, std::set<std::string>> did;
  double waited = 0;
  const Json trace = Json::parse(text);
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["ph"] != "X") continue;
    const std::string role = processes[event["pid"]].substr(0, processes[event["pid"]].find(' '));
    did[role].insert(event["name"].get<std::string>());
    if (role == "conv-worker" && event["name"] == "wait") waited += event["dur"].get<double>();
  }
  EXPECT_EQ(did["data-loader"], (std::set<std::string>{"load"}));
  EXPECT_EQ(did["aggregator"], (std::set<std::string>{"apply"}));
  for (const char* kind : {"forward", "backward", "encode", "wait", "evaluate"}) EXPECT_TRUE(did["conv-worker"].contains(kind)) << kind;
  for (const char* kind : {"forward", "encode", "wait", "evaluate"}) EXPECT_TRUE(did["fc-worker"].contains(kind)) << kind;
  EXPECT_GT(waited, 100'000) << "the simulator computes in no time and is busy afterwards: all of it is between two pieces of work";
  EXPECT_EQ(text, trace_of_a_job()) << "same seed, same spans";
}

}  // namespace
}  // namespace hourglass
