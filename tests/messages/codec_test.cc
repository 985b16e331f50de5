// SPDX-License-Identifier: Apache-2.0
#include "messages/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>

#include "messages/all_messages.h"

namespace hourglass {
namespace {

Bytes hex(std::initializer_list<int> values) {
  Bytes out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

template <class M>
std::string refusal(const Bytes& bytes, Errc code) {
  const auto result = decode<M>(bytes);
  if (result.ok()) return "accepted";
  EXPECT_EQ(result.error().code, code) << result.error().text;
  return result.error().text;
}

TEST(Codec, AcceptsAnIntegerInEveryWidthThatHoldsIt) {
  for (const Bytes& body :
       {hex({0x91, 5}), hex({0x91, 0xcc, 5}), hex({0x91, 0xcd, 0, 5}), hex({0x91, 0xce, 0, 0, 0, 5}),
        hex({0x91, 0xcf, 0, 0, 0, 0, 0, 0, 0, 5}), hex({0x91, 0xd0, 5}), hex({0x91, 0xd1, 0, 5}), hex({0x91, 0xd2, 0, 0, 0, 5}),
        hex({0x91, 0xd3, 0, 0, 0, 0, 0, 0, 0, 5}), hex({0xdc, 0, 1, 5}), hex({0xdd, 0, 0, 0, 1, 5})}) {
    const auto message = decode<HeartbeatReply>(body);
    ASSERT_TRUE(message.ok()) << message.error().text;
    EXPECT_EQ(message->generation, 5U);
  }
}

TEST(Codec, RefusesIntegersThatDoNotFit) {
  const std::string range = "heartbeat_reply: field 1: not in 0..4294967295";
  EXPECT_EQ(refusal<HeartbeatReply>(hex({0x91, 0xff}), Errc::malformed), range);
  EXPECT_EQ(refusal<HeartbeatReply>(hex({0x91, 0xd0, 0xff}), Errc::malformed), range);
  EXPECT_EQ(refusal<HeartbeatReply>(hex({0x91, 0xd3, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}), Errc::malformed), range);
  EXPECT_EQ(refusal<HeartbeatReply>(hex({0x91, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0}), Errc::malformed), range);
  EXPECT_TRUE(decode<HeartbeatReply>(hex({0x91, 0xce, 0xff, 0xff, 0xff, 0xff})).ok());
  EXPECT_EQ(refusal<HeartbeatReply>(hex({0x91, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0}), Errc::malformed),
            "heartbeat_reply: field 1: not an integer");
  EXPECT_EQ(refusal<HeartbeatReply>(hex({0x91, 0xc3}), Errc::malformed), "heartbeat_reply: field 1: not an integer");
}

TEST(Codec, KeepsTheSignOfSignedFields) {
  Welcome welcome;
  for (const std::int64_t staleness : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1'000'000}}) {
    welcome.job.staleness = staleness;
    const auto back = decode<Welcome>(encode(welcome));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->job.staleness, staleness);
  }
  RunStatus status;
  for (const std::int64_t bound : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-33}, std::numeric_limits<std::int64_t>::max()}) {
    status.staleness_bound = bound;
    const auto back = decode<RunStatus>(encode(status));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->staleness_bound, bound);
  }
}

TEST(Codec, KeepsTheLargestNumber) {
  ParameterUpdate update;
  update.admitted_clock = ParameterUpdate::kNoBound;
  const auto back = decode<ParameterUpdate>(encode(update));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->admitted_clock, ParameterUpdate::kNoBound);
}

TEST(Codec, RealsTravelBitForBit) {
  GradientPush push;
  for (const float value : {0.0F, -0.0F, 2.0F, 0.1F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()}) {
    push.blocks = {GradientBlock{.low = value, .high = -value, .indices = {}, .values = {}}};
    const auto back = decode<GradientPush>(encode(push));
    ASSERT_TRUE(back.ok()) << back.error().text;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(back->blocks[0].low), std::bit_cast<std::uint32_t>(value));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(back->blocks[0].high), std::bit_cast<std::uint32_t>(-value));
  }
  DataProgress progress;
  for (const double value : {0.0, -0.0, 1e300, 2.0, 0.1}) {
    progress.loss = value;
    const auto back = decode<DataProgress>(encode(progress));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back->loss), std::bit_cast<std::uint64_t>(value));
  }
}

TEST(Codec, RefusesRealsThatAreNotFinite) {
  for (const int low : {0x00, 0x01}) {  // infinity, NaN
    for (const int high : {0x7f, 0xff}) {
      EXPECT_EQ(refusal<MetricReport>(hex({0x96, 0, 0xcb, high, 0xf0, 0, 0, 0, 0, 0, low, 0xc2, 0x90, 0x90, 0}), Errc::malformed),
                "metric_report: field 2: not finite");
    }
  }
  EXPECT_EQ(refusal<MetricReport>(hex({0x96, 0, 0xca, 0, 0, 0, 0, 0xc2, 0x90, 0x90, 0}), Errc::malformed),
            "metric_report: field 2: not a float64");
  EXPECT_EQ(refusal<MetricReport>(hex({0x96, 0, 7, 0xc2, 0x90, 0x90, 0}), Errc::malformed), "metric_report: field 2: not a float64");
}

