// SPDX-License-Identifier: Apache-2.0
// Links: hg_compress
// Compression: time per element and per kept entry, bytes, and the floors to hold them against (reading a vector, read-modify-write).
#include <benchmark/benchmark.h>

#include <cmath>
#include <map>
#include <string>

#include "base/random.h"
#include "learning/compress/boundary.h"
#include "learning/compress/error_feedback.h"
#include "learning/compress/kernels.h"
#include "learning/compress/registry.h"
#include "learning/compress/topk.h"

namespace hourglass::compress {
namespace {

/// Standard normal values; made once per length and seed.
const std::vector<float>& normal(std::size_t length, std::uint64_t seed) {
  static std::map<std::pair<std::size_t, std::uint64_t>, std::vector<float>> made;
  auto& values = made[{length, seed}];
  if (values.empty() && length > 0) {
    Random random(seed);
    values.resize(length);
    for (auto& value : values) value = static_cast<float>(random.normal());
  }
  return values;
}

void per_element(benchmark::State& state, std::size_t elements, double bytes) {
  using benchmark::Counter;
  const auto total = static_cast<double>(elements) * static_cast<double>(state.iterations());
  state.counters["ns/element"] = Counter(total * 1e-9, Counter::kIsRate | Counter::kInvert);
  state.counters["GB/s"] = Counter(bytes * static_cast<double>(state.iterations()) * 1e-9, Counter::kIsRate);
}

void per_entry(benchmark::State& state, std::size_t entries) {
  using benchmark::Counter;
  state.counters["M/s"] = Counter(static_cast<double>(entries) * static_cast<double>(state.iterations()) * 1e-6, Counter::kIsRate);
}

void floor_read(benchmark::State& state) {
  const auto& values = normal(static_cast<std::size_t>(state.range(0)), 1);
  for (auto _ : state) benchmark::DoNotOptimize(kernels().finite(values.data(), values.size()));
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
}

void floor_read_modify_write(benchmark::State& state) {
  const auto& delta = normal(static_cast<std::size_t>(state.range(0)), 1);
  std::vector<float> residual(delta.size(), 0.0F);
  for (auto _ : state) benchmark::DoNotOptimize(kernels().add(delta.data(), residual.data(), residual.data(), delta.size()));
  per_element(state, delta.size(), 12.0 * static_cast<double>(delta.size()));
}

void compress_spec(benchmark::State& state, const std::string& spec) {
  const auto& values = normal(static_cast<std::size_t>(state.range(0)), 1);
  auto compressor = std::move(make_compressor(spec, Shape::vector(values.size()))).value();
  GradientBlock block;
  std::uint64_t step = 0;
  for (auto _ : state) {
    block = compressor->compress(values, step++);
    benchmark::DoNotOptimize(block.values.data());
  }
  const auto bytes = static_cast<double>(block.indices.size() + block.values.size());
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
  state.counters["bytes"] = bytes;
  state.counters["bits/entry"] = 8 * bytes / static_cast<double>(block.count);
}

/// Without anything remembered from the step before.
void select_cold(benchmark::State& state, const std::string& spec) {
  const auto& values = normal(static_cast<std::size_t>(state.range(0)), 1);
  const auto stage = std::move(parse_spec(spec)).value().front();
  Entries chosen;
  for (auto _ : state) {
    auto selector = std::move(make_topk(stage, Shape::vector(values.size()))).value();
    selector->select(values, 0, chosen);
    benchmark::DoNotOptimize(chosen.values.data());
  }
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
}

void select_warm(benchmark::State& state, const std::string& spec) {
  const auto length = static_cast<std::size_t>(state.range(0));
  auto selector = std::move(make_topk(std::move(parse_spec(spec)).value().front(), Shape::vector(length))).value();
  Entries chosen;
  const std::vector<float>* steps[2] = {&normal(length, 1), &normal(length, 2)};
  std::size_t step = 0;
  for (auto _ : state) {
    selector->select(*steps[step++ % 2], 0, chosen);
    benchmark::DoNotOptimize(chosen.values.data());
  }
  per_element(state, length, 4.0 * static_cast<double>(length));
}

void exact_by_histogram(benchmark::State& state) {
  const auto& values = normal(static_cast<std::size_t>(state.range(0)), 1);
  for (auto _ : state) benchmark::DoNotOptimize(find_magnitude(values, values.size() / 100).bits);
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
}

/// A worker's whole step: add the residual, select, quantize, encode, subtract what was sent.
void error_feedback(benchmark::State& state, const std::string& spec) {
  const auto length = static_cast<std::size_t>(state.range(0));
  auto feedback = std::move(ErrorFeedback::make(spec, {{0, length, false}}, length)).value();
  for (std::uint64_t step = 0; step < 4; ++step) benchmark::DoNotOptimize(feedback.compress(normal(length, 1 + step % 2), step).ok());
  std::uint64_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(feedback.compress(normal(length, 1 + step % 2), step).ok());
    ++step;
  }
  per_element(state, length, 4.0 * static_cast<double>(length));
}

void accumulate_spec(benchmark::State& state, const std::string& spec) {
  const auto& values = normal(static_cast<std::size_t>(state.range(0)), 1);
  const GradientBlock block = (*make_compressor(spec, Shape::vector(values.size())))->compress(values, 0);
  std::vector<float> sum(values.size(), 0.0F);
  for (auto _ : state) benchmark::DoNotOptimize(accumulate(block, sum, 0.5F).ok());
  per_entry(state, block.count);
  per_element(state, values.size(), 8.0 * static_cast<double>(values.size()));
}

std::vector<std::uint32_t> selected(std::size_t length, const char* ratio) {
  Entries chosen;
  (*make_topk(parse_spec(std::string("topk ratio=") + ratio)->front(), Shape::vector(length)))->select(normal(length, 1), 0, chosen);
  return chosen.indices;
}

void index_encode(benchmark::State& state, IndexCodec codec, const char* ratio) {
  const auto length = static_cast<std::size_t>(state.range(0));
  const auto indices = selected(length, ratio);
  GradientBlock block;
  for (auto _ : state) {
    find_index_coder(codec)->encode(indices, length, block);
    benchmark::DoNotOptimize(block.indices.data());
  }
  per_entry(state, indices.size());
  state.counters["bits/entry"] = 8.0 * static_cast<double>(block.indices.size()) / static_cast<double>(indices.size());
}

void index_decode(benchmark::State& state, IndexCodec codec, const char* ratio) {
  const auto length = static_cast<std::size_t>(state.range(0));
  const auto indices = selected(length, ratio);
  GradientBlock block;
  block.length = length;
  block.count = indices.size();
  find_index_coder(codec)->encode(indices, length, block);
  for (auto _ : state) {
    std::vector<std::uint32_t> out;
    benchmark::DoNotOptimize(find_index_coder(codec)->decode(block, out).ok());
  }
  per_entry(state, indices.size());
}

void boundary_encode(benchmark::State& state, BoundaryCodec codec) {
  constexpr std::size_t kColumns = 3136;
  const auto& values = normal(64 * kColumns, 1);
  Random random(1);
  for (auto _ : state) benchmark::DoNotOptimize(encode_boundary(values, 64, kColumns, codec, random).values.data());
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
}

void boundary_decode(benchmark::State& state, BoundaryCodec codec) {
  constexpr std::size_t kColumns = 3136;
  const auto& values = normal(64 * kColumns, 1);
  Random random(1);
  const BoundaryTensor tensor = encode_boundary(values, 64, kColumns, codec, random);
  std::vector<float> out(values.size());
  for (auto _ : state) benchmark::DoNotOptimize(decode_boundary(tensor, out).ok());
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
}

constexpr std::int64_t kMillion = 1 << 20;
constexpr std::int64_t kSegment = 3211264;  // the first FC matrix of `cnn`
constexpr std::int64_t kTenMillion = 10 * kMillion;

void register_all() {
  const auto add = [](const std::string& name, auto run, std::initializer_list<std::int64_t> lengths) {
    auto* bench = benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMicrosecond);
    for (const std::int64_t length : lengths) bench->Arg(length);
  };
  add("floor/read", floor_read, {kMillion, kSegment, kTenMillion});
  add("floor/read_modify_write", floor_read_modify_write, {kMillion, kSegment, kTenMillion});
  for (const std::string ratio : {"0.01", "0.001"}) {
    const std::string topk = "topk ratio=" + ratio;
    add("select_cold/" + topk, [topk](benchmark::State& s) { select_cold(s, topk); }, {kMillion, kTenMillion});
    add("select_warm/" + topk, [topk](benchmark::State& s) { select_warm(s, topk); }, {kMillion, kTenMillion});
  }
  add("exact_by_histogram", exact_by_histogram, {kMillion, kTenMillion});
  for (const std::string spec :
       {"dense", "dense | bf16", "dense | two_level", "topk ratio=0.01", "topk ratio=0.01 | bf16", "topk ratio=0.01 | two_level",
        "topk ratio=0.01 | two_level | rice", "topk ratio=0.01 | two_level | bitmap", "topk ratio=0.01 | two_level | raw",
        "topk ratio=0.001 | two_level | rice"}) {
    add("compress/" + spec, [spec](benchmark::State& s) { compress_spec(s, spec); }, {kMillion, kTenMillion});
    add("accumulate/" + spec, [spec](benchmark::State& s) { accumulate_spec(s, spec); }, {kMillion, kTenMillion});
  }
  for (const std::string spec :
       {"topk ratio=0.01 | two_level | rice", "topk ratio=0.01", "topk ratio=0.001 | two_level | rice", "dense | bf16", "dense",
        "none | topk ratio=0.01", "feedback decay=0.95 | topk ratio=0.01", "dgc_momentum | topk ratio=0.01", "low_pass | topk ratio=0.01",
        "ef21 | topk ratio=0.01", "budget | topk ratio=0.01", "entropy | topk ratio=0.01", "dynamic | topk ratio=0.01"}) {
    add("error_feedback/" + spec, [spec](benchmark::State& s) { error_feedback(s, spec); }, {kMillion, kSegment, kTenMillion});
  }
  for (const auto& [name, codec] :
       {std::pair{"rice", IndexCodec::rice}, std::pair{"bitmap", IndexCodec::bitmap}, std::pair{"raw", IndexCodec::raw}}) {
    for (const char* ratio : {"0.01", "0.001", "0.1"}) {
      const IndexCodec of = codec;
      add(std::string("encode/") + name + "/" + ratio, [of, ratio](benchmark::State& s) { index_encode(s, of, ratio); },
          {kMillion, kTenMillion});
      add(std::string("decode/") + name + "/" + ratio, [of, ratio](benchmark::State& s) { index_decode(s, of, ratio); },
          {kMillion, kTenMillion});
    }
  }
  for (const auto& [name, codec] :
       {std::pair{"f32", BoundaryCodec::f32}, std::pair{"bf16", BoundaryCodec::bf16}, std::pair{"u8", BoundaryCodec::u8}}) {
    const BoundaryCodec of = codec;
    add(std::string("boundary_encode/") + name, [of](benchmark::State& s) { boundary_encode(s, of); }, {});
    add(std::string("boundary_decode/") + name, [of](benchmark::State& s) { boundary_decode(s, of); }, {});
  }
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace hourglass::compress
