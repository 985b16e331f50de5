// SPDX-License-Identifier: Apache-2.0
// The layers once more, straight from their formulas in double precision, to hold the fast ones against.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "learning/nn/network.h"

namespace hourglass::nn {

using Doubles = std::vector<double>;

/// Output of the layers for one sample; `parameters` in the network's own layout.
Doubles reference_forward(const std::vector<SpecStage>& stages, const Network& network, const Doubles& parameters, const Doubles& input);

struct ReferenceGradient {
  Doubles parameters;
  Doubles input;
};
/// Gradient of sum(weights * output) over all samples by central differences.
ReferenceGradient reference_gradient(const std::vector<SpecStage>& stages, const Network& network, const Doubles& parameters,
                                     const Doubles& inputs, std::size_t batch, const Doubles& weights);

std::unique_ptr<Network> must_build(std::string_view spec, Shape input, std::uint32_t threads = 1);
/// Uniform in -1..1.
std::vector<float> random_floats(std::size_t size, std::uint64_t seed);
Doubles to_doubles(std::span<const float> values);
/// The largest |a - b| / (1 + |b|); huge where the sizes differ or a value is not finite.
double largest_error(std::span<const float> a, const Doubles& b);

}  // namespace hourglass::nn
