// SPDX-License-Identifier: Apache-2.0
// Convolution on oneDNN. Values stay in oneDNN's blocked layout from one layer to the next; weights come plain and are reordered at every
// pass, which is cheap because convolutional parts have few parameters.
#include "learning/nn/kernels.h"
#include "learning/nn/layer.h"

namespace hourglass::nn {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

struct Geometry {
  std::uint32_t out, kernel, pad, stride;
};

/// A weight tensor that stands plain in the caller's vector and blocked in our scratch memory.
class Weight {
 public:
  Weight() = default;
  Weight(const Desc& plain, const Desc& blocked, bool to_blocked) : direct_(plain == blocked) {
    const auto& engine = Device::get().engine;
    plain_ = memory(plain, engine, DNNL_MEMORY_NONE);
    if (direct_) return;
    blocked_ = memory(blocked, engine);
    const Desc& from = to_blocked ? plain : blocked;
    const Desc& to = to_blocked ? blocked : plain;
    reorder_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine, from, engine, to));
  }
  /// The blocked copy of `plain`.
  const memory& read(const float* plain) {
    point(plain_, plain);
    if (direct_) return plain_;
    run(reorder_, {{DNNL_ARG_FROM, plain_}, {DNNL_ARG_TO, blocked_}});
    return blocked_;
  }
  /// Where a primitive may write; finish() then brings it to `plain`.
  const memory& begin(float* plain) {
    point(plain_, plain);
    return direct_ ? plain_ : blocked_;
  }
  void finish() {
    if (!direct_) run(reorder_, {{DNNL_ARG_FROM, blocked_}, {DNNL_ARG_TO, plain_}});
  }

 private:
  bool direct_ = false;
  memory plain_, blocked_;
  dnnl::reorder reorder_;
};

class ConvStep final : public Step {
 public:
  ConvStep(std::size_t batch, Shape input, Shape output, Geometry g, bool relu, bool masks, std::size_t weight, std::size_t bias)
      : masks_(masks), weight_offset_(weight), bias_offset_(bias) {
    const auto f32 = memory::data_type::f32;
    const auto any = memory::format_tag::any;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const memory::dims source_dims = plain_desc(batch, input).dims(), target_dims = plain_desc(batch, output).dims();
    const memory::dims weight_dims = {g.out, input.channels, g.kernel, g.kernel};
    const memory::dims stride = {g.stride, g.stride}, pad = {g.pad, g.pad};
    const Desc weight_any(weight_dims, f32, any), weight_plain(weight_dims, f32, memory::format_tag::oihw);
    const Desc bias_desc = vector_desc(g.out);
    const auto& engine = Device::get().engine;

    dnnl::primitive_attr attributes;
    if (relu) {
      dnnl::post_ops after;
      after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
      attributes.set_post_ops(after);
    }
    const dnnl::convolution_forward::primitive_desc forward(
        {prop_kind::forward_training, algorithm, Desc(source_dims, f32, any), weight_any, bias_desc, Desc(target_dims, f32, any), stride,
         pad, pad},
        attributes, engine);
    source_ = forward.src_desc();
    target_ = forward.dst_desc();
    forward_ = dnnl::convolution_forward(forward);
    forward_weight_ = Weight(weight_plain, forward.weights_desc(), true);

    const dnnl::convolution_backward_weights::primitive_desc weights(
        {algorithm, source_, weight_any, bias_desc, target_, stride, pad, pad}, engine, forward);
    backward_weights_ = dnnl::convolution_backward_weights(weights);
    weight_gradient_ = Weight(weight_plain, weights.diff_weights_desc(), false);

    const dnnl::convolution_backward_data::primitive_desc data({algorithm, source_, weight_any, target_, stride, pad, pad}, engine,
                                                               forward);
    backward_data_ = dnnl::convolution_backward_data(data);
    backward_weight_ = Weight(weight_plain, data.weights_desc(), true);
    bias_ = memory(bias_desc, engine, DNNL_MEMORY_NONE);
    bias_gradient_ = memory(bias_desc, engine, DNNL_MEMORY_NONE);
  }

