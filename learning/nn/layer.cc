// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/layer.h"

namespace hourglass::nn {
namespace {

struct LayerRow {
  LayerKind kind;
  MadeLayer (*make)(const SpecStage& stage, Shape input);
};

constexpr LayerRow kRows[] = {
    {{"conv", "conv OUT kernel=K pad=0 stride=1: two-dimensional convolution with bias"}, make_conv},
    {{"relu", "relu: max(x, 0)"}, make_relu},
    {{"pool", "pool K: largest of K x K, stride K; what does not fill a window is dropped"}, make_pool},
    {{"flatten", "flatten: channels x height x width become features"}, make_flatten},
    {{"fc", "fc OUT: fully connected with bias"}, make_fc},
};

class Flatten final : public Layer {
 public:
  explicit Flatten(Shape input) : Layer(input, Shape{static_cast<std::uint32_t>(input.size()), 1, 1}) {}
  [[nodiscard]] std::unique_ptr<Step> prepare(std::size_t /*batch*/, const Desc& /*source*/) const override { return nullptr; }
};

}  // namespace

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = [] {
    std::vector<LayerKind> out;
    for (const LayerRow& row : kRows) out.push_back(row.kind);
    return out;
  }();
  return kinds;
}

MadeLayer make_flatten(const SpecStage& stage, Shape input) {
  if (const Status only = stage.only({}); !only) return only.error();
  return std::unique_ptr<Layer>(std::make_unique<Flatten>(input));
}

MadeLayer make_layer(const SpecStage& stage, Shape input) {
  std::vector<std::string> names;
  for (const LayerRow& row : kRows) {
    if (row.kind.name == stage.name) return row.make(stage, input);
    names.emplace_back(row.kind.name);
  }
  std::string text = "no layer '" + stage.name + "'";
  if (const std::string near = nearest_name(stage.name, names); !near.empty()) text += ", did you mean '" + near + "'?";
  text += "; layers:";
  for (const std::string& name : names) text += " " + name;
  return {Errc::bad_config, std::move(text)};
}

std::string to_string(Shape shape) {
  return std::to_string(shape.channels) + "x" + std::to_string(shape.height) + "x" + std::to_string(shape.width);
}

}  // namespace hourglass::nn