TEST(Codec, RefusesPackedRealsThatAreNotFinite) {
  Batch batch;
  batch.deviation = {1.0F, 2.0F};
  Bytes bytes = encode(batch);
  // A bin of 8 bytes and a 5-byte checksum, then one byte of digest.
  const float infinity = std::numeric_limits<float>::infinity();
  std::byte* values = bytes.data() + bytes.size() - 14;
  std::memcpy(values + 4, &infinity, sizeof infinity);
  const std::uint32_t sum = checksum({values, 8});
  for (int i = 0; i < 4; ++i) values[9 + i] = static_cast<std::byte>(sum >> (24 - 8 * i));
  EXPECT_EQ(refusal<Batch>(bytes, Errc::malformed), "batch: field 9: not finite");
}

TEST(Codec, RefusesHalfNumbersInPackedFields) {
  const Bytes seven(7, std::byte{1});
  const std::uint32_t sum = checksum(seven);
  // Sequence, capacity, settling, the bin and its checksum, nothing done.
  Bytes forged = hex({0x96, 0, 0, 0, 0xc4, 7, 1, 1, 1, 1, 1, 1, 1, 0xce});
  for (int i = 0; i < 4; ++i) forged.push_back(static_cast<std::byte>(sum >> (24 - 8 * i)));
  forged.push_back(std::byte{0x90});
  EXPECT_EQ(refusal<BatchRequest>(forged, Errc::malformed), "batch_request: field 4: not whole numbers of 8 bytes");
}

TEST(Codec, NamesTheFieldAndTheItem) {
  GradientPush push;
  push.blocks.resize(3);
  push.blocks[1].values = Bytes(50, std::byte{0xaa});
  Bytes bytes = encode(push);
  ASSERT_TRUE(decode<GradientPush>(bytes).ok());
  const auto run = std::search_n(bytes.begin(), bytes.end(), 50, std::byte{0xaa});
  ASSERT_NE(run, bytes.end());
  *run = std::byte{0xab};
  EXPECT_EQ(refusal<GradientPush>(bytes, Errc::malformed), "gradient_push: field 14: item 2: field 10: wrong checksum");
}

TEST(Codec, TellsLimitsFromNonsense) {
  // 129 bytes of name in Hello's build.
  Bytes hello = hex({0x99, 1, 1, 0xd9, 129});
  hello.resize(hello.size() + 129, std::byte{'a'});
  EXPECT_EQ(refusal<Hello>(hello, Errc::over_limit), "hello: field 3: 129 is above the limit of 128");
  EXPECT_EQ(refusal<Roster>(hex({0x93, 0, 0, 0xdc, 0x04, 0x01}), Errc::over_limit), "roster: field 3: 1025 is above the limit of 1024");
  EXPECT_EQ(refusal<Roster>(hex({0x93, 0, 0, 0xdc, 0x04, 0x00}), Errc::malformed), "roster: field 3: incomplete");
  EXPECT_EQ(refusal<BatchRequest>(hex({0x96, 0, 0, 0, 0xc5, 0x80, 0x01}), Errc::over_limit),
            "batch_request: field 4: 32769 is above the limit of 32768");
  EXPECT_EQ(refusal<RunPhase>(hex({0x93, 0, 7, 0xc2}), Errc::malformed), "run_phase: field 2: not in 0..6");
  EXPECT_EQ(refusal<RunPhase>(hex({0x93, 0, 0, 0xc2, 0}), Errc::malformed), "run_phase: 1 bytes too many");
  EXPECT_EQ(refusal<RunPhase>(hex({0x92, 0, 0}), Errc::malformed), "run_phase: 2 elements instead of 3");
  EXPECT_EQ(refusal<RunPhase>({}, Errc::malformed), "run_phase: not an array");
  EXPECT_EQ(refusal<Refuse>(hex({0x92, 0, 0xa0}), Errc::malformed), "refuse: field 1: not in 1..6");
  EXPECT_EQ(refusal<Goodbye>(hex({0x91, 0xa2, 0xc3, 0x28}), Errc::malformed), "goodbye: field 1: not clean UTF-8");
  EXPECT_EQ(refusal<Goodbye>(hex({0x91, 0xa1, 0x00}), Errc::malformed), "goodbye: field 1: not clean UTF-8");
  EXPECT_TRUE(decode<Goodbye>(hex({0x91, 0xa1, '\n'})).ok());
}

TEST(Codec, CarriesMegabytes) {
  SnapshotChunk chunk;
  chunk.values = Bytes(limits::kChunkBytes, std::byte{0x5a});
  const auto back = decode<SnapshotChunk>(encode(chunk));
  ASSERT_TRUE(back.ok()) << back.error().text;
  EXPECT_EQ(back->values, chunk.values);
}

