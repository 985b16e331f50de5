// SPDX-License-Identifier: Apache-2.0
// The inner loops of Adam's family, one pass over memory, compiled for any x86-64 and for x86-64-v3. Both give the same bits: square root
// and division are exact to the last bit everywhere, nothing is fused.
#pragma once

#include <cstddef>

namespace hourglass::params {

/// Gradients beyond this are cut, what is no number counts as 0: the moments stay finite whatever comes.
inline constexpr float kGradientMost = 1e18F;

struct AdamNumbers {
  float rate = 0;  ///< of the step, bias correction of the first moment included
  float beta1 = 0;
  float beta2 = 0;
  float rest1 = 1;  ///< 1 - beta1, rounded once: 1 - 0.999 in floats is off by 1e-5
  float rest2 = 1;
  float eps = 0;         ///< beside the root
  float eps_within = 0;  ///< within the root
  float correction = 1;  ///< on the second moment, for its bias
  float decay = 0;       ///< added to the gradient, times the parameter (L2)
  float shrink = 0;      ///< added to the delta, times minus the parameter (decoupled)

  void set_betas(double first, double second) {
    beta1 = static_cast<float>(first);
    beta2 = static_cast<float>(second);
    rest1 = static_cast<float>(1 - first);
    rest2 = static_cast<float>(1 - second);
  }
};

/// Overwrites gradient[0, size) with the delta: g = clean(gradient) + decay w; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// u = v, or the largest v so far where `largest` is given (AMSGrad); delta = -rate m / (sqrt(u correction + eps_within) + eps) - shrink w.
/// The moments are all zeros before the first step. No arrays overlap.
using AdamKernel = void (*)(const float* parameters, float* gradient, float* m, float* v, float* largest, std::size_t size,
                            AdamNumbers numbers);
/// Gradient becomes -rate gradient / (sqrt(v) + eps), cleaned as above; 0 where v is 0: such an entry has no scale.
using ScaleKernel = void (*)(float* gradient, const float* v, std::size_t size, float rate, float eps);

namespace kernels_base {
void adam(const float* parameters, float* gradient, float* m, float* v, float* largest, std::size_t size, AdamNumbers numbers);
void scale_by_root(float* gradient, const float* v, std::size_t size, float rate, float eps);
}  // namespace kernels_base
namespace kernels_v3 {
void adam(const float* parameters, float* gradient, float* m, float* v, float* largest, std::size_t size, AdamNumbers numbers);
void scale_by_root(float* gradient, const float* v, std::size_t size, float rate, float eps);
}  // namespace kernels_v3

/// The fastest for this processor.
AdamKernel adam_kernel();
ScaleKernel scale_kernel();

}  // namespace hourglass::params
