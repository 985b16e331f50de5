// SPDX-License-Identifier: Apache-2.0
// Links: hg_compress
// Whole ranges through sketches, factors and rotations, and back.
#include <bit>
#include <cmath>

#include "bench/micro/vectors.h"
#include "learning/compress/compressor.h"
#include "learning/compress/count_sketch.h"
#include "learning/compress/factors.h"

namespace hourglass::compress {
namespace {

/// A square matrix through a transform, and back.
void compress_matrix(benchmark::State& state, const std::string& spec) {
  const auto length = static_cast<std::size_t>(state.range(0));
  const auto& values = normal(length, 1);
  auto compressor = std::move(make_compressor(spec, {length, std::size_t{1} << std::bit_width(length) / 2})).value();
  GradientBlock block;
  std::uint64_t step = 0;
  for (auto _ : state) {
    block = compressor->compress(values, step++);
    benchmark::DoNotOptimize(block.values.data());
  }
  per_element(state, length, 4.0 * static_cast<double>(length));
  state.counters["bytes"] = static_cast<double>(block.values.size());
}

void accumulate_matrix(benchmark::State& state, const std::string& spec) {
  const auto length = static_cast<std::size_t>(state.range(0));
  const GradientBlock block =
      (*make_compressor(spec, {length, std::size_t{1} << std::bit_width(length) / 2}))->compress(normal(length, 1), 0);
  std::vector<float> sum(length, 0.0F);
  for (auto _ : state) benchmark::DoNotOptimize(accumulate(block, sum, 0.5F).ok());
  per_element(state, length, 8.0 * static_cast<double>(length));
}

/// The exact gradient of a fully connected layer of 1,024 x 1,024 from 64 samples.
void accumulate_factors(benchmark::State& state) {
  const auto& activations = normal(std::size_t{64} * 1024, 1);
  const auto& deltas = normal(std::size_t{64} * 1024, 2);
  const GradientBlock block = factor_gradient({activations, 64, 1024}, {deltas, 64, 1024}).value();
  std::vector<float> sum(block.length, 0.0F);
  for (auto _ : state) benchmark::DoNotOptimize(accumulate(block, sum, 0.5F).ok());
  per_element(state, sum.size(), 8.0 * static_cast<double>(sum.size()));
  state.counters["bytes"] = static_cast<double>(block.values.size());
}

/// One value in a hundred.
const std::vector<float>& sparse(std::size_t length) {
  static std::map<std::size_t, std::vector<float>> made;
  auto& values = made[length];
  if (values.empty()) {
    values = normal(length, 1);
    for (float& value : values) value = std::abs(value) > 2.5758F ? value : 0;
  }
  return values;
}

void sketch_encode(benchmark::State& state, const std::string& spec) {
  const auto& values = sparse(static_cast<std::size_t>(state.range(0)));
  auto compressor = std::move(make_compressor(spec, Shape::vector(values.size()))).value();
  GradientBlock block;
  for (auto _ : state) {
    block = compressor->compress(values, 1);
    benchmark::DoNotOptimize(block.values.data());
  }
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
  state.counters["bits/entry"] = 8.0 * static_cast<double>(block.values.size()) / (0.01 * static_cast<double>(values.size()));
}

void sketch_decode(benchmark::State& state, const std::string& spec) {
  const auto& values = sparse(static_cast<std::size_t>(state.range(0)));
  const GradientBlock block = (*make_compressor(spec, Shape::vector(values.size())))->compress(values, 1);
  std::vector<float> sum(values.size(), 0.0F);
  for (auto _ : state) benchmark::DoNotOptimize(accumulate(block, sum, 0.5F).ok());
  per_entry(state, values.size() / 100);
}

void sketch_merge(benchmark::State& state, const std::string& spec) {
  const auto& values = sparse(static_cast<std::size_t>(state.range(0)));
  const GradientBlock block = (*make_compressor(spec, Shape::vector(values.size())))->compress(values, 1);
  for (auto _ : state) {
    GradientBlock merged = block;
    benchmark::DoNotOptimize(merge(merged, block).ok());
  }
  per_entry(state, values.size() / 100);
}

void register_all() {
  add_bench("accumulate_factors/64 samples", accumulate_factors, {});
  for (const std::string spec : {"low_rank rank=2", "low_rank rank=4", "factors rank=4"}) {
    add_bench("compress_matrix/" + spec, [spec](benchmark::State& s) { compress_matrix(s, spec); }, {kMillion, 4 * kMillion});
    add_bench("accumulate_matrix/" + spec, [spec](benchmark::State& s) { accumulate_matrix(s, spec); }, {kMillion, 4 * kMillion});
  }
  for (const std::string spec : {"count_sketch", "count_sketch width=16", "count_sketch form=float cells=0.04"}) {
    add_bench("sketch_encode/" + spec, [spec](benchmark::State& s) { sketch_encode(s, spec); }, {kMillion, kTenMillion});
    add_bench("sketch_decode/" + spec, [spec](benchmark::State& s) { sketch_decode(s, spec); }, {kMillion, kTenMillion});
  }
  for (const std::string spec : {"count_sketch cells=0.02 exponent=-16", "count_sketch form=float cells=0.04"}) {
    add_bench("sketch_merge/" + spec, [spec](benchmark::State& s) { sketch_merge(s, spec); }, {kMillion});
  }
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace hourglass::compress
