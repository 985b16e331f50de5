// SPDX-License-Identifier: Apache-2.0
// The anchor of the whole system: a synchronous, uncompressed cluster is the single-process trainer on the concatenated batch.
#include <gtest/gtest.h>

#include <cmath>

#include "services/solo/solo_trainer.h"
#include "tests/simulation/cluster.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

struct Case {
  const char* name;
  const char* model;
  std::uint32_t conv, fc;
  const char* optimizer;
  double learning_rate;  ///< calm enough that training does not amplify the last bit of its sums: at 0.05 it does, within 20 steps
  double weight_decay;
  bool uneven = false;      ///< links of uneven speed
  std::uint32_t extra = 0;  ///< batches of a last round that is not for everybody
  const char* server = "add";
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Job job_of(const Case& c) {
  Job job = small_job();
  job.model = c.model;
  job.conv_workers = c.conv;
  job.fc_workers = c.fc;
  job.optimizer = c.optimizer;
  job.server = c.server;
  job.schedule = "constant";
  job.learning_rate = c.learning_rate;
  job.weight_decay = c.weight_decay;
  job.staleness = 0;
  job.outstanding = 1;
  job.batch = 16;
  job.samples = (std::uint64_t{50} * c.conv + c.extra) * job.batch;
  return job;
}

// The sums of both sides differ in their last bits. Where an activation lies that close to a kink (a ReLU at 0, two equal values in a pool)
// the gradient jumps, and the jump stays; so the rates here are small, and the tolerance holds for paths without a jump of note.
/// ||a - b|| / ||b||
double relative_distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(difference / norm);
}

class Equality : public testing::TestWithParam<Case> {};

TEST_P(Equality, SynchronousClusterEqualsOneProcessAfterFiftySteps) {
  ClusterOptions options;
  options.job = job_of(GetParam());
  if (GetParam().uneven) options.network.link.jitter = 60ms;
  Cluster cluster(options);
  if (GetParam().uneven) {  // the roster with the last CONV worker reaches the FC worker long after that one's batches
    sim::Link slow;
    slow.latency = 900ms;
    cluster.reactor().network().set_link(kAggregator, cluster.id(Role::fc_worker, 0), slow);
    cluster.reactor().crash(cluster.id(Role::conv_worker, 0));
    cluster.reactor().run_for(5s);
    cluster.add(Role::conv_worker);
  }
  ASSERT_TRUE(cluster.finish());
  const std::vector<float> distributed = cluster.parameters();

  const auto train = data::load_dataset("synthetic", "", data::Split::train, options.job.seed);
  const auto test = data::load_dataset("synthetic", "", data::Split::test, options.job.seed);
  ASSERT_TRUE(train.ok() && test.ok());
  auto solo = SoloTrainer::make(options.job, *train, *test, options.job.conv_workers);
  ASSERT_TRUE(solo.ok()) << solo.error().text;
  while (solo->step()) {
  }
  EXPECT_EQ(solo->steps(), GetParam().extra == 0 ? 50U : 51U);
  std::vector<float> single = solo->conv();
  single.insert(single.end(), solo->fc().begin(), solo->fc().end());
  ASSERT_EQ(distributed.size(), single.size());
  const double distance = relative_distance(distributed, single);
  RecordProperty("relative_distance", std::to_string(distance));
  EXPECT_LE(distance, 1e-6);
  // Not trivially: training has moved the parameters far from where they began.
  Job untrained = options.job;
  untrained.learning_rate = 0;
  auto start = SoloTrainer::make(untrained, *train, *test, 1);
  ASSERT_TRUE(start.ok());
  std::vector<float> initial = start->conv();
  initial.insert(initial.end(), start->fc().begin(), start->fc().end());
  EXPECT_GT(relative_distance(initial, single), 1e-4);
  EXPECT_EQ(cluster.result()["staleness"]["max"].get<std::uint64_t>() + 1, options.job.conv_workers);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Equality,
    testing::Values(Case{"cnn", "cnn", 2, 1, "sgd", 0.0005, 0}, Case{"lenet5", "lenet5", 2, 1, "sgd momentum=0.9", 0.01, 1e-4},
                    Case{"lenet5_nesterov_three_workers", "lenet5", 3, 1, "sgd momentum=0.9 nesterov=1", 0.003, 1e-4},
                    Case{"lenet5_two_fc", "lenet5", 2, 2, "sgd", 0.005, 0},
                    Case{"lenet5_uneven_links", "lenet5", 2, 1, "sgd", 0.005, 0, true},
                    Case{"lenet5_uneven_links_three_workers", "lenet5", 3, 1, "sgd", 0.005, 0, true},
                    Case{"lenet5_whole_partial_last_round", "lenet5", 3, 0, "sgd", 0.01, 0, false, 2},
                    Case{"lenet5_partial_last_round", "lenet5", 2, 1, "sgd", 0.005, 0, false, 1},
                    Case{"lenet5_whole", "lenet5", 2, 0, "sgd momentum=0.9", 0.01, 1e-4},
                    Case{"comp_ams", "lenet5", 2, 1, "sgd", 2e-5, 1e-4, false, 0, "amsgrad"},
                    Case{"comp_ams_whole", "lenet5", 2, 0, "sgd", 2e-5, 0, false, 0, "amsgrad"},
                    Case{"comp_ams_two_fc", "lenet5", 4, 2, "sgd", 2e-5, 0, false, 0, "amsgrad"},
                    Case{"server_momentum", "lenet5", 2, 1, "sgd", 0.01, 1e-4, false, 0, "sgd momentum=0.9"},
                    Case{"one_bit_adam", "lenet5", 2, 0, "sgd", 1e-5, 0, false, 0, "one_bit_adam warmup=20 eps=0.0001"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace hourglass::testing_cluster
