// SPDX-License-Identifier: Apache-2.0
#include "actors/samples.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

Job synthetic_job() {
  Job job;
  job.dataset = "synthetic";
  return job;
}

/// Another seed makes other samples.
DatasetSource source(std::uint64_t seed) {
  return [seed](std::string_view name, data::Split split, std::uint64_t) { return data::load_dataset(name, "", split, seed); };
}

Batch batch_of(Mode mode, std::vector<std::uint32_t> ids) {
  Batch batch;
  batch.mode = mode;
  batch.ids = std::move(ids);
  return batch;
}

TEST(Samples, WhatWasStrippedIsRestored) {
  const Samples samples = Samples::load(source(1), synthetic_job()).value();
  for (const Mode mode : {Mode::train, Mode::evaluate}) {
    Batch sent = batch_of(mode, {5, 0, 17, 5});
    ASSERT_TRUE(samples.gather(sent).ok());
    EXPECT_EQ(sent.images.size(), 4 * samples.split(mode).sample_bytes());
    EXPECT_EQ(sent.labels[1], samples.split(mode).label(0));
    Batch stripped = sent;
    Samples::strip(stripped);
    EXPECT_TRUE(stripped.images.empty());
    EXPECT_TRUE(stripped.labels.empty());
    ASSERT_TRUE(samples.restore(stripped).ok());
    EXPECT_EQ(stripped.images, sent.images);
    EXPECT_EQ(stripped.labels, sent.labels);
    EXPECT_EQ(stripped.mean, sent.mean);
    EXPECT_EQ(stripped.deviation, sent.deviation);
  }
}

TEST(Samples, AnotherDatasetIsNoticed) {
  const Samples here = Samples::load(source(1), synthetic_job()).value();
  const Samples there = Samples::load(source(2), synthetic_job()).value();
  Batch batch = batch_of(Mode::train, {1, 2, 3});
  ASSERT_TRUE(there.gather(batch).ok());
  Samples::strip(batch);
  const Status restored = here.restore(batch);
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code, Errc::bad_data);
  EXPECT_NE(restored.error().text.find("data.local"), std::string::npos);
}

TEST(Samples, RefusesWhatItDoesNotHave) {
  const Samples samples = Samples::load(source(1), synthetic_job()).value();
  Batch beyond = batch_of(Mode::evaluate, {static_cast<std::uint32_t>(samples.split(Mode::evaluate).size())});
  EXPECT_EQ(samples.gather(beyond).error().code, Errc::bad_data);
  EXPECT_TRUE(beyond.images.empty());

  Job other = synthetic_job();
  other.width = 29;
  const auto described = Samples::load(source(1), other);
  ASSERT_FALSE(described.ok());
  EXPECT_EQ(Samples::exit_code_of(described.error()), ExitCode::protocol);
  other.dataset = "no_such";
  EXPECT_EQ(Samples::exit_code_of(Samples::load(source(1), other).error()), ExitCode::config);
  const auto absent = Samples::load(
      [](std::string_view, data::Split, std::uint64_t) -> Result<data::Dataset> {
        return {Errc::bad_data, "no file"};
      },
      synthetic_job());
  EXPECT_EQ(Samples::exit_code_of(absent.error()), ExitCode::missing_data);
}

}  // namespace
}  // namespace hourglass
