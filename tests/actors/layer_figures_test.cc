// SPDX-License-Identifier: Apache-2.0
#include "actors/layer_figures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/actors/monitor_bench.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

/// Two matrices and two biases, which are one range.
const std::vector<nn::Parameter> kParameters = {{"conv1.weight", {32, 64}, 0, 2048},
                                                {"fc1.weight", {64, 64}, 2048, 4096},
                                                {"conv1.bias", {32}, 6144, 32},
                                                {"fc1.bias", {64}, 6176, 64}};
constexpr std::size_t kSize = 6240;

class LayerFiguresTest : public testing::Test {
 protected:
  explicit LayerFiguresTest(const char* spec = "topk ratio=0.01 | f32 | raw")
      : segments_(segments_of(kParameters)),
        replica_(std::vector<float>(kSize), std::move(*compress::ErrorFeedback::make(spec, segments_, kSize))),
        figures_(kParameters, segments_) {}

  void push(float scale = 1) {
    std::vector<float> step(kSize);
    for (std::size_t i = 0; i < kSize; ++i) step[i] = scale * static_cast<float>(i % 97 + 1);
    replica_.step(step);
    figures_.look(context_, replica_);
    ASSERT_TRUE(replica_.push(clock_, false, false).ok());
    figures_.pushed(context_, replica_);
    replica_.settle(clock_++, Verdict::applied);
  }
  [[nodiscard]] bool reported(const std::string& name) const { return context_.metrics().contains(name); }

  MonitorBench context_{nullptr};
  std::vector<compress::Segment> segments_;
  params::Replica replica_;
  LayerFigures figures_;
  std::uint64_t clock_ = 0;
};

class LosslessLayersTest : public LayerFiguresTest {
 protected:
  LosslessLayersTest() : LayerFiguresTest("dense") {}
};

TEST_F(LayerFiguresTest, NamesAreThoseOfTheTensors) {
  EXPECT_EQ(layer_names(kParameters, segments_), (std::vector<std::string>{"conv1.weight", "fc1.weight", "conv1.bias +1"}));
}

TEST_F(LayerFiguresTest, DensityBitsResidualAndEntropyOfAPush) {
  push();
  EXPECT_DOUBLE_EQ(context_.metric("layer.conv1.weight.density"), 21.0 / 2048);  // ceil(1 %)
  EXPECT_DOUBLE_EQ(context_.metric("layer.fc1.weight.density"), 41.0 / 4096);
  EXPECT_DOUBLE_EQ(context_.metric("layer.conv1.weight.bits"), 21.0 * 64 / 2048);  // u32 index and f32
  EXPECT_DOUBLE_EQ(context_.metric("layer.conv1.bias +1.density"), 1);
  EXPECT_DOUBLE_EQ(context_.metric("layer.conv1.bias +1.bits"), 16);  // dense in bf16
  double sum = 0;
  for (const float value : replica_.residual().first(2048)) sum += double{value} * double{value};
  EXPECT_GT(sum, 0);
  EXPECT_DOUBLE_EQ(context_.metric("layer.conv1.weight.residual"), std::sqrt(sum));
  EXPECT_GT(context_.metric("layer.conv1.weight.entropy"), 0.9);  // magnitudes are spread alike over the layer
  EXPECT_LE(context_.metric("layer.conv1.weight.entropy"), 1);
}

TEST_F(LayerFiguresTest, EntropyFallsWhereOneStretchHasItAll) {
  std::vector<float> step(kSize);
  step[5] = 1;
  replica_.step(step);
  figures_.look(context_, replica_);
  ASSERT_TRUE(replica_.push(0, false, false).ok());
  figures_.pushed(context_, replica_);
  EXPECT_TRUE(reported("layer.conv1.weight.entropy"));
  EXPECT_EQ(context_.metric("layer.conv1.weight.entropy"), 0);
  EXPECT_FALSE(reported("layer.fc1.weight.entropy")) << "zeros say nothing";
  EXPECT_EQ(context_.metric("layer.fc1.weight.density"), 0);
}

TEST_F(LayerFiguresTest, PushesOfASecondAreOneMean) {
  push();
  const double residual = context_.metric("layer.fc1.weight.residual");
  context_.advance(400ms);
  push();
  EXPECT_EQ(context_.metric("layer.fc1.weight.residual"), residual) << "not looked at again within a second";
  context_.advance(700ms);
  push(0);
  EXPECT_NE(context_.metric("layer.fc1.weight.residual"), residual);
  EXPECT_DOUBLE_EQ(context_.metric("layer.fc1.weight.density"), 41.0 / 4096);  // two pushes, 82 entries
}

TEST_F(LosslessLayersTest, NothingIsSaidOfDensePushes) {
  push();
  for (const auto& [name, value] : context_.metrics()) EXPECT_FALSE(name.starts_with("layer")) << name;
}

TEST(LayerFigures, OfVeryManyLayersTheFirstAreReported) {
  std::vector<nn::Parameter> parameters;
  for (std::uint32_t i = 0; i < 100; ++i) parameters.push_back({"conv" + std::to_string(i) + ".weight", {32, 32}, i * 1024UL, 1024});
  const auto segments = segments_of(parameters);
  params::Replica replica(std::vector<float>(102400), std::move(*compress::ErrorFeedback::make("topk", segments, 102400)));
  LayerFigures figures(parameters, segments);
  MonitorBench context(nullptr);
  replica.step(std::vector<float>(102400, 1.0F));
  figures.look(context, replica);
  ASSERT_TRUE(replica.push(0, false, false).ok());
  figures.pushed(context, replica);
  EXPECT_EQ(context.metrics().size(), 4 * LayerFigures::kLayersMax + 1);
  EXPECT_EQ(context.metric("layers_left_out"), 100.0 - LayerFigures::kLayersMax);
}

}  // namespace
}  // namespace hourglass
