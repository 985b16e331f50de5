// SPDX-License-Identifier: Apache-2.0
// The anchor test over real sockets and processes: tests/simulation/equality_test.cc explains it.
#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "learning/nn/safetensors.h"
#include "services/hosting/text_file.h"
#include "tests/integration/program.h"

namespace hourglass::integration {
namespace {

std::vector<float> parameters_of(const std::string& file) {
  const auto text = read_text(file);
  EXPECT_TRUE(text) << file;
  std::vector<float> out;
  if (!text) return out;
  const auto tensors = nn::read_safetensors(as_span(*text));
  EXPECT_TRUE(tensors.ok());
  if (!tensors.ok()) return out;
  for (const nn::Tensor& tensor : tensors->tensors) out.insert(out.end(), tensor.values.begin(), tensor.values.end());
  return out;
}

class Equality : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Equality, SynchronousProcessesEqualOneProcessAfterFiftySteps) {
  const auto& [model, rate] = GetParam();
  const std::string folder = fresh_folder(std::string("equality_") + model);
  const std::vector<std::string> job = {
      "--dataset", "synthetic", "--model", model,   "--learning-rate",     rate,          "--schedule", "constant", "--batch", "16",
      "--samples", "1600",      "--json",  "--set", "train.outstanding=1", "--optimizer", "sgd"};
  std::vector<std::string> cluster = {"train", "--staleness",    "0",         "--conv-workers", "2", "--fc-workers",
                                      "1",     "--no-dashboard", "--run-dir", folder + "/run"};
  cluster.insert(cluster.end(), job.begin(), job.end());
  Program train(HOURGLASS_PROGRAM, cluster, folder);
  ASSERT_EQ(train.wait(), 0) << train.errors();
  std::vector<std::string> single = {"solo", "--conv-workers", "2", "--run-dir", folder + "/solo"};
  single.insert(single.end(), job.begin(), job.end());
  Program solo(HOURGLASS_PROGRAM, single, fresh_folder(std::string("equality_solo_") + model));
  ASSERT_EQ(solo.wait(), 0) << solo.errors();
  const auto distributed = parameters_of(folder + "/run/model.safetensors"), alone = parameters_of(folder + "/solo/model.safetensors");
  ASSERT_EQ(distributed.size(), alone.size());
  ASSERT_FALSE(alone.empty());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    difference += (double{distributed[i]} - alone[i]) * (double{distributed[i]} - alone[i]);
    norm += double{alone[i]} * alone[i];
  }
  RecordProperty("relative_distance", std::to_string(std::sqrt(difference / norm)));
  EXPECT_LE(std::sqrt(difference / norm), 1e-6);
  const auto result = nlohmann::json::parse(train.output());
  EXPECT_EQ(result["versions"]["fc"], 50);
  EXPECT_EQ(result["staleness"]["max"], 1);
}

INSTANTIATE_TEST_SUITE_P(Models, Equality, testing::Values(std::pair("cnn", "0.0005"), std::pair("lenet5", "0.002")),
                         [](const auto& row) { return std::string(row.param.first); });

}  // namespace
}  // namespace hourglass::integration
