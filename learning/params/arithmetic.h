// SPDX-License-Identifier: Apache-2.0
// Passes over whole parameter groups, at the speed of memory.
#pragma once

#include <span>

#include "learning/params/optimizer.h"

namespace hourglass::params {

/// No gradient that an optimizer takes has a larger magnitude: a momentum of 0.9999 stays finite.
inline constexpr float kGradientMax = 1e30F;

/// True where no value is infinite or NaN.
bool all_finite(std::span<const float> values);
/// sum += step. The spans have one size.
void add(std::span<float> sum, std::span<const float> step);
/// optimizer.step(), unless the gradient has a value beyond kGradientMax or a NaN: then it becomes zeros, the optimizer's state stays what
/// it was, and the outcome is false.
bool step_if_usable(Optimizer& optimizer, std::span<const float> parameters, std::span<float> gradient, double rate);

}  // namespace hourglass::params
