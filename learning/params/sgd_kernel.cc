// SPDX-License-Identifier: Apache-2.0
#include "learning/params/sgd_kernel.h"

namespace hourglass::params::HG_KERNEL_NAMESPACE {
namespace {

enum class Momentum { none, heavy_ball, nesterov };

template <bool decayed, Momentum kind>
void pass(const float* __restrict parameters, float* __restrict gradient, float* __restrict velocity, std::size_t size,
          SgdNumbers numbers) {
  const float rate = -numbers.rate;
  const float decay = numbers.decay;
  const float momentum = numbers.momentum;
  for (std::size_t i = 0; i < size; ++i) {
    float direction = gradient[i];
    if constexpr (decayed) direction += decay * parameters[i];
    if constexpr (kind != Momentum::none) {
      const float next = momentum * velocity[i] + direction;
      velocity[i] = next;
      direction = kind == Momentum::nesterov ? direction + momentum * next : next;
    }
    gradient[i] = rate * direction;
  }
}

template <bool decayed>
void choose(const float* parameters, float* gradient, float* velocity, std::size_t size, SgdNumbers numbers, bool nesterov) {
  if (velocity == nullptr) {
    pass<decayed, Momentum::none>(parameters, gradient, velocity, size, numbers);
  } else if (nesterov) {
    pass<decayed, Momentum::nesterov>(parameters, gradient, velocity, size, numbers);
  } else {
    pass<decayed, Momentum::heavy_ball>(parameters, gradient, velocity, size, numbers);
  }
}

}  // namespace

void sgd(const float* parameters, float* gradient, float* velocity, std::size_t size, SgdNumbers numbers, bool nesterov) {
  if (parameters != nullptr) {
    choose<true>(parameters, gradient, velocity, size, numbers, nesterov);
  } else {
    choose<false>(parameters, gradient, velocity, size, numbers, nesterov);
  }
}

}  // namespace hourglass::params::HG_KERNEL_NAMESPACE
