// SPDX-License-Identifier: Apache-2.0
// Every kind of layer, alone and in the company that changes how it is computed, against its formula and its numeric gradient.
#include "learning/nn/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reference.h"

namespace hourglass::nn {
namespace {

struct Case {
  std::string spec;
  Shape input;
  std::size_t batch;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.spec << " on " << c.input.channels << " channels"; }

const Case kCases[] = {
    {"", {2, 3, 4}, 3},
    {"flatten", {3, 4, 5}, 2},
    {"relu", {3, 5, 4}, 2},
    {"relu", {7, 1, 1}, 1},
    {"pool 2", {3, 6, 6}, 2},
    {"pool 2", {1, 7, 5}, 1},
    {"pool 3", {20, 7, 8}, 3},
    {"conv 4", {1, 5, 5}, 1},
    {"conv 6 kernel=5 pad=2", {1, 9, 7}, 3},
    {"conv 3 kernel=5", {6, 7, 9}, 2},
    {"conv 17 kernel=3 pad=1", {16, 4, 4}, 2},
    {"conv 5 kernel=3 pad=1 stride=2", {3, 8, 7}, 2},
    {"conv 8 kernel=1", {9, 3, 3}, 1},
    {"conv 2 kernel=2 stride=3", {2, 9, 8}, 2},
    {"conv 4 kernel=3 pad=1 | relu", {2, 5, 5}, 2},
    {"conv 4 kernel=3 pad=1 | relu | pool 2", {2, 5, 6}, 2},
    {"conv 4 kernel=3 | pool 2 | relu", {2, 6, 6}, 2},
    {"conv 4 kernel=3 | relu | relu | pool 2 | pool 2", {1, 10, 10}, 1},
    {"conv 18 kernel=3 pad=1 | relu | pool 2 | conv 5 kernel=3 | relu | flatten", {3, 8, 8}, 2},
    {"pool 2 | conv 3 kernel=2 | flatten | relu", {2, 7, 7}, 3},
    {"fc 1", {1, 1, 1}, 1},
    {"fc 5", {7, 1, 1}, 1},
    {"fc 33", {19, 1, 1}, 17},
    {"fc 9 | relu", {11, 1, 1}, 4},
    {"fc 9 | relu | fc 6 | relu | fc 3", {5, 1, 1}, 3},
    {"relu | fc 4 | pool 1", {6, 1, 1}, 2},
    {"flatten | fc 6 | relu | fc 3", {2, 3, 3}, 5},
    {"fc 8 | conv 3 kernel=1 | relu | flatten | fc 2", {6, 1, 1}, 2},
    {"conv 6 kernel=5 pad=2 | relu | pool 2 | conv 16 kernel=5 | relu | pool 2 | flatten | fc 7 | relu | fc 4", {1, 12, 12}, 2},
};

class Layers : public testing::TestWithParam<Case> {
 protected:
  Layers()
      : stages_(GetParam().spec.empty() ? std::vector<SpecStage>() : *parse_spec(GetParam().spec)),
        network_(must_build(GetParam().spec, GetParam().input)),
        parameters_(random_floats(network_->parameter_count(), 1)),
        input_(random_floats(GetParam().batch * network_->input().size(), 2)),
        output_(GetParam().batch * network_->output().size(), std::nanf("")),
        seed_gradient_(random_floats(output_.size(), 3)) {}

  std::unique_ptr<Tape> forward() { return network_->forward(parameters_, input_, GetParam().batch, output_, true); }

