// SPDX-License-Identifier: Apache-2.0
#include "learning/params/take_policy.h"

#include <gtest/gtest.h>

#include <map>

#include "learning/params/apply_policy.h"
#include "learning/params/parameter_store.h"
#include "learning/params/replica.h"

namespace hourglass::params {
namespace {

compress::ErrorFeedback dense() { return compress::ErrorFeedback::make("dense", {{0, 1, true, 0}}, 1).value(); }

/// One fragment of a model of one weight, as torchft trains it: two equal replicas, and a server with an outer learning rate of 2.
class Fragment {
 public:
  explicit Fragment(double alpha) : store_({1}, dense(), outer()) {
    for (Replica& replica : replicas_) replica.mix(alpha);
  }
  void local_step() {
    for (Replica& replica : replicas_) replica.step(std::vector<float>{-2});  // rate 1, gradient 2
  }
  void take_pseudo_gradient() {
    for (Replica& replica : replicas_) pushes_.push_back(replica.push(clock_, false, false).value());
  }
  void synchronise() {
    for (const auto& blocks : pushes_) store_.apply(blocks, 0.5F);
    pushes_.clear();
    store_.publish();
    ParameterUpdate update;
    update.absolute = true;
    update.applied_clock = clock_ + 1;
    update.deltas.push_back(store_.absolute());
    for (Replica& replica : replicas_) {
      replica.settle(clock_, Verdict::applied);
      ASSERT_TRUE(replica.absorb(update).ok());
    }
    ++clock_;
  }
  [[nodiscard]] double local() const {
    EXPECT_EQ((*replicas_[0].working())[0], (*replicas_[1].working())[0]);
    return (*replicas_[0].working())[0];
  }

 private:
  static std::unique_ptr<ServerRule> outer() {
    Job job;
    job.apply_policy = "outer size=2 rate=2";
    return std::move(make_apply_policy(job, 1)->rule);
  }
  Replica replicas_[2] = {Replica({1}, dense()), Replica({1}, dense())};
  ParameterStore store_;
  std::vector<std::vector<GradientBlock>> pushes_;
  std::uint64_t clock_ = 0;
};

struct History {
  std::vector<double> first, second;
};

/// 16 rows; one fragment after the other is synchronised every 3 steps. `delay`: steps between the pseudo-gradient and its synchronisation.
History run(double alpha, int delay) {
  Fragment fragments[2] = {Fragment(alpha), Fragment(alpha)};
  History out;
  for (int step = 0; step < 16; ++step) {
    if (step > 0) {
      for (Fragment& fragment : fragments) fragment.local_step();
      if ((step + delay) % 3 == 0) fragments[((step + delay) / 3 - 1) % 2].take_pseudo_gradient();
      if (step % 3 == 0) fragments[(step / 3 - 1) % 2].synchronise();
    }
    out.first.push_back(fragments[0].local());
    out.second.push_back(fragments[1].local());
  }
  return out;
}

/// The fixtures' closed form, written for one fragment at a time.
std::vector<double> closed_form(int fragment, double alpha, int delay) {
  double local = 1, outer = 1, snapshot = 1;
  std::vector<double> rows = {local};
  for (int step = 1; step < 16; ++step) {
    local -= 2;
    if (delay > 0 && (step + delay) % 3 == 0 && ((step + delay) / 3 - 1) % 2 == fragment) snapshot = local;
    if (step % 3 == 0 && (step / 3 - 1) % 2 == fragment) {
      outer -= 2 * (outer - (delay > 0 ? snapshot : local));
      local = alpha * local + (1 - alpha) * outer;
    }
    rows.push_back(local);
  }
  return rows;
}

TEST(TakePolicy, A3_LocalSgdGivesTorchftsHistories) {
  const std::map<std::pair<double, int>, std::pair<double, double>> ends = {
      {{0, 0}, {-59, -53}}, {{0.5, 0}, {-40.25, -38}}, {{1, 0}, {-29, -29}},
      {{0, 1}, {-47, -45}}, {{0.5, 1}, {-35.75, -35}}, {{1, 1}, {-29, -29}},
  };
  for (const auto& [setting, end] : ends) {
    const auto& [alpha, delay] = setting;
    const History history = run(alpha, delay);
    EXPECT_EQ(history.first.back(), end.first) << alpha << ' ' << delay;
    EXPECT_EQ(history.second.back(), end.second) << alpha << ' ' << delay;
    EXPECT_EQ(history.first, closed_form(0, alpha, delay)) << alpha << ' ' << delay;
    EXPECT_EQ(history.second, closed_form(1, alpha, delay)) << alpha << ' ' << delay;
  }
  const History plain = run(0, 0);
  EXPECT_EQ(std::vector<double>(plain.first.begin(), plain.first.begin() + 10),
            (std::vector<double>{1, -1, -3, -11, -13, -15, -17, -19, -21, -35}));
  EXPECT_EQ(std::vector<double>(plain.second.begin(), plain.second.begin() + 8), (std::vector<double>{1, -1, -3, -5, -7, -9, -23, -25}));
}

TEST(TakePolicy, RefusesWhatWouldBeSentTwice) {
  Job job;
  job.take_policy = "mix";
  EXPECT_NE(check_take_policy(job).error().text.find("train.staleness = 0"), std::string::npos);
  job.staleness = 0;
  EXPECT_TRUE(check_take_policy(job).ok());
  job.compress = "topk ratio=0.1";
  EXPECT_NE(check_take_policy(job).error().text.find("bytes.compress = \"dense\""), std::string::npos);
  job.compress = "dense";
  job.server = "amsgrad";
  EXPECT_NE(check_take_policy(job).error().text.find("train.server = \"add\""), std::string::npos);
  EXPECT_FALSE(parse_take_policy("mix alpha=2").ok());
  EXPECT_FALSE(parse_take_policy("mixx").ok());
  EXPECT_FALSE(parse_take_policy("keep")->has_value());
}

}  // namespace
}  // namespace hourglass::params
