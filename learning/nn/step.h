// SPDX-License-Identifier: Apache-2.0
// A layer made ready for one batch size: oneDNN primitives and their private scratch memory. Internal to learning/nn.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>

#include <oneapi/dnnl/dnnl.hpp>

#include "base/check.h"
#include "learning/nn/network.h"

namespace hourglass::nn {

/// One CPU engine and stream serve the whole process; oneDNN's CPU streams run in order on the calling thread.
struct Device {
  dnnl::engine engine;
  dnnl::stream stream;
  static Device& get();
};

using Desc = dnnl::memory::desc;

/// Batch x channels x height x width, row-major.
Desc plain_desc(std::size_t batch, Shape shape);
Desc vector_desc(std::size_t size);
/// The same bytes with fewer channels (or output and input channels, of weights): what was cut off becomes padding.
Desc narrowed(Desc wide, std::initializer_list<dnnl_dim_t> first_extents);
/// Memory of its own, all zeros; that includes the padding of blocked layouts, which oneDNN's primitives then keep at zero.
dnnl::memory zeroed(const Desc& desc);
/// True where the instruction set of this processor reaches at least that far.
bool has_isa(dnnl::cpu_isa set);

/// Memory whose bytes somebody else owns and which may change at every call. Only for plain layouts: oneDNN clears the padding of blocked
/// ones whenever their address changes.
inline void point(dnnl::memory& memory, const float* data) { memory.set_data_handle(const_cast<float*>(data)); }

inline float* floats(const dnnl::memory& memory) { return static_cast<float*>(memory.get_data_handle()); }

struct Argument {
  int index;
  const dnnl::memory& memory;
};
/// Runs a primitive without the hash map that the C++ interface builds at every call.
inline void run(const dnnl::primitive& primitive, std::initializer_list<Argument> arguments) {
  constexpr std::size_t kArgumentsMax = 8;
  HG_CHECK(arguments.size() <= kArgumentsMax, "too many arguments for a primitive");
  dnnl_exec_arg_t list[kArgumentsMax];
  int count = 0;
  for (const Argument& argument : arguments) list[count++] = {argument.index, argument.memory.get()};
  const dnnl_status_t status = dnnl_primitive_execute(primitive.get(), Device::get().stream.get(), count, list);
  HG_CHECK(status == dnnl_success, "oneDNN refused to execute a primitive that it had created");
}

/// What one step sees of one forward pass.
struct ForwardCall {
  const float* parameters;
  const dnnl::memory& source;
  const dnnl::memory& target;
  const dnnl::memory& workspace;  ///< empty where the step asked for none
};

/// `target_gradient` is scratch memory and may be overwritten. `source_gradient` is null where nobody wants it.
struct BackwardCall {
  const float* parameters;
  float* parameter_gradient;
  const dnnl::memory& source;
  const dnnl::memory& target;
  const dnnl::memory& workspace;
  const dnnl::memory& target_gradient;
  const dnnl::memory* source_gradient;
};

class Step {
 public:
  virtual ~Step() = default;
  [[nodiscard]] virtual Desc source() const = 0;  ///< the layout it wants; gradients have the layouts of their values
  [[nodiscard]] virtual Desc target() const = 0;
  [[nodiscard]] virtual Desc workspace() const { return {}; }  ///< what forward leaves for backward, beside source and target
  virtual void forward(const ForwardCall& call) = 0;
  virtual void backward(const BackwardCall& call) = 0;
};

/// Changes the layout of a value, both ways. Channels that only one side has are padding: zeros there.
std::unique_ptr<Step> make_reorder(const Desc& from, const Desc& to);

}  // namespace hourglass::nn
