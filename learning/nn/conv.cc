// SPDX-License-Identifier: Apache-2.0
// Convolution on oneDNN. Values stay in oneDNN's blocked layout from one layer to the next; weights come plain and are reordered at every
// pass, which is cheap because convolutional parts have few parameters. oneDNN's fast backward kernels want channels in multiples of a
// vector and otherwise fall back to loops that are a thousand times slower, so we pad channels with zeros, ours and those of the weights.
#include <algorithm>

#include "learning/nn/kernels.h"
#include "learning/nn/layer.h"

namespace hourglass::nn {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

struct Geometry {
  std::uint32_t out, kernel, pad, stride;
};

/// Which channel counts and layouts oneDNN 2.6 has fast kernels for. With AVX2 and AVX-512 that is blocks of one vector, and few plain
/// channels at the input, which images have. Elsewhere only its matrix product is fast, which wants everything plain.
dnnl_dim_t channel_block() {
  if (has_isa(dnnl::cpu_isa::avx512_core)) return 16;
  return has_isa(dnnl::cpu_isa::avx2) ? 8 : 1;
}
memory::format_tag layout() { return channel_block() > 1 ? memory::format_tag::any : memory::format_tag::nchw; }
dnnl_dim_t padded(dnnl_dim_t channels) { return (channels + channel_block() - 1) / channel_block() * channel_block(); }

dnnl_dim_t source_channels(Shape input, const Desc& arriving) {
  const bool image = (input.channels == 1 || input.channels == 3) && arriving.dims()[1] == input.channels;
  if (!image) return padded(input.channels);
  return channel_block() == 8 ? 3 : input.channels;  // for AVX2 the weight gradient is fast for 3 channels, but not for 1
}

Desc desc_of(std::initializer_list<dnnl_dim_t> extents, memory::format_tag tag) { return {extents, memory::data_type::f32, tag}; }

/// A weight tensor that stands plain in the caller's vector and blocked, with more channels, in our scratch memory.
class Weight {
 public:
  Weight() = default;
  Weight(const Desc& plain, const Desc& blocked, bool to_blocked) : direct_(plain == blocked) {
    const auto& engine = Device::get().engine;
    plain_ = memory(plain, engine, DNNL_MEMORY_NONE);
    if (direct_) return;
    blocked_ = zeroed(blocked);
    const Desc real = narrowed(blocked, {plain.data.dims[0], plain.data.dims[1]});
    const Desc& from = to_blocked ? plain : real;
    const Desc& to = to_blocked ? real : plain;
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
  ConvStep(std::size_t batch, Shape input, Shape output, Geometry g, const Desc& arriving, bool relu, bool masks, std::size_t weight,
           std::size_t bias)
      : g_(g),
        masks_(masks),
        weight_offset_(weight),
        bias_offset_(bias),
        in_channels_(source_channels(input, arriving)),
        out_channels_(padded(g.out)) {
    const auto& engine = Device::get().engine;
    const auto samples = static_cast<dnnl_dim_t>(batch);
    const Desc bias_desc = vector_desc(static_cast<std::size_t>(out_channels_));
    weight_plain_ = desc_of({g.out, input.channels, g.kernel, g.kernel}, memory::format_tag::oihw);

    dnnl::primitive_attr attributes;
    if (relu) {
      dnnl::post_ops after;
      after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
      attributes.set_post_ops(after);
    }
    forward_desc_ = dnnl::convolution_forward::primitive_desc(
        {prop_kind::forward_training, kAlgorithm, desc_of({samples, in_channels_, input.height, input.width}, layout()),
         weight_any(in_channels_), bias_desc, desc_of({samples, out_channels_, output.height, output.width}, layout()), stride(), pad(),
         pad()},
        attributes, engine);
    source_ = forward_desc_.src_desc();
    target_ = forward_desc_.dst_desc();
    forward_ = dnnl::convolution_forward(forward_desc_);
    forward_weight_ = Weight(weight_plain_, forward_desc_.weights_desc(), true);

    const dnnl::convolution_backward_weights::primitive_desc weights(
        {kAlgorithm, source_, weight_any(in_channels_), bias_desc, target_, stride(), pad(), pad()}, engine, forward_desc_);
    backward_weights_ = dnnl::convolution_backward_weights(weights);
    weight_gradient_ = Weight(weight_plain_, weights.diff_weights_desc(), false);
    bias_ = zeroed(bias_desc);
    bias_gradient_ = zeroed(bias_desc);
  }

  [[nodiscard]] Desc source() const override { return source_; }
  [[nodiscard]] Desc target() const override { return target_; }

  void forward(const ForwardCall& call) override {
    std::copy_n(call.parameters + bias_offset_, g_.out, floats(bias_));
    run(forward_, {{DNNL_ARG_SRC, call.source},
                   {DNNL_ARG_WEIGHTS, forward_weight_.read(call.parameters + weight_offset_)},
                   {DNNL_ARG_BIAS, bias_},
                   {DNNL_ARG_DST, call.target}});
  }

  void backward(const BackwardCall& call) override {
    if (masks_) kernels().mask(floats(call.target), floats(call.target_gradient), target_.get_size() / sizeof(float));
    run(backward_weights_, {{DNNL_ARG_SRC, call.source},
                            {DNNL_ARG_DIFF_DST, call.target_gradient},
                            {DNNL_ARG_DIFF_WEIGHTS, weight_gradient_.begin(call.parameter_gradient + weight_offset_)},
                            {DNNL_ARG_DIFF_BIAS, bias_gradient_}});
    weight_gradient_.finish();
    std::copy_n(floats(bias_gradient_), g_.out, call.parameter_gradient + bias_offset_);
    if (call.source_gradient == nullptr) return;
    if (!backward_data_) prepare_backward_data();
    run(backward_data_, {{DNNL_ARG_DIFF_DST, call.target_gradient},
                         {DNNL_ARG_WEIGHTS, backward_weight_.read(call.parameters + weight_offset_)},
                         {DNNL_ARG_DIFF_SRC, back_ ? blocked_gradient_ : *call.source_gradient}});
    if (back_) run(back_, {{DNNL_ARG_FROM, blocked_gradient_}, {DNNL_ARG_TO, *call.source_gradient}});
  }

 private:
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  [[nodiscard]] memory::dims stride() const { return {g_.stride, g_.stride}; }
  [[nodiscard]] memory::dims pad() const { return {g_.pad, g_.pad}; }
  [[nodiscard]] Desc weight_any(dnnl_dim_t in_channels) const {
    return desc_of({out_channels_, in_channels, g_.kernel, g_.kernel}, memory::format_tag::any);
  }

  /// On first demand, as the first layer seldom needs it. For the few plain channels of an image there is no fast kernel: then the gradient
  /// is computed in blocks, too, and brought back to the layout of the source.
  void prepare_backward_data() {
    const auto& engine = Device::get().engine;
    const dnnl_dim_t channels = padded(in_channels_);
    const auto& extents = source_.data.dims;
    const Desc gradient = channels == in_channels_ ? source_ : desc_of({extents[0], channels, extents[2], extents[3]}, layout());
    const dnnl::convolution_backward_data::primitive_desc desc(
        {kAlgorithm, gradient, weight_any(channels), target_, stride(), pad(), pad()}, engine, forward_desc_);
    backward_data_ = dnnl::convolution_backward_data(desc);
    backward_weight_ = Weight(weight_plain_, desc.weights_desc(), true);
    if (desc.diff_src_desc() == source_) return;
    blocked_gradient_ = zeroed(desc.diff_src_desc());
    const Desc real = narrowed(desc.diff_src_desc(), {extents[0], in_channels_});
    back_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine, real, engine, source_));
  }

  Geometry g_;
  bool masks_;
  std::size_t weight_offset_, bias_offset_;
  dnnl_dim_t in_channels_, out_channels_;  ///< padding included
  Desc source_, target_, weight_plain_;
  dnnl::convolution_forward::primitive_desc forward_desc_;
  dnnl::convolution_forward forward_;
  dnnl::convolution_backward_weights backward_weights_;
  dnnl::convolution_backward_data backward_data_;
  Weight forward_weight_, backward_weight_, weight_gradient_;
  memory bias_, bias_gradient_, blocked_gradient_;
  dnnl::reorder back_;
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
  [[nodiscard]] std::unique_ptr<Step> prepare(std::size_t batch, const Desc& source) const override {
    return std::make_unique<ConvStep>(batch, input(), output(), geometry_, source, relu_, masks_, weight_offset_, bias_offset_);
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
