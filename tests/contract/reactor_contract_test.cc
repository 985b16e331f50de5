// SPDX-License-Identifier: Apache-2.0
// What every reactor promises to an actor. Real ones are waited for with deadlines of a minute, which only failing tests reach.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/contract/reactor_cluster.h"

namespace hourglass {
namespace {

using std::chrono::milliseconds;

constexpr ActorId kConv{Role::conv_worker, 0x1000001}, kFc{Role::fc_worker, 0x2000002}, kStranger{Role::data_loader, 77};

struct Row {
  const char* name;
  std::unique_ptr<ReactorCluster> (*make)();
};

class ReactorContract : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    cluster_ = GetParam().make();
    cluster_->host(kAggregator);
  }
  /// Messages other than heartbeats.
  static std::vector<Envelope> messages(const RecordingActor& actor) {
    std::vector<Envelope> out;
    for (const Envelope& envelope : actor.received) {
      if (envelope.type != MessageType::heartbeat) out.push_back(envelope);
    }
    return out;
  }
  bool wait_for_messages(ActorId id, std::size_t number) {
    return cluster_->wait_for(id, [number](const RecordingActor& actor) { return messages(actor).size() >= number; });
  }
  std::vector<Envelope> messages_of(ActorId id) {
    std::vector<Envelope> out;
    cluster_->look(id, [&out](const RecordingActor& actor) { out = messages(actor); });
    return out;
  }
  double metric(ActorId id, std::string_view name) {
    double value = 0;
    cluster_->act(id, [&](Context& context) {
      const auto found = context.metrics().find(name);
      if (found != context.metrics().end()) value = found->second;
    });
    return value;
  }

  std::unique_ptr<ReactorCluster> cluster_;
};

TEST_P(ReactorContract, MessagesArriveWholeInOrderAndNumbered) {
  cluster_->host(kConv, [](RecordingActor& actor) {
    actor.on_start = [](Context& context) {  // at once: before any connection can be there
      for (std::size_t i = 0; i < 300; ++i) ASSERT_TRUE(context.post(kAggregator, filler(i, Traffic::metrics)).ok());
    };
  });
  ASSERT_TRUE(wait_for_messages(kAggregator, 300));
  const auto got = messages_of(kAggregator);
  ASSERT_EQ(got.size(), 300U);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].from, kConv);
    EXPECT_EQ(got[i].sequence, i);
    EXPECT_EQ(got[i].traffic, Traffic::metrics);
    EXPECT_EQ(*got[i].body, *filler(i).body);
  }
}

TEST_P(ReactorContract, WhoHasSentToUsIsAnsweredWithoutIntroduction) {
  cluster_->host(kConv, [](RecordingActor& actor) {
    actor.on_start = [](Context& context) { ASSERT_TRUE(context.post(kAggregator, filler(1)).ok()); };
  });
  ASSERT_TRUE(wait_for_messages(kAggregator, 1));
  cluster_->act(kAggregator, [](Context& context) {
    for (std::size_t i = 0; i < 100; ++i) ASSERT_TRUE(context.post(kConv, filler(i)).ok());  // more than a socket's high-water mark
  });
  ASSERT_TRUE(wait_for_messages(kConv, 100));
  const auto got = messages_of(kConv);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(got[i].sequence, i);
  EXPECT_EQ(got.front().from, kAggregator);
}

TEST_P(ReactorContract, BigBodiesPassBothWays) {
  constexpr std::size_t kBig = 20'000'000;
  cluster_->host(kConv, [](RecordingActor& actor) {
    actor.on_start = [](Context& context) { ASSERT_TRUE(context.post(kAggregator, filler(kBig, Traffic::snapshot)).ok()); };
  });
  ASSERT_TRUE(wait_for_messages(kAggregator, 1));
  const Parcel parcel = filler(kBig, Traffic::snapshot);
  EXPECT_EQ(*messages_of(kAggregator)[0].body, *parcel.body);
  cluster_->act(kAggregator, [&parcel](Context& context) { ASSERT_TRUE(context.post(kConv, parcel).ok()); });
  ASSERT_TRUE(wait_for_messages(kConv, 1));
  EXPECT_EQ(*messages_of(kConv)[0].body, *parcel.body);
}

