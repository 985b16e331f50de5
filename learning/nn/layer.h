// SPDX-License-Identifier: Apache-2.0
// A layer: a stage of a spec with its shapes known and its place in the flat parameter vector. Internal to learning/nn; a new kind of
// layer is a file with a class and a row in layer.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learning/nn/step.h"

namespace hourglass::nn {

class Layer {
 public:
  explicit Layer(Shape input, Shape output) : input_(input), output_(output) {}
  virtual ~Layer() = default;

  [[nodiscard]] Shape input() const { return input_; }
  [[nodiscard]] Shape output() const { return output_; }
  /// Shape of the weight tensor, output features first; empty for a layer without parameters. Such a layer has one bias a feature.
  [[nodiscard]] virtual std::vector<std::uint32_t> weight_shape() const { return {}; }
  /// Called once, before prepare(): where weight and bias stand in the flat vector.
  void place(std::size_t weight, std::size_t bias) {
    weight_offset_ = weight;
    bias_offset_ = bias;
  }

  /// A "relu" follows. True: this layer takes it over.
  virtual bool take_relu() { return false; }
  /// Told once which layer stands before this one. See pool.cc for what it is good for.
  virtual void follow(Layer& /*previous*/) {}

  /// Makes the primitives for one batch size; `source` is the layout in which the value arrives (the step may want another one).
  /// Null: the layer only renames the shape of a plain value.
  [[nodiscard]] virtual std::unique_ptr<Step> prepare(std::size_t batch, const Desc& source) const = 0;

  /// With a relu taken over, backward must clear the gradient where the output is 0. The layer behind may do it instead.
  [[nodiscard]] bool masks() const { return masks_; }
  void set_masks(bool masks) { masks_ = masks; }

 protected:
  bool relu_ = false;
  bool masks_ = false;
  std::size_t weight_offset_ = 0;
  std::size_t bias_offset_ = 0;

 private:
  Shape input_, output_;
};

using MadeLayer = Result<std::unique_ptr<Layer>>;
MadeLayer make_conv(const SpecStage& stage, Shape input);
MadeLayer make_relu(const SpecStage& stage, Shape input);
MadeLayer make_pool(const SpecStage& stage, Shape input);
MadeLayer make_flatten(const SpecStage& stage, Shape input);
MadeLayer make_fc(const SpecStage& stage, Shape input);

/// The layer of one stage. Errors: bad_config naming the stage, with the list of kinds where the name is unknown.
MadeLayer make_layer(const SpecStage& stage, Shape input);

/// "16x10x10" for messages.
std::string to_string(Shape shape);

}  // namespace hourglass::nn
