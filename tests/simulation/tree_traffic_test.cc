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

/// Slope of log y over log x by least squares: the exponent of a power law.
double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0, mean_y = 0, covariance = 0, variance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / static_cast<double>(x.size());
    mean_y += std::log(y[i]) / static_cast<double>(x.size());
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    covariance += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    variance += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return covariance / variance;
}

TEST(TreeTraffic, IsOrderKPerLinkAndLogarithmicInDepth) {
  std::printf("%8s %6s | %7s %9s %6s | %10s %10s %12s\n", "workers", "arity", "pushes", "updates", "depth", "link max B", "root B",
              "busiest B");
  double worker_link = 0;
  for (const std::uint32_t arity : {0U, 2U, 4U}) {
    std::vector<double> workers_of, link, busiest;
    for (const std::uint32_t workers : {4U, 8U, 16U, 32U, 64U}) {
      const Cost cost = cost_of(workers, arity);
      std::printf("%8u %6u | %7.1f %9.1f %6.0f | %10.0f %10.0f %12.0f\n", workers, arity, cost.pushes, cost.updates, cost.depth,
                  cost.link_bytes, cost.root_bytes, cost.busiest_bytes);
      if (worker_link == 0) worker_link = cost.link_bytes;
      workers_of.push_back(workers);
      link.push_back(cost.link_bytes);
      busiest.push_back(cost.busiest_bytes);
      // One push a round on each link, whatever its level: P + nodes.
      Job shape;
      shape.conv_workers = workers;
      shape.tree_arity = arity;
      EXPECT_NEAR(cost.pushes, static_cast<double>(workers + Tree::nodes_wanted(shape)), 0.5) << workers << " by " << arity;
      const double levels = arity == 0 ? 1 : std::ceil(std::log(workers) / std::log(arity) - 1e-9);
      EXPECT_EQ(cost.depth, levels) << workers << " by " << arity;
      if (arity == 0) continue;
      EXPECT_LT(cost.link_bytes, 1.2 * worker_link) << "a link carries k entries, however many workers are below";
      EXPECT_LT(cost.busiest_bytes, 1.2 * worker_link * arity) << "and nobody has more than so many of them";
    }
    const double link_exponent = exponent(workers_of, link), busiest_exponent = exponent(workers_of, busiest);
    std::printf("fit: bytes on a link ~ P^%.3f, into the busiest parent ~ P^%.3f\n", link_exponent, busiest_exponent);
    EXPECT_LT(std::abs(link_exponent), 0.05);
    if (arity == 0) {
      EXPECT_GT(busiest_exponent, 0.95) << "a star's aggregator takes them all";
    } else if (arity == 2) {  // four workers by four are a star yet
      EXPECT_LT(std::abs(busiest_exponent), 0.05);
    }
  }
}

}  // namespace
}  // namespace hourglass::testing_cluster
