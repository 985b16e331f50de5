// SPDX-License-Identifier: Apache-2.0
// Bytes per second of optimizer steps: momentum reads gradient and velocity and writes both (16 bytes a parameter), decay reads the
// parameters too. Sizes: the models `cnn` (3.3 M) and one with 13 M parameters.
// Links: hg_params
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "learning/params/optimizer.h"

namespace {

/// `rate` keeps the numbers where they are: a gradient is the last step's delta.
void step(benchmark::State& state, const std::string& spec, double rate, double decay, double bytes_per_parameter) {
  const auto size = static_cast<std::size_t>(state.range(0));
  auto optimizer = hourglass::params::make_optimizer(spec, decay, size).value();
  const std::vector<float> parameters(size, 0.5F);
  std::vector<float> gradient(size, 0.25F);
  for (auto _ : state) {
    optimizer->step(parameters, gradient, rate);
    benchmark::DoNotOptimize(gradient.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<double>(state.iterations() * state.range(0)) * bytes_per_parameter));
}

void sgd(benchmark::State& state) { step(state, "sgd", -1.0, 0.0, 8); }
void sgd_momentum(benchmark::State& state) { step(state, "sgd momentum=0.9", -0.1, 0.0, 16); }
void sgd_momentum_decay(benchmark::State& state) { step(state, "sgd momentum=0.9", -0.1, 1e-4, 20); }
void sgd_nesterov_decay(benchmark::State& state) { step(state, "sgd momentum=0.9 nesterov=1", -0.1, 1e-4, 20); }

BENCHMARK(sgd)->Arg(3'300'000)->Arg(13'000'000);
BENCHMARK(sgd_momentum)->Arg(3'300'000)->Arg(13'000'000);
BENCHMARK(sgd_momentum_decay)->Arg(3'300'000)->Arg(13'000'000);
BENCHMARK(sgd_nesterov_decay)->Arg(3'300'000)->Arg(13'000'000);

}  // namespace
