// SPDX-License-Identifier: Apache-2.0
#include "actors/state_transfer.h"

#include <gtest/gtest.h>

#include "actors/worker_state.h"
#include "messages/codec.h"
#include "runtime/sim/sim_reactor.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr ActorId kOwner{Role::fc_worker, 5};
constexpr std::uint32_t kPollTimer = 1;

Bytes example(std::size_t size) {
  Random random(4);
  Bytes out(size);
  for (std::byte& each : out) each = static_cast<std::byte>(random.next());
  return out;
}

class Owner final : public Handles<Owner, StateRequest> {
 public:
  explicit Owner(Bytes state) : state_(std::move(state)) {}
  void on(Context& context, ActorId from, StateRequest&& request) { (void)context.send(from, state_piece(request, state_)); }

 private:
  Bytes state_;
};

class Asker final : public Handles<Asker, StateChunk> {
 public:
  explicit Asker(std::optional<Bytes>& result) : result_(result) {}
  void start(Context& context) override {
    fetch_.ask(context);
    context.wake_after(100ms, kPollTimer);
  }
  void wake(Context& context, std::uint32_t) override {
    if (!result_) fetch_.tick(context);
    context.wake_after(100ms, kPollTimer);
  }
  void on(Context& context, ActorId from, StateChunk&& chunk) {
    if (result_) return;
    if (auto whole = fetch_.take(context, from, chunk)) result_ = std::move(*whole);
  }

 private:
  StateFetch fetch_{kOwner, 3, 17};
  std::optional<Bytes>& result_;
};

TEST(StateTransfer, ArrivesWholeWhateverIsLostDoubledOrOvertaken) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, limits::kChunkBytes, 3 * limits::kChunkBytes + 5}) {
    sim::SimOptions options;
    options.link.loss = 0.3;
    options.link.duplication = 0.3;
    options.link.jitter = 50ms;
    options.reorder = true;
    sim::SimReactor reactor(size + 1, options);
    std::optional<Bytes> result;
    reactor.host(kAggregator, std::make_unique<Asker>(result));
    reactor.host(kOwner, std::make_unique<Owner>(example(size)));
    ASSERT_TRUE(reactor.run_until([&] { return result.has_value(); }, 5min)) << size;
    EXPECT_EQ(*result, example(size));
  }
}

TEST(WorkerState, ReadsWhatWasWrittenAndNothingElse) {
  WorkerState state;
  state.version = 7;
  state.parameters = {1, 2, 3};
  state.optimizer = example(20);
  state.residual = {-1, 0.5};
  state.random = Random(9).state();
  const Bytes bytes = encode_worker_state(state);
  const auto read = decode_worker_state(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->version, 7U);
  EXPECT_EQ(read->parameters, state.parameters);
  EXPECT_EQ(read->optimizer, state.optimizer);
  EXPECT_EQ(read->residual, state.residual);
  EXPECT_EQ(read->random, state.random);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_worker_state(std::span(bytes).first(size)).ok()) << size;
  state.parameters[1] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(decode_worker_state(encode_worker_state(state)).ok()) << "nothing that is not finite is kept";
}

}  // namespace
}  // namespace hourglass
