// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/step.h"

#include <algorithm>
#include <cstring>

namespace hourglass::nn {
namespace {

class Reorder final : public Step {
 public:
  Reorder(const Desc& from, const Desc& to) : from_(from), to_(to) {
    const auto& engine = Device::get().engine;
    const dnnl_dim_t batch = from.data.dims[0], channels = std::min(from.data.dims[1], to.data.dims[1]);
    const Desc source = narrowed(from, {batch, channels}), target = narrowed(to, {batch, channels});
    forward_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine, source, engine, target));
    backward_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine, target, engine, source));
  }
  [[nodiscard]] Desc source() const override { return from_; }
  [[nodiscard]] Desc target() const override { return to_; }
  void forward(const ForwardCall& call) override { run(forward_, {{DNNL_ARG_FROM, call.source}, {DNNL_ARG_TO, call.target}}); }
  void backward(const BackwardCall& call) override {
    if (call.source_gradient == nullptr) return;
    run(backward_, {{DNNL_ARG_FROM, call.target_gradient}, {DNNL_ARG_TO, *call.source_gradient}});
  }

 private:
  Desc from_, to_;
  dnnl::reorder forward_, backward_;
};

}  // namespace

Device& Device::get() {
  static Device device = [] {
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return Device{engine, dnnl::stream(engine)};
  }();
  return device;
}

Desc plain_desc(std::size_t batch, Shape shape) {
  return {{static_cast<dnnl_dim_t>(batch), shape.channels, shape.height, shape.width},
          dnnl::memory::data_type::f32,
          dnnl::memory::format_tag::nchw};
}

Desc vector_desc(std::size_t size) { return {{static_cast<dnnl_dim_t>(size)}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::x}; }

Desc narrowed(Desc wide, std::initializer_list<dnnl_dim_t> first_extents) {
  std::copy(first_extents.begin(), first_extents.end(), wide.data.dims);
  const dnnl_blocking_desc_t& blocking = wide.data.format_desc.blocking;
  for (int i = 0; i < wide.data.ndims; ++i) {  // where there are no blocks, the strides alone skip what was cut off
    const auto* end = blocking.inner_idxs + blocking.inner_nblks;
    if (std::find(blocking.inner_idxs, end, i) == end) wide.data.padded_dims[i] = wide.data.dims[i];
  }
  return wide;
}

dnnl::memory zeroed(const Desc& desc) {
  dnnl::memory memory(desc, Device::get().engine);
  std::memset(memory.get_data_handle(), 0, desc.get_size());
  return memory;
}

bool has_isa(dnnl::cpu_isa set) {
#if defined(__x86_64__)
  static const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  return (isa & static_cast<unsigned>(set)) == static_cast<unsigned>(set);
#else
  static_cast<void>(set);
  return false;
#endif
}

std::unique_ptr<Step> make_reorder(const Desc& from, const Desc& to) { return std::make_unique<Reorder>(from, to); }

}  // namespace hourglass::nn
