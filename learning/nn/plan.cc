// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/plan.h"

#include <cstring>

namespace hourglass::nn {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t padded(const Desc& desc) { return (desc.get_size() + kAlignment - 1) / kAlignment * kAlignment; }

/// Carves memory objects for `descs` out of a block that is as large as `bytes_of` says.
std::size_t bytes_of(const std::vector<Desc>& descs) {
  std::size_t bytes = 0;
  for (const Desc& desc : descs) bytes += padded(desc);
  return bytes;
}

std::vector<dnnl::memory> carve(const std::vector<Desc>& descs, std::byte*& at) {
  std::vector<dnnl::memory> out;
  for (const Desc& desc : descs) {
    if (desc.get_size() == 0) {
      out.emplace_back();
      continue;
    }
    out.emplace_back(desc, Device::get().engine, at);
    at += padded(desc);
  }
  return out;
}

Frame allocate(const std::vector<Desc>& values, const std::vector<Desc>& workspaces) {
  const std::size_t bytes = bytes_of(values) + bytes_of(workspaces);
  Frame frame;
  frame.bytes.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes)));
  HG_CHECK(frame.bytes != nullptr, "out of memory for activations");
  std::memset(frame.bytes.get(), 0, bytes);
  std::byte* at = frame.bytes.get();
  frame.values = carve(values, at);
  frame.workspaces = carve(workspaces, at);
  return frame;
}

}  // namespace

Plan::Plan(const std::vector<std::unique_ptr<Layer>>& layers, Shape input, std::size_t batch) : batch_(batch) {
  values_.push_back(plain_desc(batch, input));
  first_with_parameters_ = SIZE_MAX;
  for (const auto& layer : layers) {
    std::unique_ptr<Step> step = layer->prepare(batch, values_.back());
    const Desc wanted = step ? step->source() : plain_desc(batch, layer->input());
    if (wanted != values_.back()) add(make_reorder(values_.back(), wanted), false);
    if (step) {
      add(std::move(step), !layer->weight_shape().empty());
    } else {
      values_.back() = plain_desc(batch, layer->output());
    }
  }
  const Shape output = layers.empty() ? input : layers.back()->output();
  if (const Desc plain = plain_desc(batch, output); values_.back() != plain) add(make_reorder(values_.back(), plain), false);
  gradients_ = allocate(values_, {});
}

void Plan::add(std::unique_ptr<Step> step, bool has_parameters) {
  if (has_parameters && first_with_parameters_ == SIZE_MAX) first_with_parameters_ = steps_.size();
  values_.push_back(step->target());
  steps_.push_back(std::move(step));
}

std::unique_ptr<Frame> Plan::make_frame() const {
  std::vector<Desc> workspaces;
  for (const auto& step : steps_) workspaces.push_back(step->workspace());
  return std::make_unique<Frame>(allocate(values_, workspaces));
}

std::unique_ptr<Frame> Plan::take_frame() {
  if (idle_.empty()) return make_frame();
  std::unique_ptr<Frame> frame = std::move(idle_.back());
  idle_.pop_back();
  return frame;
}

void Plan::give_back(std::unique_ptr<Frame> frame) {
  if (idle_.size() < kIdleFramesMax) idle_.push_back(std::move(frame));
}

void Plan::forward(Frame& frame, const float* parameters, const float* input, float* output) {
  std::memcpy(floats(frame.values.front()), input, values_.front().get_size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i]->forward({parameters, frame.values[i], frame.values[i + 1], frame.workspaces[i]});
  }
  std::memcpy(output, floats(frame.values.back()), values_.back().get_size());
}

void Plan::backward(const Frame& frame, const float* parameters, const float* output_gradient, float* parameter_gradient,
                    float* input_gradient) {
  const std::size_t last = input_gradient != nullptr ? 0 : first_with_parameters_;  // the last step to run, as we go from the end
  if (input_gradient == nullptr && last == SIZE_MAX) return;
  std::memcpy(floats(gradients_.values.back()), output_gradient, values_.back().get_size());
  for (std::size_t i = steps_.size(); i-- > last;) {
    const bool wanted = i > last || input_gradient != nullptr;
    steps_[i]->backward({parameters, parameter_gradient, frame.values[i], frame.values[i + 1], frame.workspaces[i],
                         gradients_.values[i + 1], wanted ? &gradients_.values[i] : nullptr});
  }
  if (input_gradient != nullptr) std::memcpy(input_gradient, floats(gradients_.values.front()), values_.front().get_size());
}

}  // namespace hourglass::nn