TEST_P(ReactorContract, StrangersAreUnreachableUntilIntroduced) {
  cluster_->host(kConv);
  cluster_->host(kFc);
  cluster_->act(kConv, [](Context& context) {
    for (const ActorId nobody : {kStranger, kFc}) {
      const Status sent = context.post(nobody, filler(1));
      ASSERT_FALSE(sent.ok());
      EXPECT_EQ(sent.error().code, Errc::unreachable);
    }
  });
  const std::string endpoint = cluster_->endpoint_of(kFc);
  cluster_->act(kConv, [&endpoint](Context& context) {
    context.introduce(kFc, endpoint);
    context.introduce(kFc, endpoint);
    ASSERT_TRUE(context.post(kFc, filler(5)).ok());
  });
  ASSERT_TRUE(wait_for_messages(kFc, 1));
  cluster_->act(kFc, [](Context& context) { ASSERT_TRUE(context.post(kConv, filler(6)).ok()); });
  ASSERT_TRUE(wait_for_messages(kConv, 1));
  EXPECT_EQ(messages_of(kFc).size(), 1U);
  cluster_->act(kConv, [](Context& context) {
    context.forget(kFc);
    EXPECT_EQ(context.post(kFc, filler(1)).error().code, Errc::unreachable);
  });
}

TEST_P(ReactorContract, M1_WhatWasAcceptedIsDeliveredAlsoWhenTheCreditRunsOut) {
  cluster_->host(kConv);
  std::size_t accepted = 0, refused = 0;
  const Parcel parcel = filler(100'000, Traffic::batch);
  cluster_->act(kConv, [&](Context& context) {
    for (int i = 0; i < 2000 && refused == 0; ++i) {
      const bool room = context.has_room(kAggregator, parcel.body->size());
      const Status sent = context.post(kAggregator, parcel);
      EXPECT_TRUE(room || !sent.ok()) << "post() takes no more than has_room() admits";
      if (!sent.ok()) {
        EXPECT_FALSE(context.has_room(kAggregator, parcel.body->size()));
        EXPECT_EQ(sent.error().code, Errc::over_limit);
      }
      ++(sent.ok() ? accepted : refused);
    }
  });
  EXPECT_EQ(refused, 1U) << "a megabyte of credit and two hundred to send";
  ASSERT_TRUE(wait_for_messages(kAggregator, accepted));
  bool posted = false;
  while (!posted) {
    cluster_->act(kConv, [&](Context& context) { posted = context.post(kAggregator, filler(1, Traffic::batch)).ok(); });
  }
  ASSERT_TRUE(wait_for_messages(kAggregator, accepted + 1));
  const auto got = messages_of(kAggregator);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].sequence, i);
}

TEST_P(ReactorContract, TimersFireInOrderAndTheNewestWishCounts) {
  cluster_->host(kConv, [](RecordingActor& actor) {
    actor.on_start = [](Context& context) {
      context.wake_after(milliseconds(60), 3);
      context.wake_after(milliseconds(20), 1);
      context.wake_after(milliseconds(1), 2);
      context.wake_after(milliseconds(40), 2);  // instead
      context.wake_after(milliseconds(-5), 0);
    };
  });
  ASSERT_TRUE(cluster_->wait_for(kConv, [](const RecordingActor& actor) { return actor.wakes.size() >= 4; }));
  cluster_->look(kConv, [](const RecordingActor& actor) { EXPECT_EQ(actor.wakes, (std::vector<std::uint32_t>{0, 1, 2, 3})); });
}

TEST_P(ReactorContract, TimersAreNeverEarly) {
  std::vector<Duration> waited;
  cluster_->host(kConv, [&waited](RecordingActor& actor) {
    auto asked = std::make_shared<Instant>();
    actor.on_start = [asked](Context& context) {
      *asked = context.now();
      context.wake_after(milliseconds(7), 1);
    };
    actor.on_wake = [asked, &waited](Context& context, std::uint32_t) { waited.push_back(context.now() - *asked); };
  });
  ASSERT_TRUE(cluster_->wait_for(kConv, [](const RecordingActor& actor) { return !actor.wakes.empty(); }));
  EXPECT_GE(waited.at(0), milliseconds(7));
}

