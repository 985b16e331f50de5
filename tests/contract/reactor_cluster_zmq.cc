// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "runtime/zmq/zmq_reactor.h"
#include "tests/contract/reactor_cluster.h"

namespace hourglass {
namespace {

constexpr std::chrono::seconds kLongTime(60);

/// Lets the test look at an actor that lives on another thread: everything it does happens under one lock.
class Process final : public Actor {
 public:
  Process(zmq::ZmqOptions options, const std::function<void(RecordingActor&)>& prepare) {
    options.stop = &stop_;
    auto created = zmq::ZmqReactor::create(options);
    HG_CHECK(created.ok(), created.error().text);
    reactor_ = std::move(*created);
    if (prepare) prepare(actor_);
    reactor_->host(options.self, std::make_unique<Forward>(*this));
    thread_ = std::thread([this] { run(); });
  }
  ~Process() override {
    leave_.store(true);
    thread_.join();
  }

  void act(const std::function<void(Context&)>& action) {
    std::unique_lock lock(mutex_);
    action_ = &action;
    const bool done = changed_.wait_for(lock, kLongTime, [this] { return action_ == nullptr; });
    HG_CHECK(done, "the reactor's thread does not turn");
  }
  bool wait(const std::function<bool(const RecordingActor&)>& predicate) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLongTime, [&] { return predicate(actor_); });
  }
  std::optional<ReactorCluster::Ending> wait_for_end() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kLongTime, [this] { return ended_; })) return std::nullopt;
    return ReactorCluster::Ending{reactor_->exit_code(), reactor_->exit_reason()};
  }
  void look(const std::function<void(const RecordingActor&)>& action) {
    const std::lock_guard lock(mutex_);
    action(actor_);
  }
  void request_stop() { stop_.request(); }
  std::string endpoint() const { return reactor_->bound_endpoint(); }

 private:
  struct Forward final : Actor {
    explicit Forward(Process& process_) : process(process_) {}
    void start(Context& c) override { process.start(c); }
    void receive(Context& c, const Envelope& e) override { process.receive(c, e); }
    void wake(Context& c, std::uint32_t timer) override { process.wake(c, timer); }
    void stop(Context& c) override { process.stop(c); }
    Process& process;
  };

  template <class Call>
  void locked(Call call) {
    {
      const std::lock_guard lock(mutex_);
      call();
    }
    changed_.notify_all();
  }
  void start(Context& c) override {
    context_ = &c;
    locked([&] { actor_.start(c); });
  }
  void receive(Context& c, const Envelope& e) override { locked([&] { actor_.receive(c, e); }); }
  void wake(Context& c, std::uint32_t timer) override { locked([&] { actor_.wake(c, timer); }); }
  void stop(Context& c) override { locked([&] { actor_.stop(c); }); }

  void run() {
    while (!leave_.load() && reactor_->step(std::chrono::milliseconds(2))) {
      locked([this] {
        if (!action_ || !context_) return;
        (*action_)(*context_);
        action_ = nullptr;
      });
    }
    locked([this] { ended_ = true; });
  }

  zmq::StopFlag stop_;
  std::unique_ptr<zmq::ZmqReactor> reactor_;
  Context* context_ = nullptr;  ///< of the thread
  std::mutex mutex_;
  std::condition_variable changed_;
  RecordingActor actor_;                                     ///< under the mutex
  const std::function<void(Context&)>* action_ = nullptr;    ///< under the mutex
  bool ended_ = false;                                       ///< under the mutex
  std::atomic<bool> leave_{false};
  std::thread thread_;
};

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
    processes_[id] = std::make_unique<Process>(options, prepare);
  }
  void act(ActorId id, const std::function<void(Context&)>& action) override { processes_.at(id)->act(action); }
  void look(ActorId id, const std::function<void(const RecordingActor&)>& action) override { processes_.at(id)->look(action); }
  bool wait_for(ActorId id, const std::function<bool(const RecordingActor&)>& predicate) override {
    return processes_.at(id)->wait(predicate);
  }
  std::optional<Ending> wait_for_end(ActorId id) override { return processes_.at(id)->wait_for_end(); }
  void request_stop(ActorId id) override { processes_.at(id)->request_stop(); }
  std::string endpoint_of(ActorId id) override { return processes_.at(id)->endpoint(); }

 private:
  std::map<ActorId, std::unique_ptr<Process>> processes_;
};

}  // namespace

std::unique_ptr<ReactorCluster> socket_cluster() { return std::make_unique<SocketCluster>(); }

}  // namespace hourglass
