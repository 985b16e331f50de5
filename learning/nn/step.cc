// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/step.h"

namespace hourglass::nn {
namespace {

class Reorder final : public Step {
 public:
  Reorder(const Desc& from, const Desc& to) : from_(from), to_(to) {
    const auto& engine = Device::get().engine;
    forward_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine, from, engine, to));
    backward_ = dnnl::reorder(dnnl::reorder::primitive_desc(engine, to, engine, from));
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
  return {{static_cast<dnnl_dim_t>(batch), shape.channels, shape.height, shape.width}, dnnl::memory::data_type::f32,
          dnnl::memory::format_tag::nchw};
}

Desc vector_desc(std::size_t size) {
  return {{static_cast<dnnl_dim_t>(size)}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::x};
}

std::unique_ptr<Step> make_reorder(const Desc& from, const Desc& to) { return std::make_unique<Reorder>(from, to); }

}  // namespace hourglass::nn
