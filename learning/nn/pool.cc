// SPDX-License-Identifier: Apache-2.0
// Max pooling on oneDNN, in whatever layout the value arrives.
#include "learning/nn/kernels.h"
#include "learning/nn/layer.h"

namespace hourglass::nn {
namespace {

class PoolStep final : public Step {
 public:
  PoolStep(std::size_t batch, Shape output, std::uint32_t size, const Desc& source, bool masks) : masks_(masks), source_(source) {
    const auto& engine = Device::get().engine;
    const dnnl_dim_t channels = source.dims()[1];  // padding included
    const Desc target({static_cast<dnnl_dim_t>(batch), channels, output.height, output.width}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
    const dnnl::memory::dims window = {size, size}, none = {0, 0};
    const auto algorithm = dnnl::algorithm::pooling_max;
    const dnnl::pooling_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, algorithm, source, target, window, window, none, none}, engine);
    target_ = forward.dst_desc();
    workspace_ = forward.workspace_desc();
    forward_ = dnnl::pooling_forward(forward);
    backward_ = dnnl::pooling_backward(
        dnnl::pooling_backward::primitive_desc({algorithm, source, target_, window, window, none, none}, engine, forward));
  }

  [[nodiscard]] Desc source() const override { return source_; }
  [[nodiscard]] Desc target() const override { return target_; }
  [[nodiscard]] Desc workspace() const override { return workspace_; }
  void forward(const ForwardCall& call) override {
    run(forward_, {{DNNL_ARG_SRC, call.source}, {DNNL_ARG_DST, call.target}, {DNNL_ARG_WORKSPACE, call.workspace}});
  }
  void backward(const BackwardCall& call) override {
    if (call.source_gradient == nullptr) return;
    if (masks_) kernels().mask(floats(call.target), floats(call.target_gradient), target_.get_size() / sizeof(float));
    run(backward_,
        {{DNNL_ARG_DIFF_DST, call.target_gradient}, {DNNL_ARG_DIFF_SRC, *call.source_gradient}, {DNNL_ARG_WORKSPACE, call.workspace}});
  }

 private:
  bool masks_;
  Desc source_, target_, workspace_;
  dnnl::pooling_forward forward_;
  dnnl::pooling_backward backward_;
};

class Pool final : public Layer {
 public:
  Pool(Shape input, Shape output, std::uint32_t size) : Layer(input, output), size_(size) {}
  /// The gradient of pool(relu(x)) reaches x only through the largest value of each window, so it is enough to clear it where the pooled
  /// output is 0: a quarter of the work for 2 x 2 windows, and the same bits.
  void follow(Layer& previous) override {
    masks_ = previous.masks();
    previous.set_masks(false);
  }
  [[nodiscard]] std::unique_ptr<Step> prepare(std::size_t batch, const Desc& source) const override {
    return std::make_unique<PoolStep>(batch, output(), size_, source, masks_);
  }

 private:
  std::uint32_t size_;
};

}  // namespace

MadeLayer make_pool(const SpecStage& stage, Shape input) {
  if (const Status only = stage.only({}, 1); !only) return only.error();
  const auto size = stage.whole_word(0, "window size", 1, 16);
  if (!size) return size.error();
  const auto window = static_cast<std::uint32_t>(*size);
  if (window > input.height || window > input.width) {
    return {Errc::bad_config, "pool: a window of " + std::to_string(window) + " is larger than its input of " + to_string(input)};
  }
  const Shape output{input.channels, input.height / window, input.width / window};
  return std::unique_ptr<Layer>(std::make_unique<Pool>(input, output, window));
}

}  // namespace hourglass::nn
