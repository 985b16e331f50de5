// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/layers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hourglass {
namespace {

ActorState actor(Role role, std::uint32_t index, std::vector<MetricValue> values) {
  ActorState out;
  out.id = {role, index};
  out.presence = Presence::active;
  out.metrics = std::make_shared<const std::vector<MetricValue>>(std::move(values));
  return out;
}

TEST(Layers, AreMeansOverTheWorkersThatReportThem) {
  DashboardState state;
  state.actors.push_back(actor(Role::conv_worker, 1, {{"layer.conv1.weight.density", 0.01}, {"layer.conv1.weight.bits", 0.2}}));
  state.actors.push_back(actor(Role::conv_worker, 2, {{"layer.conv1.weight.density", 0.03}, {"layer.conv1.weight.residual", 4}}));
  state.actors.push_back(actor(Role::fc_worker, 3, {{"layer.fc1.weight.entropy", 0.5}}));
  const auto layers = layers_of(state);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].name, "conv1.weight");
  EXPECT_EQ(layers[0].workers, 2U);
  EXPECT_DOUBLE_EQ(layers[0].density, 0.02);
  EXPECT_DOUBLE_EQ(layers[0].bits, 0.2);
  EXPECT_DOUBLE_EQ(layers[0].residual, 4);
  EXPECT_TRUE(std::isnan(layers[0].entropy));
  EXPECT_EQ(layers[1].name, "fc1.weight");
  EXPECT_EQ(layers[1].entropy, 0.5);
}

TEST(Layers, OfThoseWhoAreGoneCountOnlyAtTheEnd) {
  DashboardState state;
  state.actors.push_back(actor(Role::conv_worker, 1, {{"layer.a.bits", 1}, {"layers_left_out", 3}}));
  state.actors[0].presence = Presence::gone;
  EXPECT_TRUE(layers_of(state).empty());
  EXPECT_EQ(layers_left_out(state), 0U);
  state.closed = true;
  EXPECT_EQ(layers_of(state).size(), 1U);
  EXPECT_EQ(layers_left_out(state), 3U);
}

TEST(Layers, ComeInTheOrderThatPeopleCount) {
  DashboardState state;
  std::vector<MetricValue> values;
  for (const char* name : {"conv10.weight", "conv2.weight", "conv1.bias +9", "conv01.weight", "conv1.weight", "conv"}) {
    values.push_back({"layer." + std::string(name) + ".bits", 1});
  }
  state.actors.push_back(actor(Role::conv_worker, 1, values));
  std::vector<std::string> names;
  for (const LayerState& layer : layers_of(state)) names.push_back(layer.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv", "conv1.bias +9", "conv01.weight", "conv1.weight", "conv2.weight", "conv10.weight"}));
}

TEST(Layers, HostileReportsStayBounded) {
  DashboardState state;
  std::vector<MetricValue> values = {{"layer.", 1}, {"layer..bits", 1}, {"layer.bits", 1}, {"layer.x.other", 1}};
  for (int i = 0; i < 500; ++i) values.push_back({"layer.<b>" + std::to_string(i) + ".density", i % 2 == 0 ? 1e300 : -1e300});
  state.actors.push_back(actor(Role::conv_worker, 1, values));
  state.actors.push_back(actor(Role::monitor, 2, {{"layer.no_worker.bits", 1}}));
  const auto layers = layers_of(state);
  EXPECT_EQ(layers.size(), kLayersShown);
  for (const LayerState& layer : layers) {
    EXPECT_TRUE(layer.name.starts_with("<b>")) << layer.name;
    EXPECT_TRUE(layer.density == 0 || layer.density == 1);
  }
}

}  // namespace
}  // namespace hourglass