  std::vector<SpecStage> stages_;
  std::unique_ptr<Network> network_;
  std::vector<float> parameters_, input_, output_, seed_gradient_;
};

TEST_P(Layers, forward_follows_the_formula) {
  const std::size_t in = network_->input().size();
  Doubles expected;
  for (std::size_t sample = 0; sample < GetParam().batch; ++sample) {
    const Doubles y =
        reference_forward(stages_, *network_, to_doubles(parameters_), to_doubles(std::span<const float>(input_).subspan(sample * in, in)));
    expected.insert(expected.end(), y.begin(), y.end());
  }
  EXPECT_NE(forward(), nullptr);
  EXPECT_LT(largest_error(output_, expected), 1e-5);
  std::fill(output_.begin(), output_.end(), std::nanf(""));
  EXPECT_EQ(network_->forward(parameters_, input_, GetParam().batch, output_, false), nullptr);
  EXPECT_LT(largest_error(output_, expected), 1e-5);
}

TEST_P(Layers, backward_is_the_numeric_gradient) {
  const ReferenceGradient expected =
      reference_gradient(stages_, *network_, to_doubles(parameters_), to_doubles(input_), GetParam().batch, to_doubles(seed_gradient_));
  std::vector<float> gradient(parameters_.size(), std::nanf("")), input_gradient(input_.size(), std::nanf(""));
  network_->backward(parameters_, *forward(), seed_gradient_, gradient, input_gradient);
  EXPECT_LT(largest_error(gradient, expected.parameters), 1e-5);
  EXPECT_LT(largest_error(input_gradient, expected.input), 1e-5);

  std::vector<float> alone(parameters_.size(), std::nanf(""));  // and without the input's gradient
  network_->backward(parameters_, *forward(), seed_gradient_, alone, {});
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), gradient.begin()));
}

TEST_P(Layers, repeats_bit_for_bit_at_any_alignment) {
  std::vector<float> gradient(parameters_.size()), input_gradient(input_.size());
  network_->backward(parameters_, *forward(), seed_gradient_, gradient, input_gradient);
  const std::vector<float> first = output_;

  const auto fresh = must_build(GetParam().spec, GetParam().input);
  const auto shifted = [](const std::vector<float>& values) {  // the same values, 4 bytes off any alignment
    std::vector<float> out(values.size() + 1);
    std::copy(values.begin(), values.end(), out.begin() + 1);
    return out;
  };
  const auto p = shifted(parameters_), x = shifted(input_), dy = shifted(seed_gradient_);
  std::vector<float> y(output_.size() + 1), dp(p.size()), dx(x.size());
  const auto tail = [](auto& values) { return std::span(values).subspan(1); };
  const auto tape = fresh->forward(tail(p), tail(x), GetParam().batch, tail(y), true);
  fresh->backward(tail(p), *tape, tail(dy), tail(dp), tail(dx));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), y.begin() + 1));
  EXPECT_TRUE(std::equal(gradient.begin(), gradient.end(), dp.begin() + 1));
  EXPECT_TRUE(std::equal(input_gradient.begin(), input_gradient.end(), dx.begin() + 1));
}

TEST_P(Layers, lays_out_weights_before_biases_without_holes) {
  std::size_t at = 0;
  bool biases = false;
  std::set<std::string> names;
  for (const Parameter& parameter : network_->parameters()) {
    EXPECT_EQ(parameter.offset, at);
    std::size_t size = 1;
    for (const auto extent : parameter.shape) size *= extent;
    EXPECT_EQ(parameter.size, size);
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    const bool bias = parameter.name.ends_with(".bias");
    EXPECT_TRUE(bias || parameter.name.ends_with(".weight"));
    EXPECT_TRUE(bias || !biases) << "a weight behind a bias";
    biases = biases || bias;
    at += parameter.size;
  }
  EXPECT_EQ(at, network_->parameter_count());
}

INSTANTIATE_TEST_SUITE_P(All, Layers, testing::ValuesIn(kCases));

TEST(BuildNetwork, every_kind_of_layer_has_a_case) {
  for (const LayerKind& kind : layer_kinds()) {
    EXPECT_FALSE(kind.help.empty());
    EXPECT_TRUE(std::any_of(std::begin(kCases), std::end(kCases), [&](const Case& c) {
      return c.spec.find(kind.name) != std::string::npos;
    })) << kind.name;
  }
}

