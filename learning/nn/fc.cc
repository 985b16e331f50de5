// SPDX-License-Identifier: Apache-2.0
// Fully connected layer: y = x W^T + b with W out x in, row-major, read and written in place.
#include "learning/nn/gemm.h"
#include "learning/nn/kernels.h"
#include "learning/nn/layer.h"

namespace hourglass::nn {
namespace {

class FcStep final : public Step {
 public:
  FcStep(std::size_t batch, Shape input, Shape output, bool relu, std::size_t weight, std::size_t bias)
      : batch_(batch),
        in_(input.size()),
        out_(output.size()),
        relu_(relu),
        weight_offset_(weight),
        bias_offset_(bias),
        source_(plain_desc(batch, input)),
        target_(plain_desc(batch, output)) {}

  [[nodiscard]] Desc source() const override { return source_; }
  [[nodiscard]] Desc target() const override { return target_; }

  void forward(const ForwardCall& call) override {
    float* y = floats(call.target);
    multiply_nt(floats(call.source), call.parameters + weight_offset_, y, batch_, out_, in_);
    kernels().add_bias(call.parameters + bias_offset_, y, batch_, out_, relu_);
  }

  void backward(const BackwardCall& call) override {
    float* dy = floats(call.target_gradient);
    if (relu_) kernels().mask(floats(call.target), dy, batch_ * out_);
    kernels().sum_rows(dy, call.parameter_gradient + bias_offset_, batch_, out_);
    multiply_tn(dy, floats(call.source), call.parameter_gradient + weight_offset_, out_, in_, batch_);
    if (call.source_gradient == nullptr) return;
    multiply_nn(dy, call.parameters + weight_offset_, floats(*call.source_gradient), batch_, in_, out_);
  }

 private:
  std::size_t batch_, in_, out_;
  bool relu_;
  std::size_t weight_offset_, bias_offset_;
  Desc source_, target_;
};

class Fc final : public Layer {
 public:
  Fc(Shape input, Shape output) : Layer(input, output) {}
  [[nodiscard]] std::vector<std::uint32_t> weight_shape() const override { return {output().channels, input().channels}; }
  bool take_relu() override { return relu_ = true; }
  [[nodiscard]] std::unique_ptr<Step> prepare(std::size_t batch, const Desc& /*source*/) const override {
    return std::make_unique<FcStep>(batch, input(), output(), relu_, weight_offset_, bias_offset_);
  }
};

}  // namespace

MadeLayer make_fc(const SpecStage& stage, Shape input) {
  if (const Status only = stage.only({}, 1); !only) return only.error();
  const auto out = stage.whole_word(0, "number of outputs", 1, 1 << 20);
  if (!out) return out.error();
  if (input.height != 1 || input.width != 1) {
    return {Errc::bad_config, "fc: its input is " + to_string(input) + "; put 'flatten' before it"};
  }
  return std::unique_ptr<Layer>(std::make_unique<Fc>(input, Shape{static_cast<std::uint32_t>(*out), 1, 1}));
}

}  // namespace hourglass::nn
