// SPDX-License-Identifier: Apache-2.0
// Max pooling in whatever layout the value arrives. Our own loops, because oneDNN's pooling takes three times as long: half of a step of
// lenet5. They also clear the gradient of a relu before the pool in passing.
#include "learning/nn/kernels.h"
#include "learning/nn/layer.h"

namespace hourglass::nn {
namespace {

/// Channels that stand side by side in the layout of `desc`: a vector in blocked layouts, 1 in the plain one.
std::size_t lanes_of(const Desc& desc) {
  const dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
  if (blocking.inner_nblks == 0) return 1;
  HG_CHECK(blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1, "a value in a layout that pooling does not know");
  return static_cast<std::size_t>(blocking.inner_blks[0]);
}

/// The layout of `source` with another height and width.
Desc same_layout(const Desc& source, Shape output) {
  using Tag = dnnl::memory::format_tag;
  const std::size_t lanes = lanes_of(source);
  const Tag tag = lanes == 16 ? Tag::nChw16c : lanes == 8 ? Tag::nChw8c : Tag::nchw;
  const auto of = [&](dnnl_dim_t height, dnnl_dim_t width) {
    return Desc({source.data.dims[0], source.data.dims[1], height, width}, dnnl::memory::data_type::f32, tag);
  };
  HG_CHECK(of(source.data.dims[2], source.data.dims[3]) == source, "a value in a layout that pooling does not know");
  return of(output.height, output.width);
}

class PoolStep final : public Step {
 public:
  PoolStep(Shape output, std::size_t size, const Desc& source, bool clear_negative)
      : clear_negative_(clear_negative), source_(source), target_(same_layout(source, output)) {
    const auto extent = [&](int i) { return static_cast<std::size_t>(source.data.dims[i]); };
    const std::size_t lanes = lanes_of(source);
    shape_ = {extent(0) * extent(1) / lanes, extent(2), extent(3), lanes, size};
  }

  [[nodiscard]] Desc source() const override { return source_; }
  [[nodiscard]] Desc target() const override { return target_; }
  [[nodiscard]] Desc workspace() const override {
    return {{static_cast<dnnl_dim_t>(target_.get_size() / sizeof(float))}, dnnl::memory::data_type::u8, dnnl::memory::format_tag::x};
  }
  void forward(const ForwardCall& call) override {
    kernels().pool_max(floats(call.source), floats(call.target), winners(call.workspace), shape_, clear_negative_);
  }
  void backward(const BackwardCall& call) override {
    if (call.source_gradient == nullptr) return;
    kernels().unpool(floats(call.target_gradient), winners(call.workspace), floats(*call.source_gradient), shape_);
  }

 private:
  static std::uint8_t* winners(const dnnl::memory& workspace) { return static_cast<std::uint8_t*>(workspace.get_data_handle()); }

  bool clear_negative_;
  Desc source_, target_;
  PoolShape shape_;
};

class Pool final : public Layer {
 public:
  Pool(Shape input, Shape output, std::uint32_t size) : Layer(input, output), size_(size) {}
  /// The gradient of pool(relu(x)) reaches x only through the largest value of each window: where that is 0, nothing does. So the layer
  /// before need not clear its gradient itself.
  void follow(Layer& previous) override {
    masks_ = previous.masks();
    previous.set_masks(false);
  }
  [[nodiscard]] std::unique_ptr<Step> prepare(std::size_t /*batch*/, const Desc& source) const override {
    return std::make_unique<PoolStep>(output(), size_, source, masks_);
  }

 private:
  std::uint32_t size_;
};

}  // namespace

MadeLayer make_pool(const SpecStage& stage, Shape input) {
  if (const Status only = stage.only({}, 1); !only) return only.error();
  const auto size = stage.whole_word(0, "window size", 1, static_cast<std::int64_t>(kPoolSizeMax));
  if (!size) return size.error();
  const auto window = static_cast<std::uint32_t>(*size);
  if (window > input.height || window > input.width) {
    return {Errc::bad_config, "pool: a window of " + std::to_string(window) + " is larger than its input of " + to_string(input)};
  }
  const Shape output{input.channels, input.height / window, input.width / window};
  return std::unique_ptr<Layer>(std::make_unique<Pool>(input, output, window));
}

}  // namespace hourglass::nn
