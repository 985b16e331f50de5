// SPDX-License-Identifier: Apache-2.0
// A relu of its own, where no layer before it could take it over.
#include "learning/nn/kernels.h"
#include "learning/nn/layer.h"

namespace hourglass::nn {
namespace {

class ReluStep final : public Step {
 public:
  explicit ReluStep(const Desc& desc) : desc_(desc), size_(desc.get_size() / sizeof(float)) {}
  [[nodiscard]] Desc source() const override { return desc_; }
  [[nodiscard]] Desc target() const override { return desc_; }
  void forward(const ForwardCall& call) override { kernels().relu(floats(call.source), floats(call.target), size_); }
  void backward(const BackwardCall& call) override {
    if (call.source_gradient == nullptr) return;
    kernels().mask(floats(call.target), floats(call.target_gradient), size_);
    kernels().copy(floats(call.target_gradient), floats(*call.source_gradient), size_);
  }

 private:
  Desc desc_;
  std::size_t size_;
};

class Relu final : public Layer {
 public:
  explicit Relu(Shape shape) : Layer(shape, shape) {}
  [[nodiscard]] std::unique_ptr<Step> prepare(std::size_t /*batch*/, const Desc& source) const override {
    return std::make_unique<ReluStep>(source);
  }
};

}  // namespace

MadeLayer make_relu(const SpecStage& stage, Shape input) {
  if (const Status only = stage.only({}); !only) return only.error();
  return std::unique_ptr<Layer>(std::make_unique<Relu>(input));
}

}  // namespace hourglass::nn