TEST(BuildNetwork, names_layers_by_kind) {
  const auto network = must_build("conv 4 | relu | conv 5 | flatten | fc 6 | fc 7", {2, 8, 8});
  std::vector<std::string> names;
  for (const Parameter& parameter : network->parameters()) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv1.weight", "conv2.weight", "fc1.weight", "fc2.weight", "conv1.bias", "conv2.bias",
                                             "fc1.bias", "fc2.bias"}));
  EXPECT_EQ(network->parameters()[1].shape, (std::vector<std::uint32_t>{5, 4, 3, 3}));
  EXPECT_EQ(network->parameters()[2].shape, (std::vector<std::uint32_t>{6, 80}));
  EXPECT_EQ(network->output(), (Shape{7, 1, 1}));
  const auto rest = build_network(*parse_spec("fc 3 | relu | fc 2"), network->output(), 1, network.get());
  EXPECT_EQ((*rest)->parameters().front().name, "fc3.weight");
}

TEST(BuildNetwork, initialises_as_pytorch_does) {
  const auto network = must_build("conv 64 kernel=5 | flatten | fc 10", {4, 8, 8});
  std::vector<float> parameters(network->parameter_count());
  Random random(7);
  network->initialise(parameters, random);
  for (const Parameter& parameter : network->parameters()) {
    const double bound = 1 / std::sqrt(parameter.name.starts_with("conv") ? 4.0 * 25 : 64.0 * 16);
    double largest = 0, sum = 0;
    for (const float each : std::span(parameters).subspan(parameter.offset, parameter.size)) {
      largest = std::max<double>(largest, std::abs(each));
      sum += each;
    }
    EXPECT_LE(largest, bound * 1.00001) << parameter.name;
    EXPECT_GT(largest, bound * 0.7) << parameter.name;
    EXPECT_LT(std::abs(sum), 5 * bound * std::sqrt(static_cast<double>(parameter.size) / 3)) << parameter.name;
  }
  std::vector<float> again(parameters.size());
  Random same(7);
  network->initialise(again, same);
  EXPECT_EQ(parameters, again);
}

TEST(BuildNetwork, names_the_stage_that_is_wrong) {
  const auto error = [](std::string_view spec, Shape input, std::uint32_t threads = 1) {
    const auto network = build_network(*parse_spec(spec), input, threads);
    EXPECT_FALSE(network) << spec;
    return network.ok() ? std::string() : std::string(name_of(network.error().code)) + ": " + network.error().text;
  };
  const Shape image{3, 8, 8};
  EXPECT_NE(error("conv 4 | rellu", image).find("stage 2 of 'conv 4 | rellu': no layer 'rellu', did you mean 'relu'?"), std::string::npos);
  EXPECT_NE(error("warp", image).find("layers: conv relu pool flatten fc"), std::string::npos);
  EXPECT_NE(error("conv", image).find("conv needs its number of output channels"), std::string::npos);
  EXPECT_NE(error("conv 4 kernel=9", image).find("kernel=9 is larger"), std::string::npos);
  EXPECT_NE(error("conv 4 kernel=3 pad=3", image).find("pad=3"), std::string::npos);
  EXPECT_NE(error("conv 4 size=3", image).find("no option 'size'"), std::string::npos);
  EXPECT_NE(error("conv 4 | relu 3", image).find("stage 2"), std::string::npos);
  EXPECT_NE(error("pool 9", image).find("larger than its input of 3x8x8"), std::string::npos);
  EXPECT_NE(error("fc 10", image).find("put 'flatten' before it"), std::string::npos);
  EXPECT_NE(error("fc 0", {4, 1, 1}).find("fc: number of outputs=0"), std::string::npos);
  EXPECT_NE(error("flatten | fc 1048576 | fc 1048576", image).find("too large"), std::string::npos);
  EXPECT_NE(error("conv 65536 kernel=1", {1, 4096, 4096}).find("too large"), std::string::npos);
  EXPECT_NE(error("relu", {0, 1, 1}).find("out of range"), std::string::npos);
  EXPECT_NE(error("relu", {1U << 31, 1U << 31, 4}).find("out of range"), std::string::npos);
  EXPECT_NE(error("relu", image, 0).find("threads"), std::string::npos);
  EXPECT_EQ(error("relu", image, 0).rfind("bad_config", 0), 0U);
}

}  // namespace
}  // namespace hourglass::nn
