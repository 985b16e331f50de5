// SPDX-License-Identifier: Apache-2.0
// What a tree costs on each link, against a star, as the number of workers grows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "actors/job_model.h"
#include "actors/tree.h"
#include "tests/simulation/cluster.h"
#include "tests/simulation/tree_books.h"

namespace hourglass::testing_cluster {
namespace {

constexpr std::uint64_t kRounds = 6;

struct Cost {
  double pushes = 0, updates = 0;  ///< messages a round, over all links
  double link_bytes = 0;           ///< largest push on any link
  double root_bytes = 0;           ///< into the aggregator, a round
  double busiest_bytes = 0;        ///< into any parent, a round
  double depth = 0;
};

Cost cost_of(std::uint32_t workers, std::uint32_t arity) {
  ClusterOptions options;
  Job& job = options.job;
  job.model = "conv 8 kernel=5 stride=2 | relu | pool 2 | flatten | fc";
  job.conv_workers = workers;
  job.fc_workers = 0;
  job.tree_arity = arity;
  job.compress = "topk ratio=0.02";
  job.downlink = "topk ratio=0.02";
  job.staleness = 0;
  job.batch = 2;
  job.samples = kRounds * workers * job.batch;
  job.outstanding = 1;
  Cluster cluster(options);
  TreeBooks books(cluster.reactor(), make_job_model(job)->conv.size());
  EXPECT_TRUE(cluster.finish()) << cluster.status().dump();
  Cost cost;
  std::map<ActorId, double> into;
  std::map<ActorId, ActorId> parents;
  for (const auto& [ends, link] : books.links()) {
    cost.pushes += static_cast<double>(link.pushes) / kRounds;
    cost.updates += static_cast<double>(link.updates) / kRounds;
    cost.link_bytes = std::max(cost.link_bytes, static_cast<double>(link.push_bytes_max));
    into[ends.second] += static_cast<double>(link.push_bytes) / kRounds;
    parents[ends.first] = ends.second;
  }
  for (const auto& [parent, bytes] : into) cost.busiest_bytes = std::max(cost.busiest_bytes, bytes);
  cost.root_bytes = into[kAggregator];
  for (auto [id, parent] : parents) {
    double depth = 1;
    for (ActorId up = parent; up != kAggregator; up = parents.at(up)) ++depth;
    cost.depth = std::max(cost.depth, depth);
  }
  return cost;
}

TEST(TreeTraffic, IsOrderKPerLinkAndLogarithmicInDepth) {
  std::printf("%8s %6s | %7s %9s %6s | %10s %10s %12s\n", "workers", "arity", "pushes", "updates", "depth", "link max B", "root B",
              "busiest B");
  for (const std::uint32_t arity : {0U, 2U, 4U}) {
    double first_link = 0;
    for (const std::uint32_t workers : {4U, 8U, 16U, 32U, 64U}) {
      const Cost cost = cost_of(workers, arity);
      std::printf("%8u %6u | %7.1f %9.1f %6.0f | %10.0f %10.0f %12.0f\n", workers, arity, cost.pushes, cost.updates, cost.depth,
                  cost.link_bytes, cost.root_bytes, cost.busiest_bytes);
      if (first_link == 0) first_link = cost.link_bytes;
      // One push a round on each link, whatever its level: P + nodes.
      Job shape;
      shape.conv_workers = workers;
      shape.tree_arity = arity;
      EXPECT_NEAR(cost.pushes, static_cast<double>(workers + Tree::nodes_wanted(shape)), 0.2) << workers << " by " << arity;
      if (arity == 0) {
        EXPECT_GT(cost.root_bytes, 0.8 * first_link * workers) << "a star's aggregator takes them all";
        continue;
      }
      EXPECT_EQ(cost.depth, std::ceil(std::log(workers) / std::log(arity) - 1e-9)) << workers << " by " << arity;
      EXPECT_LT(cost.link_bytes, 1.35 * first_link) << "a link carries k entries, however many workers are below";
      EXPECT_LT(cost.busiest_bytes, 1.35 * first_link * arity);
    }
  }
}

}  // namespace
}  // namespace hourglass::testing_cluster