TEST_P(ReactorContract, ExitSendsWhatWasPosted) {
  cluster_->host(kConv, [](RecordingActor& actor) {
    actor.on_receive = [](Context& context, const Envelope&) {
      for (std::size_t i = 0; i < 50; ++i) ASSERT_TRUE(context.post(kAggregator, filler(1000 + i, Traffic::push_fc)).ok());
      context.exit(ExitCode::bad_data, "for a test");
      context.exit(ExitCode::ok, "too late");
    };
    actor.on_start = [](Context& context) { ASSERT_TRUE(context.post(kAggregator, filler(1)).ok()); };
  });
  ASSERT_TRUE(wait_for_messages(kAggregator, 1));
  cluster_->act(kAggregator, [](Context& context) { ASSERT_TRUE(context.post(kConv, filler(1)).ok()); });
  const auto ending = cluster_->wait_for_end(kConv);
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->code, ExitCode::bad_data);
  EXPECT_EQ(ending->reason, "for a test");
  EXPECT_TRUE(wait_for_messages(kAggregator, 51));
}

TEST_P(ReactorContract, ByteCountersOfBothSidesAgree) {
  cluster_->host(kConv);
  cluster_->act(kConv, [](Context& context) {
    for (const std::size_t size : {0U, 1U, 255U, 256U, 40'000U})
      ASSERT_TRUE(context.post(kAggregator, filler(size, Traffic::push_conv)).ok());
  });
  ASSERT_TRUE(wait_for_messages(kAggregator, 5));
  const double payload = 0 + 1 + 255 + 256 + 40'000;
  const double socket = payload + 5 * (2 + 32) + 3 * 2 + 2 * 9;  // header frames, then short and long body frames
  EXPECT_EQ(metric(kConv, "sent.push_conv.payload"), payload);
  EXPECT_EQ(metric(kConv, "sent.push_conv.socket"), socket);
  EXPECT_EQ(metric(kAggregator, "received.push_conv.payload"), payload);
  EXPECT_EQ(metric(kAggregator, "received.push_conv.socket"), socket);
  EXPECT_EQ(metric(kAggregator, "received.push_fc.payload"), 0);
}

TEST_P(ReactorContract, CountersAddUpAndGaugesReplace) {
  cluster_->act(kAggregator, [](Context& context) {
    EXPECT_EQ(context.self(), kAggregator);
    context.count("applied", 2);
    context.count("applied", 3);
    context.gauge("loss", 2);
    context.gauge("loss", 1);
  });
  EXPECT_EQ(metric(kAggregator, "applied"), 5);
  EXPECT_EQ(metric(kAggregator, "loss"), 1);
}

TEST_P(ReactorContract, StopIsAskedOnceAndASecondRequestInsists) {
  auto asked = std::make_shared<int>(0);
  cluster_->host(kConv, [asked](RecordingActor& actor) {
    actor.on_stop = [asked](Context& context) {
      ++*asked;
      context.wake_after(Duration::zero(), 9);
    };
  });
  cluster_->request_stop(kConv);
  ASSERT_TRUE(cluster_->wait_for(kConv, [](const RecordingActor& actor) { return !actor.wakes.empty(); })) << "it goes on until it exits";
  cluster_->request_stop(kConv);
  const auto ending = cluster_->wait_for_end(kConv);
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->code, ExitCode::temporary);
  EXPECT_EQ(*asked, 1);
  cluster_->request_stop(kAggregator);  // which takes the default: it exits at once
  const auto other = cluster_->wait_for_end(kAggregator);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->code, ExitCode::ok);
}

TEST_P(ReactorContract, HeartsBeatToTheAggregator) {
  cluster_->host(kConv);
  ASSERT_TRUE(cluster_->wait_for(kAggregator, [](const RecordingActor& actor) {
    return std::ranges::count(actor.received, MessageType::heartbeat, &Envelope::type) >= 2;
  }));
  cluster_->look(kAggregator, [](const RecordingActor& actor) {
    EXPECT_EQ(actor.received.front().from, kConv);
    EXPECT_EQ(actor.received.front().traffic, Traffic::control);
  });
}

INSTANTIATE_TEST_SUITE_P(Reactors, ReactorContract, testing::Values(Row{"sim", simulated_cluster}, Row{"zmq_tcp", socket_cluster}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace hourglass
