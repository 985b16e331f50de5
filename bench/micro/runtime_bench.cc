// SPDX-License-Identifier: Apache-2.0
// Messages through the reactors: round trips and streams over the loopback, and what the simulator costs for each message.
// Links: hg_zmq hg_sim
#include <benchmark/benchmark.h>

#include <atomic>
#include <functional>
#include <thread>

#include "runtime/sim/sim_reactor.h"
#include "runtime/zmq/zmq_reactor.h"

namespace hourglass {
namespace {

constexpr ActorId kWorker{Role::conv_worker, 1};

Parcel parcel_of(std::size_t bytes) { return {MessageType::activity, Traffic::batch, share(Bytes(bytes))}; }

struct Answering final : Actor {
  explicit Answering(std::function<void(Context&, const Envelope&)> answer_) : answer(std::move(answer_)) {}
  void receive(Context& context, const Envelope& envelope) override { answer(context, envelope); }
  std::function<void(Context&, const Envelope&)> answer;
};

struct Asking final : Actor {
  void start(Context& c) override { context = &c; }
  void receive(Context&, const Envelope&) override { ++answers; }
  Context* context = nullptr;
  std::uint64_t answers = 0;
};

/// An aggregator that answers on a thread of its own, and a worker on this one.
class Loopback {
 public:
  explicit Loopback(std::function<void(Context&, const Envelope&)> answer) {
    server_ = open(kAggregator, "");
    server_->host(kAggregator, std::make_unique<Answering>(std::move(answer)));
    const std::string there = server_->bound_endpoint();
    thread_ = std::thread([this] {
      while (!leave_.load()) server_->step(std::chrono::milliseconds(20));
    });
    worker_ = open(kWorker, there);
    auto actor = std::make_unique<Asking>();
    asking_ = actor.get();
    worker_->host(kWorker, std::move(actor));
    worker_->step(Duration::zero());
    ask(parcel_of(1));
    wait_for(1);
  }
  ~Loopback() {
    leave_.store(true);
    thread_.join();
  }
  void ask(const Parcel& parcel) { HG_CHECK(asking_->context->post(kAggregator, parcel).ok(), "post"); }
  void wait_for(std::uint64_t answers) {
    while (asking_->answers < answers) worker_->step(std::chrono::seconds(1));
  }
  [[nodiscard]] std::uint64_t answers() const { return asking_->answers; }

 private:
  static std::unique_ptr<zmq::ZmqReactor> open(ActorId id, const std::string& aggregator) {
    zmq::ZmqOptions options;
    options.self = id;
    options.bind = "tcp://127.0.0.1:0";
    options.aggregator = aggregator;
    options.seed = 1;
    auto created = zmq::ZmqReactor::create(options);
    HG_CHECK(created.ok(), created.error().text);
    return std::move(*created);
  }

  std::unique_ptr<zmq::ZmqReactor> server_, worker_;
  Asking* asking_ = nullptr;
  std::atomic<bool> leave_{false};
  std::thread thread_;
};

void round_trip(benchmark::State& state) {
  Loopback loopback([](Context& context, const Envelope& e) { (void)context.post(e.from, {e.type, e.traffic, e.body}); });
  const Parcel parcel = parcel_of(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    const std::uint64_t before = loopback.answers();
    loopback.ask(parcel);
    loopback.wait_for(before + 1);
  }
  state.SetBytesProcessed(state.iterations() * 2 * state.range(0));
}
BENCHMARK(round_trip)->ArgName("bytes")->Arg(100)->Arg(10'000)->Arg(1'000'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// Eight messages under way, each acknowledged by a byte.
void stream(benchmark::State& state) {
  constexpr std::uint64_t kWindow = 8;
  const Parcel acknowledgement = parcel_of(1);
  Loopback loopback([&](Context& context, const Envelope& e) { (void)context.post(e.from, acknowledgement); });
  const Parcel parcel = parcel_of(static_cast<std::size_t>(state.range(0)));
  std::uint64_t asked = loopback.answers();
  for (auto _ : state) {
    loopback.ask(parcel);
    ++asked;
    if (asked >= kWindow) loopback.wait_for(asked - kWindow + 1);
  }
  loopback.wait_for(asked);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(stream)->ArgName("bytes")->Arg(100)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Arg(16'000'000)->UseRealTime();

/// Sixteen actors that pass messages on to random others.
void simulated_messages(benchmark::State& state) {
  sim::SimOptions options;
  options.nic_bytes_per_second = 125e6;
  options.link.jitter = std::chrono::microseconds(100);
  sim::SimReactor reactor(1, options);
  const Parcel parcel = parcel_of(1000);
  constexpr std::uint32_t kActors = 16;
  std::int64_t handled = 0;
  for (std::uint32_t i = 0; i < kActors; ++i) {
    reactor.host({Role::conv_worker, i}, std::make_unique<Answering>([&](Context& context, const Envelope&) {
                   ++handled;
                   const ActorId next{Role::conv_worker, static_cast<std::uint32_t>(context.random().below(kActors))};
                   (void)context.post(next, parcel);
                 }));
  }
  for (std::uint32_t i = 0; i < kActors; ++i) {
    (void)reactor.context_of({Role::conv_worker, i}).post({Role::conv_worker, (i + 1) % kActors}, parcel);
  }
  for (auto _ : state) reactor.run_for(std::chrono::milliseconds(10));
  state.SetItemsProcessed(handled);
}
BENCHMARK(simulated_messages);

}  // namespace
}  // namespace hourglass
