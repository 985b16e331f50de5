// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/model_file.h"

#include <gtest/gtest.h>

#include "reference.h"

namespace hourglass::nn {
namespace {

constexpr Shape kInput{1, 10, 10};
constexpr std::string_view kSpec = "conv 3 kernel=3 | relu | pool 2 | flatten | cut | fc 7 | relu | fc";

class ModelFile : public testing::Test {
 protected:
  static Model build(std::string_view spec, bool cut) {
    auto model = build_model(spec, kInput, 4, cut);
    return std::move(model).value();
  }
  ModelFile() { initialise(cut_, 9, conv_, fc_); }

  Model cut_ = build(kSpec, true), whole_ = build(kSpec, false);
  std::vector<float> conv_, fc_;
};

TEST_F(ModelFile, is_the_same_whether_cut_or_not) {
  std::vector<float> all, none;
  initialise(whole_, 9, all, none);
  const Bytes file = model_to_safetensors(cut_, conv_, fc_, {{"model", "tiny"}});
  EXPECT_EQ(file, model_to_safetensors(whole_, all, {}, {{"model", "tiny"}}));

  std::vector<float> conv, fc;
  Metadata metadata;
  ASSERT_TRUE(model_from_safetensors(cut_, file, conv, fc, &metadata));
  EXPECT_EQ(conv, conv_);
  EXPECT_EQ(fc, fc_);
  EXPECT_EQ(metadata, (Metadata{{"model", "tiny"}}));
  std::vector<float> loaded;
  ASSERT_TRUE(model_from_safetensors(whole_, file, loaded, none));
  EXPECT_EQ(loaded, all);
}

TEST_F(ModelFile, has_the_names_and_shapes_of_pytorch) {
  const auto file = read_safetensors(model_to_safetensors(cut_, conv_, fc_, {}));
  ASSERT_TRUE(file);
  std::string text;
  for (const Tensor& tensor : file->tensors) {
    text += tensor.name;
    for (const auto extent : tensor.shape) text += " " + std::to_string(extent);
    text += "\n";
  }
  EXPECT_EQ(text, "conv1.weight 3 1 3 3\nconv1.bias 3\nfc1.weight 7 48\nfc1.bias 7\nfc2.weight 4 7\nfc2.bias 4\n");
}

TEST_F(ModelFile, takes_the_numbers_of_a_sequential_model) {
  auto file = read_safetensors(model_to_safetensors(cut_, conv_, fc_, {}));
  const std::string names[] = {"0.weight", "0.bias", "4.weight", "4.bias", "16.weight", "16.bias"};  // 16 sorts before 4 as a text
  std::vector<TensorView> views;
  for (const std::size_t i : {5, 0, 3, 2, 1, 4}) views.push_back({names[i], file->tensors[i].shape, file->tensors[i].values});
  std::vector<float> conv, fc;
  const Status status = model_from_safetensors(cut_, write_safetensors(views, {}), conv, fc);
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_EQ(conv, conv_);
  EXPECT_EQ(fc, fc_);
}

TEST_F(ModelFile, refuses_what_does_not_fit_and_changes_nothing) {
  const auto refused = [&](const Bytes& file) {
    std::vector<float> conv = {1}, fc = {2};
    const Status status = model_from_safetensors(cut_, file, conv, fc);
    EXPECT_EQ(conv, (std::vector<float>{1}));
    EXPECT_EQ(fc, (std::vector<float>{2}));
    return status.ok() ? std::string("accepted") : status.error().text;
  };
  auto file = read_safetensors(model_to_safetensors(cut_, conv_, fc_, {}));
  std::vector<TensorView> views;
  for (const Tensor& tensor : file->tensors) views.push_back({tensor.name, tensor.shape, tensor.values});

  auto missing = views;
  missing.erase(missing.begin() + 2);
  EXPECT_NE(refused(write_safetensors(missing, {})).find("no tensor 'fc1.weight'"), std::string::npos);
  auto extra = views;
  extra.push_back({"fc3.bias", {4}, file->tensors[5].values});
  EXPECT_NE(refused(write_safetensors(extra, {})).find("no tensor 'fc3.bias'"), std::string::npos);
  auto turned = views;
  std::swap(turned[2].shape[0], turned[2].shape[1]);
  EXPECT_NE(refused(write_safetensors(turned, {})).find("48x7 in the file and 7x48"), std::string::npos);
  EXPECT_NE(refused(Bytes(5)).find("safetensors"), std::string::npos);

  for (std::size_t i = 0; i < views.size(); ++i) views[i].name = "layer" + std::to_string(i) + ".weight";
  EXPECT_NE(refused(write_safetensors(views, {})).find("no tensor 'conv1.weight'"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::nn
