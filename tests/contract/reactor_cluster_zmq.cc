// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "tests/contract/reactor_cluster.h"
#include "tests/runtime/socket_process.h"

namespace hourglass {
namespace {

class SocketCluster final : public ReactorCluster {
 public:
  void host(ActorId id, const std::function<void(RecordingActor&)>& prepare) override {
    zmq::ZmqOptions options;
    options.self = id;
    options.bind = "tcp://127.0.0.1:0";
    if (id != kAggregator) options.aggregator = processes_.at(kAggregator)->endpoint();
    options.credit_bytes = kClusterCredit;
    options.linger = std::chrono::seconds(20);
    options.seed = 1;
    processes_[id] = std::make_unique<SocketProcess>(options, prepare);
  }
  void act(ActorId id, const std::function<void(Context&)>& action) override { processes_.at(id)->act(action); }
  void look(ActorId id, const std::function<void(const RecordingActor&)>& action) override { processes_.at(id)->look(action); }
  bool wait_for(ActorId id, const std::function<bool(const RecordingActor&)>& predicate) override {
    return processes_.at(id)->wait(predicate);
  }
  std::optional<Ending> wait_for_end(ActorId id) override {
    const auto ending = processes_.at(id)->wait_for_end();
    return ending ? std::optional(Ending{ending->code, ending->reason}) : std::nullopt;
  }
  void request_stop(ActorId id) override { processes_.at(id)->request_stop(); }
  std::string endpoint_of(ActorId id) override { return processes_.at(id)->endpoint(); }

 private:
  std::map<ActorId, std::unique_ptr<SocketProcess>> processes_;
};

}  // namespace

std::unique_ptr<ReactorCluster> socket_cluster() { return std::make_unique<SocketCluster>(); }

}  // namespace hourglass
