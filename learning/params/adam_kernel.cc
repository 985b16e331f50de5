// SPDX-License-Identifier: Apache-2.0
// Compiled once per processor level, so it calls no inline function of any header: the linker might keep the wrong level's copy.
#include "learning/params/adam_kernel.h"

namespace hourglass::params::HG_KERNEL_NAMESPACE {
namespace {

float clean(float value) {
  float out = value < kGradientMost ? value : kGradientMost;
  out = out > -kGradientMost ? out : -kGradientMost;
  return value == value ? out : 0.0F;
}

template <bool kLargest>
void pass(const float* __restrict parameters, float* __restrict gradient, float* __restrict m, float* __restrict v,
          float* __restrict largest, std::size_t size, AdamNumbers numbers) {
  for (std::size_t i = 0; i < size; ++i) {
    const float g = clean(gradient[i] + numbers.decay * parameters[i]);
    const float first = numbers.beta1 * m[i] + numbers.rest1 * g;
    const float second = numbers.beta2 * v[i] + numbers.rest2 * (g * g);
    m[i] = first;
    v[i] = second;
    float under = second;
    if constexpr (kLargest) {
      under = second > largest[i] ? second : largest[i];
      largest[i] = under;
    }
    const float root = __builtin_sqrtf(under * numbers.correction + numbers.eps_within) + numbers.eps;
    gradient[i] = -numbers.rate * first / root - numbers.shrink * parameters[i];
  }
}

}  // namespace

void adam(const float* parameters, float* gradient, float* m, float* v, float* largest, std::size_t size, AdamNumbers numbers) {
  if (largest != nullptr) {
    pass<true>(parameters, gradient, m, v, largest, size, numbers);
  } else {
    pass<false>(parameters, gradient, m, v, largest, size, numbers);
  }
}

void scale_by_root(float* __restrict gradient, const float* __restrict v, std::size_t size, float rate, float eps) {
  for (std::size_t i = 0; i < size; ++i) {
    const float delta = -rate * clean(gradient[i]) / (__builtin_sqrtf(v[i]) + eps);
    gradient[i] = v[i] > 0.0F ? delta : 0.0F;
  }
}

}  // namespace hourglass::params::HG_KERNEL_NAMESPACE
