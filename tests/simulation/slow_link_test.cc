// SPDX-License-Identifier: Apache-2.0
// Messages that take longer than anybody's patience, on links that hold only a few of them.
#include <gtest/gtest.h>

#include "messages/all_messages.h"
#include "tests/simulation/cluster.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

/// A group of 1.5 MB, whole, uncompressed: 1.5 s a push for its sender, and 6 s until the aggregator has taken those of four workers.
ClusterOptions slow_link(std::int64_t staleness) {
  ClusterOptions options;
  options.job.model = "conv 16 kernel=5 stride=2 | relu | pool 2 | flatten | cut | fc 640 | relu | fc";
  options.job.conv_workers = 4;
  options.job.fc_workers = 0;
  options.job.staleness = staleness;
  options.job.batch = 16;
  options.job.samples = 960;
  options.job.evaluate_every = 960;
  options.network.nic_bytes_per_second = 1e6;
  options.network.credit_bytes = 4'000'000;
  options.network.evaluation_is_free = true;
  return options;
}

class SlowLink : public testing::TestWithParam<std::int64_t> {};

TEST_P(SlowLink, WhatIsOnItsWayIsNotSentOverAndOver) {
  Cluster cluster(slow_link(GetParam()));
  std::size_t large = 0;
  std::map<ActorId, int> welcomes;
  cluster.reactor().add_tap([&](const sim::Delivery& delivery) {
    large += delivery.envelope.body->size() > 1'000'000 ? 1 : 0;
    if (delivery.envelope.type == MessageType::welcome) ++welcomes[delivery.to];
  });
  ASSERT_TRUE(cluster.finish(20min)) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  const auto result = cluster.result();
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], 960);
  EXPECT_EQ(result["samples_repeated"], 0);
  for (const auto& [id, times] : welcomes) EXPECT_EQ(times, 1) << to_string(id) << " was taken for dead";
  const auto& ledger = result["ledger"];
  const auto pushes = ledger["applied"].get<std::uint64_t>();
  EXPECT_GE(pushes, 60U);
  EXPECT_LT(ledger["duplicates"].get<std::uint64_t>(), pushes / 4);
  EXPECT_GT(large, 2 * pushes / 3) << "the links were as slow as they should be";
}

INSTANTIATE_TEST_SUITE_P(Staleness, SlowLink, testing::Values(0, 4, kUnlimited), [](const auto& row) {
  return row.param == kUnlimited ? std::string("unlimited") : "s" + std::to_string(row.param);
});

}  // namespace
}  // namespace hourglass::testing_cluster
