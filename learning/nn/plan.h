// SPDX-License-Identifier: Apache-2.0
// A network made ready for one batch size. Internal to learning/nn.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "learning/nn/layer.h"

namespace hourglass::nn {

/// Memory of one forward pass: the value before the first step, after each step, and the steps' workspaces.
struct Frame {
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> bytes;
  std::vector<dnnl::memory> values;
  std::vector<dnnl::memory> workspaces;
};

class Plan {
 public:
  Plan(const std::vector<std::unique_ptr<Layer>>& layers, Shape input, std::size_t batch);

  [[nodiscard]] std::size_t batch() const { return batch_; }
  /// A frame with any contents. Frames come back and are used again: allocating them afresh would cost a page fault per 4 KiB at every
  /// step.
  std::unique_ptr<Frame> take_frame();
  void give_back(std::unique_ptr<Frame> frame);

  void forward(Frame& frame, const float* parameters, const float* input, float* output);
  /// `input_gradient` null: not wanted.
  void backward(const Frame& frame, const float* parameters, const float* output_gradient, float* parameter_gradient,
                float* input_gradient);

 private:
  void add(std::unique_ptr<Step> step, bool has_parameters);
  [[nodiscard]] std::unique_ptr<Frame> make_frame() const;

  std::size_t batch_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<Desc> values_;
  std::size_t first_with_parameters_;  ///< steps before it run backward only for the input gradient
  Frame gradients_;                    ///< one gradient per value; shared by all tapes, as backward passes do not overlap
  std::vector<std::unique_ptr<Frame>> idle_;
};

inline constexpr std::size_t kPlansMax = 8;        ///< batch sizes that one network keeps ready; the least recently used one goes
inline constexpr std::size_t kIdleFramesMax = 16;  ///< per plan; frames beyond it are freed

}  // namespace hourglass::nn
