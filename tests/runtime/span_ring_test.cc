// SPDX-License-Identifier: Apache-2.0
#include "runtime/span_ring.h"

#include <gtest/gtest.h>

#include <set>

namespace hourglass {
namespace {
using namespace std::chrono_literals;

Instant at(Duration since) { return Instant(since); }

TEST(SpanRing, TellsSpansOnTheReportsClock) {
  SpanRing ring;
  ring.add(SpanKind::forward, at(5s), at(5s + 2500us), {.in = 7});
  ring.add(SpanKind::encode, at(6s), at(6s + 20us), {.out = 9});
  const SpanRing::Taken taken = ring.take(at(4s));
  ASSERT_EQ(taken.spans.size(), 2U);
  EXPECT_EQ(taken.spans[0].kind, SpanKind::forward);
  EXPECT_EQ(taken.spans[0].begin_us, 1'000'000U);
  EXPECT_EQ(taken.spans[0].duration_us, 2500U);
  EXPECT_EQ(taken.spans[0].flow_in, 7U);
  EXPECT_EQ(taken.spans[1].flow_out, 9U);
  EXPECT_EQ(taken.dropped, 0U);
  EXPECT_TRUE(ring.take(at(4s)).spans.empty());
}

TEST(SpanRing, KeepsTheNewestAndCountsTheRest) {
  SpanRing ring;
  for (int round = 0; round < 2; ++round) {  // from an empty ring, and from one that was taken half way
    const int count = static_cast<int>(SpanRing::kKept) + 17;
    for (int i = 0; i < count; ++i) ring.add(SpanKind::step, at(i * 1ms), at(i * 1ms + 500us));
    const SpanRing::Taken taken = ring.take(at(0s));
    ASSERT_EQ(taken.spans.size(), SpanRing::kKept);
    EXPECT_EQ(taken.dropped, 17U);
    EXPECT_EQ(taken.spans.front().begin_us, 17'000U);
    EXPECT_EQ(taken.spans.back().begin_us, static_cast<std::uint64_t>(count - 1) * 1000);
  }
}

TEST(SpanRing, LeavesOutWhatSaysNothing) {
  SpanRing ring;
  ring.add(SpanKind::forward, at(2s), at(1s));
  ring.add(SpanKind::apply, at(1s), at(1s + 5us));
  EXPECT_TRUE(ring.take(at(0s)).spans.empty());
  ring.add(SpanKind::apply, at(1s), at(1s), {.in = 3});
  EXPECT_EQ(ring.take(at(0s)).spans.size(), 1U);
}

TEST(SpanRing, WaitingIsWhatIsBetweenTwoPiecesOfWork) {
  SpanRing ring;
  ring.wait_until(at(1s));
  EXPECT_TRUE(ring.take(at(0s)).spans.empty()) << "before the first piece there is nothing to wait after";
  ring.add(SpanKind::forward, at(1s), at(2s));
  ring.wait_until(at(2s + 50us));
  ring.add(SpanKind::encode, at(2s + 50us), at(2s + 55us));  // too short to be told, yet work
  ring.wait_until(at(3s));
  const auto spans = ring.take(at(0s)).spans;
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[1].kind, SpanKind::wait);
  EXPECT_EQ(spans[1].begin_us, 2'000'055U);
  EXPECT_EQ(spans[1].begin_us + spans[1].duration_us, 3'000'000U);
}

TEST(SpanRing, EverySpanCanBeSent) {
  SpanRing ring;
  ring.add(SpanKind::wait, at(0s), at(3h));
  ring.add(SpanKind::wait, at(0s), Instant::max());
  for (const Span& span : ring.take(at(1s)).spans) {
    EXPECT_LE(span.begin_us, Span::kBeginUsMax);
    EXPECT_LE(span.duration_us, Span::kDurationUsMax);
  }
  ring.add(SpanKind::wait, at(0s), at(3h));
  const auto spans = ring.take(at(0s)).spans;
  EXPECT_EQ(spans[0].begin_us + spans[0].duration_us, std::uint64_t{3} * 3600 * 1'000'000) << "the end is what counts";
}

TEST(FlowId, IsTheSameAtBothEndsAndNoOthers) {
  std::set<std::uint64_t> seen;
  const ActorId a{Role::conv_worker, 1}, b{Role::conv_worker, 2}, c{Role::fc_worker, 1};
  for (const Flow flow : {Flow::batch, Flow::activations, Flow::gradients, Flow::push}) {
    for (const ActorId who : {a, b, c}) {
      for (std::uint64_t number = 0; number < 1000; ++number) {
        const std::uint64_t id = flow_id(flow, who, number);
        EXPECT_EQ(id, flow_id(flow, who, number));
        EXPECT_GT(id, 0U);
        EXPECT_LT(id, std::uint64_t{1} << 53);
        EXPECT_TRUE(seen.insert(id).second);
      }
    }
  }
}

}  // namespace
}  // namespace hourglass