TEST(CodecDeathTest, RefusesToSendWhatWouldBeRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto nan_loss = [] {
    DataProgress progress;
    progress.loss = std::nan("");
    return encode(progress);
  };
  EXPECT_DEATH(nan_loss(), "not finite");
  const auto long_name = [] {
    Goodbye goodbye;
    goodbye.reason.assign(limits::kTextBytes + 1, 'a');
    return encode(goodbye);
  };
  EXPECT_DEATH(long_name(), "too long");
  const auto out_of_range = [] {
    Welcome welcome;
    welcome.job.batch = 0;
    return encode(welcome);
  };
  EXPECT_DEATH(out_of_range(), "out of its range");
  const auto many = [] {
    BatchRequest request;
    request.holding.resize(limits::kHeldLeases + 1);
    return encode(request);
  };
  EXPECT_DEATH(many(), "above its limit");
  const auto not_a_verdict = [] {
    PushVerdict verdict;
    verdict.verdict = static_cast<Verdict>(6);
    return encode(verdict);
  };
  EXPECT_DEATH(not_a_verdict(), "not a value of this enum");
}

TEST(MessageList, NamesAndNumbersAreUnique) {
  std::set<std::string_view> names;
  std::set<int> types;
#define HOURGLASS_ROW(Struct, name)              \
  names.insert(name);                            \
  types.insert(static_cast<int>(Struct::kType)); \
  EXPECT_EQ(name_of(Struct::kType), name);       \
  EXPECT_TRUE(is_known(static_cast<std::uint8_t>(Struct::kType)));
  HOURGLASS_MESSAGES(HOURGLASS_ROW)
#undef HOURGLASS_ROW
  EXPECT_EQ(names.size(), 28U);
  EXPECT_EQ(types.size(), 28U);
  int known = 0;
  for (int type = 0; type < 256; ++type) known += is_known(static_cast<std::uint8_t>(type)) ? 1 : 0;
  EXPECT_EQ(known, 28);
  EXPECT_EQ(name_of(static_cast<MessageType>(0)), "unknown");
}

TEST(TrafficOf, SplitsByGroupWhereItMatters) {
  GradientPush push;
  ParameterUpdate update;
  EXPECT_EQ(traffic_of(push), Traffic::push_conv);
  EXPECT_EQ(traffic_of(update), Traffic::update_conv);
  push.group = update.group = Group::fc;
  EXPECT_EQ(traffic_of(push), Traffic::push_fc);
  EXPECT_EQ(traffic_of(update), Traffic::update_fc);
  EXPECT_EQ(traffic_of(Batch{}), Traffic::batch);
  EXPECT_EQ(traffic_of(Activations{}), Traffic::activations);
  Activations of_test_set;
  of_test_set.mode = Mode::evaluate;
  EXPECT_EQ(traffic_of(of_test_set), Traffic::evaluation);
  EXPECT_EQ(traffic_of(ActivationGradients{}), Traffic::activation_gradients);
  EXPECT_EQ(traffic_of(SnapshotChunk{}), Traffic::snapshot);
  EXPECT_EQ(traffic_of(MetricReport{}), Traffic::metrics);
  EXPECT_EQ(traffic_of(RunStatus{}), Traffic::metrics);
  EXPECT_EQ(traffic_of(BatchRequest{}), Traffic::control);
  EXPECT_EQ(traffic_of(LeaseUpdate{}), Traffic::control);
  EXPECT_EQ(traffic_of(PushVerdict{}), Traffic::control);
  EXPECT_EQ(traffic_of(Heartbeat{}), Traffic::control);
}

TEST(Pack, CarriesTypeTrafficAndBody) {
  GradientPush push;
  push.group = Group::fc;
  const Parcel parcel = pack(push);
  EXPECT_EQ(parcel.type, MessageType::gradient_push);
  EXPECT_EQ(parcel.traffic, Traffic::push_fc);
  EXPECT_EQ(*parcel.body, encode(push));
}

TEST(Names, OfEnums) {
  std::set<std::string_view> names;
  for (std::uint8_t i = 0; i < kTraffics; ++i) names.insert(name_of(static_cast<Traffic>(i)));
  EXPECT_EQ(names.size(), kTraffics);
  EXPECT_EQ(name_of(Traffic::push_conv), "push_conv");
  EXPECT_EQ(name_of(Traffic::control), "control");
  EXPECT_EQ(name_of(Group::conv), "conv");
  EXPECT_EQ(name_of(Group::fc), "fc");
  EXPECT_EQ(name_of(Phase::waiting), "waiting");
  EXPECT_EQ(name_of(kLastPhase), "pausing");
  EXPECT_EQ(name_of(Verdict::applied), "applied");
  EXPECT_EQ(name_of(kLastVerdict), "moved");
}

}  // namespace
}  // namespace hourglass
