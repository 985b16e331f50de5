// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "runtime/sim/sim_reactor.h"
#include "tests/contract/reactor_cluster.h"

namespace hourglass {
namespace {

constexpr Duration kLongTime = std::chrono::seconds(60);

/// Survives the actor that it forwards to, so that tests can look at what an exited actor had received.
struct Shadow final : Actor {
  explicit Shadow(std::shared_ptr<RecordingActor> actor_) : actor(std::move(actor_)) {}
  void start(Context& context) override { actor->start(context); }
  void receive(Context& context, const Envelope& envelope) override { actor->receive(context, envelope); }
  void wake(Context& context, std::uint32_t timer) override { actor->wake(context, timer); }
  void stop(Context& context) override { actor->stop(context); }
  std::shared_ptr<RecordingActor> actor;
};

sim::SimOptions options() {
  sim::SimOptions out;
  out.introductions_required = true;
  out.credit_bytes = kClusterCredit;
  return out;
}

class SimulatedCluster final : public ReactorCluster {
 public:
  void host(ActorId id, const std::function<void(RecordingActor&)>& prepare) override {
    auto actor = std::make_shared<RecordingActor>();
    if (prepare) prepare(*actor);
    actors_[id] = actor;
    reactor_.host(id, std::make_unique<Shadow>(actor));
    reactor_.run_for(Duration::zero());
  }
  void act(ActorId id, const std::function<void(Context&)>& action) override { action(reactor_.context_of(id)); }
  void look(ActorId id, const std::function<void(const RecordingActor&)>& action) override { action(*actors_.at(id)); }
  bool wait_for(ActorId id, const std::function<bool(const RecordingActor&)>& predicate) override {
    return reactor_.run_until([&] { return predicate(*actors_.at(id)); }, kLongTime);
  }
  std::optional<Ending> wait_for_end(ActorId id) override {
    if (!reactor_.run_until([&] { return !reactor_.live(id); }, kLongTime)) return std::nullopt;
    const sim::Exit* exit = reactor_.exit_of(id);
    return Ending{exit->code, exit->reason};
  }
  void request_stop(ActorId id) override { reactor_.terminate(id); }
  std::string endpoint_of(ActorId id) override { return "tcp://" + std::string(name_of(id.role)) + ":1"; }

 private:
  sim::SimReactor reactor_{1, options()};
  std::map<ActorId, std::shared_ptr<RecordingActor>> actors_;
};

}  // namespace

std::unique_ptr<ReactorCluster> simulated_cluster() { return std::make_unique<SimulatedCluster>(); }

}  // namespace hourglass