  [[nodiscard]] Desc source() const override { return source_; }
  [[nodiscard]] Desc target() const override { return target_; }

  void forward(const ForwardCall& call) override {
    point(bias_, call.parameters + bias_offset_);
    run(forward_, {{DNNL_ARG_SRC, call.source},
                   {DNNL_ARG_WEIGHTS, forward_weight_.read(call.parameters + weight_offset_)},
                   {DNNL_ARG_BIAS, bias_},
                   {DNNL_ARG_DST, call.target}});
  }

  void backward(const BackwardCall& call) override {
    if (masks_) kernels().mask(floats(call.target), floats(call.target_gradient), target_.get_size() / sizeof(float));
    point(bias_gradient_, call.parameter_gradient + bias_offset_);
    run(backward_weights_, {{DNNL_ARG_SRC, call.source},
                            {DNNL_ARG_DIFF_DST, call.target_gradient},
                            {DNNL_ARG_DIFF_WEIGHTS, weight_gradient_.begin(call.parameter_gradient + weight_offset_)},
                            {DNNL_ARG_DIFF_BIAS, bias_gradient_}});
    weight_gradient_.finish();
    if (call.source_gradient == nullptr) return;
    run(backward_data_, {{DNNL_ARG_DIFF_DST, call.target_gradient},
                         {DNNL_ARG_WEIGHTS, backward_weight_.read(call.parameters + weight_offset_)},
                         {DNNL_ARG_DIFF_SRC, *call.source_gradient}});
  }

 private:
  bool masks_;
  std::size_t weight_offset_, bias_offset_;
  Desc source_, target_;
  dnnl::convolution_forward forward_;
  dnnl::convolution_backward_weights backward_weights_;
  dnnl::convolution_backward_data backward_data_;
  Weight forward_weight_, backward_weight_, weight_gradient_;
  memory bias_, bias_gradient_;
};

class Conv final : public Layer {
 public:
  Conv(Shape input, Shape output, Geometry geometry) : Layer(input, output), geometry_(geometry) {}
  [[nodiscard]] std::vector<std::uint32_t> weight_shape() const override {
    return {geometry_.out, input().channels, geometry_.kernel, geometry_.kernel};
  }
  bool take_relu() override {
    relu_ = masks_ = true;
    return true;
  }
  [[nodiscard]] std::unique_ptr<Step> prepare(std::size_t batch, const Desc& /*source*/) const override {
    return std::make_unique<ConvStep>(batch, input(), output(), geometry_, relu_, masks_, weight_offset_, bias_offset_);
  }

 private:
  Geometry geometry_;
};

}  // namespace

MadeLayer make_conv(const SpecStage& stage, Shape input) {
  if (const Status only = stage.only({"kernel", "pad", "stride"}, 1); !only) return only.error();
  const auto out = stage.whole_word(0, "number of output channels", 1, 1 << 16);
  if (!out) return out.error();
  const auto kernel = stage.whole("kernel", 3, 1, 1024);
  if (!kernel) return kernel.error();
  const auto pad = stage.whole("pad", 0, 0, *kernel - 1);
  if (!pad) return pad.error();
  const auto stride = stage.whole("stride", 1, 1, 1024);
  if (!stride) return stride.error();
  const std::int64_t height = input.height + 2 * *pad - *kernel, width = input.width + 2 * *pad - *kernel;
  if (height < 0 || width < 0) {
    return {Errc::bad_config, "conv: kernel=" + std::to_string(*kernel) + " is larger than its padded input of " + to_string(input)};
  }
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const Shape output{u32(*out), u32(height / *stride + 1), u32(width / *stride + 1)};
  const Geometry geometry{u32(*out), u32(*kernel), u32(*pad), u32(*stride)};
  return std::unique_ptr<Layer>(std::make_unique<Conv>(input, output, geometry));
}

}  // namespace hourglass::nn
