// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/model.h"

#include <gtest/gtest.h>

#include <map>

#include "learning/nn/loss.h"
#include "reference.h"

namespace hourglass::nn {
namespace {

TEST(Models, WhatEndsInAReluIsRectified) {
  const auto ends = [](std::string_view text) { return ends_rectified(parse_model(text, {1, 28, 28}, 10, true)->conv); };
  EXPECT_TRUE(ends("cnn"));
  EXPECT_TRUE(ends("lenet5"));
  EXPECT_FALSE(ends("mlp")) << "pixels, not activations";
  EXPECT_TRUE(ends("conv 4 kernel=3 | pool 2 | relu | flatten | cut | fc"));
  EXPECT_FALSE(ends("conv 4 kernel=3 | relu | conv 4 kernel=3 | pool 2 | flatten | cut | fc"));
}

constexpr Shape kGrey{1, 28, 28}, kColour{3, 32, 32};

struct Expected {
  std::string name;
  Shape input;
  std::size_t conv, fc;
  Shape cut;
};
std::ostream& operator<<(std::ostream& out, const Expected& expected) { return out << expected.name; }

const Expected kExpected[] = {
    {"cnn", kGrey, 832 + 51264, 3136 * 1024 + 1024 + 10250, {3136, 1, 1}},
    {"lenet5", kGrey, 156 + 2416, 400 * 120 + 120 + 120 * 84 + 84 + 850, {400, 1, 1}},
    {"cifar_cnn", kColour, 448 + 4640 + 18496, 1024 * 128 + 128 + 1290, {1024, 1, 1}},
    {"mlp", kGrey, 0, 784 * 256 + 256 + 256 * 128 + 128 + 1290, {784, 1, 1}},
};

Model must_build_model(std::string_view text, Shape input, bool cut) {
  auto model = build_model(text, input, 10, cut);
  return std::move(model).value();
}

/// Parameter values by name, of both parts.
std::map<std::string, std::vector<float>> by_name(const Model& model, const std::vector<float>& conv, const std::vector<float>& fc) {
  std::map<std::string, std::vector<float>> out;
  const auto add = [&](const Network* network, const std::vector<float>& values) {
    if (network == nullptr) return;
    for (const Parameter& p : network->parameters()) {
      const auto part = std::span(values).subspan(p.offset, p.size);
      out[p.name] = {part.begin(), part.end()};
    }
  };
  add(model.conv.get(), conv);
  add(model.fc.get(), fc);
  return out;
}

class Registry : public testing::TestWithParam<Expected> {};

TEST_P(Registry, has_the_shapes_and_counts_of_its_description) {
  const Expected& expected = GetParam();
  const Model model = must_build_model(expected.name, expected.input, true);
  EXPECT_EQ(model.conv->parameter_count(), expected.conv);
  EXPECT_EQ(model.fc->parameter_count(), expected.fc);
  EXPECT_EQ(model.conv->output(), expected.cut);
  EXPECT_EQ(model.fc->input(), expected.cut);
  EXPECT_EQ(model.fc->output(), (Shape{10, 1, 1}));
  const Model whole = must_build_model(expected.name, expected.input, false);
  EXPECT_EQ(whole.fc, nullptr);
  EXPECT_EQ(whole.conv->parameter_count(), expected.conv + expected.fc);
}

TEST_P(Registry, is_the_same_whether_cut_or_not) {
  const Expected& expected = GetParam();
  const std::size_t batch = 3;
  const Model model = must_build_model(expected.name, expected.input, true), whole = must_build_model(expected.name, expected.input, false);
  std::vector<float> conv, fc, all, none;
  initialise(model, 42, conv, fc);
  initialise(whole, 42, all, none);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(by_name(model, conv, fc), by_name(whole, all, none));

  const auto input = random_floats(batch * expected.input.size(), 1);
  std::vector<float> boundary(batch * expected.cut.size()), logits(batch * 10), whole_logits(batch * 10), dy(batch * 10);
  const auto conv_tape = model.conv->forward(conv, input, batch, boundary, true);
  const auto fc_tape = model.fc->forward(fc, boundary, batch, logits, true);
  const auto whole_tape = whole.conv->forward(all, input, batch, whole_logits, true);
  EXPECT_EQ(logits, whole_logits);

  const std::vector<std::uint16_t> labels = {1, 7, 0};
  softmax_cross_entropy(logits, labels, 10, dy);
  std::vector<float> conv_gradient(conv.size()), fc_gradient(fc.size()), boundary_gradient(boundary.size()), all_gradient(all.size());
  model.fc->backward(fc, *fc_tape, dy, fc_gradient, boundary_gradient);
  model.conv->backward(conv, *conv_tape, boundary_gradient, conv_gradient, {});
  whole.conv->backward(all, *whole_tape, dy, all_gradient, {});
  EXPECT_EQ(by_name(model, conv_gradient, fc_gradient), by_name(whole, all_gradient, none));
}

TEST_P(Registry, learns_a_batch_by_heart) {
  const Expected& expected = GetParam();
  const std::size_t batch = 4;
  const Model model = must_build_model(expected.name, expected.input, false);
  std::vector<float> parameters, none;
  initialise(model, 3, parameters, none);
  const auto input = random_floats(batch * expected.input.size(), 1);
  std::vector<float> logits(batch * 10), dy(batch * 10), gradient(parameters.size());
  const std::vector<std::uint16_t> labels = {0, 1, 2, 3};
  LossResult first, last;
  for (int step = 0; step < 25; ++step) {
    const auto tape = model.conv->forward(parameters, input, batch, logits, true);
    last = softmax_cross_entropy(logits, labels, 10, dy);
    if (step == 0) first = last;
    model.conv->backward(parameters, *tape, dy, gradient, {});
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] -= 0.1F * gradient[i];
  }
  EXPECT_NEAR(first.loss_sum / batch, 2.3, 0.2);
  EXPECT_LT(last.loss_sum, first.loss_sum * 0.7);
}

INSTANTIATE_TEST_SUITE_P(All, Registry, testing::ValuesIn(kExpected), [](const auto& row) { return row.param.name; });

TEST(Models, every_row_is_expected_above) {
  ASSERT_EQ(models().size(), std::size(kExpected));
  for (std::size_t i = 0; i < models().size(); ++i) {
    EXPECT_EQ(models()[i].name, kExpected[i].name);
    EXPECT_FALSE(models()[i].help.empty());
  }
}

TEST(Models, cnn_has_the_parameters_that_papers_compare_with) {
  EXPECT_EQ(must_build_model("cnn", kGrey, false).conv->parameter_count(), 3'274'634U);
}

TEST(ParseModel, takes_a_spec_with_or_without_a_cut) {
  const auto cut = parse_model("conv 4 | relu | flatten | cut | fc 8 | relu | fc", kGrey, 10, true);
  ASSERT_TRUE(cut);
  EXPECT_EQ(to_string(cut->conv), "conv 4 | relu | flatten");
  EXPECT_EQ(to_string(cut->fc), "fc 8 | relu | fc 10");
  const auto whole = parse_model("conv 4 | relu | flatten | cut | fc 8 | relu | fc", kGrey, 10, false);
  EXPECT_EQ(to_string(whole->conv), "conv 4 | relu | flatten | fc 8 | relu | fc 10");
  EXPECT_TRUE(whole->fc.empty());
  const auto none = parse_model("flatten | fc", kGrey, 10, true);
  EXPECT_EQ(to_string(none->conv), "flatten | fc 10");
  EXPECT_TRUE(none->fc.empty());
  const auto at_start = parse_model("cut | flatten | fc", kGrey, 10, true);
  ASSERT_TRUE(at_start);
  EXPECT_TRUE(at_start->conv.empty());
}

TEST(ParseModel, numbers_layers_across_the_cut) {
  const auto text = "flatten | fc 20 | relu | cut | fc 15 | fc";
  const Model model = must_build_model(text, kGrey, true), whole = must_build_model(text, kGrey, false);
  EXPECT_EQ(model.fc->parameters()[0].name, "fc2.weight");
  std::vector<float> conv, fc, all, none;
  initialise(model, 1, conv, fc);
  initialise(whole, 1, all, none);
  EXPECT_EQ(by_name(model, conv, fc), by_name(whole, all, none));
}

TEST(ParseModel, says_what_is_wrong) {
  const auto error = [](std::string_view text, std::uint32_t classes = 10) {
    const auto spec = parse_model(text, kGrey, classes, true);
    EXPECT_FALSE(spec) << text;
    if (spec) return std::string();
    EXPECT_EQ(spec.error().code, Errc::bad_config);
    return spec.error().text;
  };
  EXPECT_NE(error("lenet").find("did you mean 'lenet5'?; models: cnn, lenet5, cifar_cnn, mlp"), std::string::npos);
  EXPECT_NE(error("").find("models: cnn"), std::string::npos);
  EXPECT_NE(error("conv 4 | spin | fc").find("stage 2"), std::string::npos);
  EXPECT_NE(error("flatten | cut | fc 4 | cut | fc").find("second 'cut'"), std::string::npos);
  EXPECT_NE(error("flatten | fc | cut").find("behind the cut"), std::string::npos);
  EXPECT_NE(error("flatten | cut now | fc").find("cut does not take 'now'"), std::string::npos);
  EXPECT_NE(error("flatten | cut | fc 9").find("9 outputs, but the data has 10 classes"), std::string::npos);
  EXPECT_NE(error("cnn", 0).find("classes"), std::string::npos);
}

TEST(LayoutHash, tells_layouts_apart) {
  const auto hash = [](std::string_view text, bool cut) { return layout_hash(must_build_model(text, kGrey, cut)); };
  EXPECT_EQ(hash("cnn", true), hash("cnn", true));
  EXPECT_NE(hash("cnn", true), hash("cnn", false));
  EXPECT_NE(hash("cnn", true), hash("lenet5", true));
  EXPECT_NE(hash("flatten | fc 20 | fc", false), hash("flatten | fc 21 | fc", false));
}

TEST(Initialise, depends_on_the_seed) {
  const Model model = must_build_model("lenet5", kGrey, true);
  std::vector<float> a, b, fc;
  initialise(model, 1, a, fc);
  initialise(model, 2, b, fc);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace hourglass::nn
