// SPDX-License-Identifier: Apache-2.0
// The inner loop of SGD, one pass over memory, compiled for any x86-64 and for x86-64-v3. Both give the same bits: no fused
// multiply-add, which would gain nothing where memory is the bound.
#pragma once

#include <cstddef>

namespace hourglass::params {

struct SgdNumbers {
  float rate = 0.0F;
  float decay = 0.0F;
  float momentum = 0.0F;
};

/// Overwrites gradient[0, size) with the delta. Null `parameters`: no decay. Null `velocity`: no momentum, `nesterov` has no effect; else
/// it is updated, and all zeros before the first step. The arrays must not overlap.
using SgdKernel = void (*)(const float* parameters, float* gradient, float* velocity, std::size_t size, SgdNumbers numbers, bool nesterov);

namespace kernels_base {
void sgd(const float* parameters, float* gradient, float* velocity, std::size_t size, SgdNumbers numbers, bool nesterov);
}
namespace kernels_v3 {
void sgd(const float* parameters, float* gradient, float* velocity, std::size_t size, SgdNumbers numbers, bool nesterov);
}

/// The fastest for this processor.
SgdKernel sgd_kernel();

}  // namespace hourglass::params
