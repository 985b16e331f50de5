// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "services/solo/solo_trainer.h"

namespace hourglass {
namespace {

Job small_job() {
  Job job;
  job.dataset = "synthetic";
  job.model = "lenet5";
  const auto row = data::find_dataset(job.dataset);
  EXPECT_TRUE(row.ok());
  job.channels = row.value()->channels;
  job.height = row.value()->height;
  job.width = row.value()->width;
  job.classes = row.value()->classes;
  job.batch = 16;
  job.samples = 1600;
  return job;
}

class Solo : public ::testing::Test {
 protected:
  Solo() : train_(load(data::Split::train)), test_(load(data::Split::test)) {}
  static data::Dataset load(data::Split split) {
    auto loaded = data::load_dataset("synthetic", "", split, 1);
    EXPECT_TRUE(loaded.ok());
    return std::move(loaded).value();
  }
  SoloTrainer make(const Job& job, std::uint32_t workers) {
    auto trainer = SoloTrainer::make(job, train_, test_, workers);
    EXPECT_TRUE(trainer.ok());
    return std::move(trainer).value();
  }
  data::Dataset train_, test_;
};

TEST_F(Solo, LearnsTheSyntheticSet) {
  SoloTrainer trainer = make(small_job(), 2);
  const auto before = evaluate(trainer.model(), trainer.conv(), trainer.fc(), **data::find_dataset("synthetic"), test_);
  ASSERT_TRUE(before.ok());
  while (trainer.step()) {
  }
  EXPECT_TRUE(trainer.finished());
  EXPECT_EQ(trainer.progress().samples_done, 1600U);
  EXPECT_EQ(trainer.steps(), 50U);
  ASSERT_FALSE(trainer.history().empty());
  const HistoryRow& last = trainer.history().back();
  EXPECT_EQ(last.samples, 1600U);
  EXPECT_GT(last.accuracy, before.value().accuracy + 0.3);
  EXPECT_LT(last.loss, before.value().loss);
  const auto after = evaluate(trainer.model(), trainer.conv(), trainer.fc(), **data::find_dataset("synthetic"), test_);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after.value().accuracy, last.accuracy);
  EXPECT_NEAR(after.value().loss, last.loss, 1e-6 * std::abs(last.loss));
  EXPECT_FALSE(trainer.step());
}

TEST_F(Solo, IsTheSameEachTime) {
  Job job = small_job();
  job.samples = 200;
  SoloTrainer first = make(job, 2);
  SoloTrainer second = make(job, 2);
  while (first.step()) {
  }
  while (second.step()) {
  }
  EXPECT_EQ(first.conv(), second.conv());
  EXPECT_EQ(first.fc(), second.fc());
  job.seed = 2;
  SoloTrainer third = make(job, 2);
  while (third.step()) {
  }
  EXPECT_NE(first.conv(), third.conv());
}

TEST_F(Solo, TwoWorkersAreOneWithTwiceTheBatch) {
  Job job = small_job();
  job.samples = 320;
  job.schedule = "constant";  // others look at the progress of each batch, and there are twice as many
  SoloTrainer two = make(job, 2);
  job.batch = 32;
  SoloTrainer one = make(job, 1);
  while (two.step()) {
  }
  while (one.step()) {
  }
  EXPECT_EQ(two.steps(), one.steps());
  EXPECT_EQ(two.conv(), one.conv());
  EXPECT_EQ(two.fc(), one.fc());
}

TEST_F(Solo, WhereTheModelIsCutChangesNothing) {
  Job job = small_job();
  job.samples = 160;
  SoloTrainer cut = make(job, 1);
  job.fc_workers = 0;
  SoloTrainer whole = make(job, 1);
  while (cut.step()) {
  }
  while (whole.step()) {
  }
  EXPECT_EQ(whole.fc().size(), 0U);
  EXPECT_EQ(whole.conv().size(), cut.conv().size() + cut.fc().size());
  EXPECT_NEAR(cut.history().back().loss, whole.history().back().loss, 1e-4);
}

TEST_F(Solo, EvaluatesInBetween) {
  Job job = small_job();
  job.samples = 640;
  job.evaluate_every = 160;
  SoloTrainer trainer = make(job, 2);
  while (trainer.step()) {
  }
  ASSERT_EQ(trainer.history().size(), 4U);
  EXPECT_EQ(trainer.history()[0].samples, 160U);
  EXPECT_EQ(trainer.history()[3].samples, 640U);
}

TEST_F(Solo, RefusesParametersThatDoNotFit) {
  const SoloTrainer trainer = make(small_job(), 1);
  EXPECT_FALSE(evaluate(trainer.model(), trainer.fc(), trainer.conv(), **data::find_dataset("synthetic"), test_).ok());
}

}  // namespace
}  // namespace hourglass
