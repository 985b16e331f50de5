// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace hourglass::nn {
namespace {

Doubles convolve(const SpecStage& stage, Shape in, Shape out, const double* weight, const double* bias, const Doubles& x) {
  const auto kernel = *stage.whole("kernel", 3, 1, 1024), pad = *stage.whole("pad", 0, 0, 1024),
             stride = *stage.whole("stride", 1, 1, 1024);
  Doubles y;
  for (std::int64_t o = 0; o < out.channels; ++o) {
    for (std::int64_t row = 0; row < out.height; ++row) {
      for (std::int64_t column = 0; column < out.width; ++column) {
        double sum = bias[o];
        for (std::int64_t c = 0; c < in.channels; ++c) {
          for (std::int64_t i = 0; i < kernel; ++i) {
            for (std::int64_t j = 0; j < kernel; ++j) {
              const std::int64_t at_row = row * stride + i - pad, at_column = column * stride + j - pad;
              if (at_row < 0 || at_column < 0 || at_row >= in.height || at_column >= in.width) continue;
              sum += weight[((o * in.channels + c) * kernel + i) * kernel + j] * x[(c * in.height + at_row) * in.width + at_column];
            }
          }
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

Doubles pool(std::int64_t size, Shape in, Shape out, const Doubles& x) {
  Doubles y;
  for (std::int64_t c = 0; c < out.channels; ++c) {
    for (std::int64_t row = 0; row < out.height; ++row) {
      for (std::int64_t column = 0; column < out.width; ++column) {
        double largest = -1e300;
        for (std::int64_t i = 0; i < size * size; ++i) {
          largest = std::max(largest, x[(c * in.height + row * size + i / size) * in.width + column * size + i % size]);
        }
        y.push_back(largest);
      }
    }
  }
  return y;
}

Doubles connect(std::size_t out, const double* weight, const double* bias, const Doubles& x) {
  Doubles y;
  for (std::size_t o = 0; o < out; ++o) {
    double sum = bias[o];
    for (std::size_t i = 0; i < x.size(); ++i) sum += weight[o * x.size() + i] * x[i];
    y.push_back(sum);
  }
  return y;
}

/// Shape behind a stage that is known to fit.
Shape shape_behind(const SpecStage& stage, Shape in) { return must_build(to_string({stage}), in)->output(); }

}  // namespace

Doubles reference_forward(const std::vector<SpecStage>& stages, const Network& network, const Doubles& parameters, const Doubles& input) {
  Doubles value = input;
  Shape shape = network.input();
  std::size_t layer = 0;
  const std::size_t layers = network.parameters().size() / 2;
  for (const SpecStage& stage : stages) {
    const Shape out = shape_behind(stage, shape);
    const bool weighted = stage.name == "conv" || stage.name == "fc";
    const double* weight = weighted ? parameters.data() + network.parameters()[layer].offset : nullptr;
    const double* bias = weighted ? parameters.data() + network.parameters()[layers + layer].offset : nullptr;
    if (stage.name == "conv") value = convolve(stage, shape, out, weight, bias, value);
    if (stage.name == "fc") value = connect(out.channels, weight, bias, value);
    if (stage.name == "pool") value = pool(*stage.whole_word(0, "size", 1, 1024), shape, out, value);
    if (stage.name == "relu") std::for_each(value.begin(), value.end(), [](double& each) { each = std::max(each, 0.0); });
    if (weighted) ++layer;
    shape = out;
  }
  return value;
}

ReferenceGradient reference_gradient(const std::vector<SpecStage>& stages, const Network& network, const Doubles& parameters,
                                     const Doubles& inputs, std::size_t batch, const Doubles& weights) {
  constexpr double kStep = 1e-6;
  const std::size_t in = network.input().size(), out = network.output().size();
  const auto loss = [&](const Doubles& at, const Doubles& x, std::size_t sample) {
    const Doubles y = reference_forward(stages, network, at, x);
    double sum = 0;
    for (std::size_t i = 0; i < out; ++i) sum += weights[sample * out + i] * y[i];
    return sum;
  };
  ReferenceGradient gradient{Doubles(parameters.size()), Doubles(inputs.size())};
  for (std::size_t sample = 0; sample < batch; ++sample) {
    Doubles x(inputs.begin() + static_cast<std::ptrdiff_t>(sample * in), inputs.begin() + static_cast<std::ptrdiff_t>((sample + 1) * in));
    Doubles at = parameters;
    const auto slope = [&](double& variable) {
      const double before = variable;
      variable = before + kStep;
      const double up = loss(at, x, sample);
      variable = before - kStep;
      const double down = loss(at, x, sample);
      variable = before;
      return (up - down) / (2 * kStep);
    };
    for (std::size_t i = 0; i < at.size(); ++i) gradient.parameters[i] += slope(at[i]);
    for (std::size_t i = 0; i < in; ++i) gradient.input[sample * in + i] = slope(x[i]);
  }
  return gradient;
}

std::unique_ptr<Network> must_build(std::string_view spec, Shape input, std::uint32_t threads) {
  auto stages = spec.empty() ? Result<std::vector<SpecStage>>(std::vector<SpecStage>()) : parse_spec(spec);
  auto network = build_network(stages.value(), input, threads);
  return std::move(network).value();
}

std::vector<float> random_floats(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> out(size);
  for (float& each : out) each = 2 * random.uniform_float() - 1;
  return out;
}

Doubles to_doubles(std::span<const float> values) { return {values.begin(), values.end()}; }

double largest_error(std::span<const float> a, const Doubles& b) {
  if (a.size() != b.size()) return 1e300;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(a[i] - b[i]) / (1 + std::abs(b[i]));
    if (!std::isfinite(error)) return 1e300;
    largest = std::max(largest, error);
  }
  return largest;
}

}  // namespace hourglass::nn
