// SPDX-License-Identifier: Apache-2.0
// Links: hg_compress
// Compression: time per element and per kept entry, bytes, and the floors to hold them against (reading a vector, read-modify-write).
#include <benchmark/benchmark.h>

#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "base/random.h"
#include "learning/compress/boundary.h"
#include "learning/compress/count_sketch.h"
#include "learning/compress/error_feedback.h"
#include "learning/compress/factors.h"
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

/// Any selector as a worker uses it: one object, changing values.
void select_any(benchmark::State& state, const std::string& spec, bool add) {
  const auto length = static_cast<std::size_t>(state.range(0));
  const auto stage = std::move(parse_spec(spec)).value().front();
  auto selector = std::move(find_stage(stage.name)->make_selector(stage, Shape::vector(length))).value();
  Entries chosen;
  const std::vector<float>* steps[2] = {&normal(length, 1), &normal(length, 2)};
  const std::vector<float> zeros(add ? length : 0, 0.0F);
  std::vector<float> sum(zeros.size());
  std::uint64_t step = 0;
  double entries = 0;
  for (auto _ : state) {
    const auto& values = *steps[step % 2];
    if (add) {
      benchmark::DoNotOptimize(selector->add_select(values, zeros, sum, step, chosen).ok());
    } else {
      selector->select(values, step, chosen);
    }
    benchmark::DoNotOptimize(chosen.values.data());
    entries += static_cast<double>(chosen.indices.size());
    ++step;
  }
  per_element(state, length, (add ? 12.0 : 4.0) * static_cast<double>(length));
  state.counters["share"] = entries / static_cast<double>(length) / static_cast<double>(step);
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

/// The same with a published stream to follow: what was sent comes back.
void follow(benchmark::State& state, const std::string& spec) {
  const auto length = static_cast<std::size_t>(state.range(0));
  auto feedback = std::move(ErrorFeedback::make(spec, {{0, length, false, 1024}}, length)).value();
  std::uint64_t step = 0;
  const auto turn = [&] {
    const auto blocks = feedback.compress(normal(length, 1 + step % 2), step);
    feedback.observe(*blocks);
    ++step;
  };
  for (int warm = 0; warm < 4; ++warm) turn();
  for (auto _ : state) turn();
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

/// As behind a ReLU and a pool: 40 % of the entries are not 0.
const std::vector<float>& rectified(std::size_t length) {
  static const std::vector<float> values = [length] {
    std::vector<float> out = normal(length, 1);
    for (float& value : out) value = std::max(0.0F, value - 0.25F);
    return out;
  }();
  return values;
}

void boundary_encode(benchmark::State& state, const BoundarySpec& spec) {
  constexpr std::size_t kColumns = 3136;
  const auto& values = rectified(64 * kColumns);
  Random random(1);
  for (auto _ : state) benchmark::DoNotOptimize(encode_boundary(values, 64, kColumns, spec, random).values.data());
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
}

void boundary_decode(benchmark::State& state, const BoundarySpec& spec) {
  constexpr std::size_t kColumns = 3136;
  const auto& values = rectified(64 * kColumns);
  Random random(1);
  const BoundaryTensor tensor = encode_boundary(values, 64, kColumns, spec, random);
  std::vector<float> out(values.size());
  for (auto _ : state) benchmark::DoNotOptimize(decode_boundary(tensor, out).ok());
  per_element(state, values.size(), 4.0 * static_cast<double>(values.size()));
}

std::unique_ptr<ValueCoder> value_coder_of(const std::string& spec) {
  const SpecStage stage = std::move(parse_spec(spec)).value().front();
  return std::move(find_stage(stage.name)->make_value_coder(stage)).value();
}

void value_encode(benchmark::State& state, const std::string& spec) {
  const auto& values = normal(static_cast<std::size_t>(state.range(0)), 1);
  const auto coder = value_coder_of(spec);
  GradientBlock block;
  block.length = block.count = values.size();
  std::uint64_t key = 0;
  for (auto _ : state) {
    coder->encode(values, key++, block);
    benchmark::DoNotOptimize(block.values.data());
  }
  per_entry(state, values.size());
  state.counters["bits/entry"] = 8.0 * static_cast<double>(block.values.size()) / static_cast<double>(values.size());
}

/// With check(), as a receiver does. `scattered`: to every hundredth place, as after top-k.
void value_add(benchmark::State& state, const std::string& spec, bool scattered) {
  const auto length = static_cast<std::size_t>(state.range(0));
  const std::vector<std::uint32_t> indices = scattered ? selected(length, "0.01") : std::vector<std::uint32_t>();
  const auto coder = value_coder_of(spec);
  GradientBlock block;
  block.length = block.count = scattered ? indices.size() : length;
  coder->encode(std::span(normal(length, 1)).first(block.count), 0, block);
  std::vector<float> sum(length, 0.0F);
  for (auto _ : state) {
    benchmark::DoNotOptimize(coder->check(block).ok());
    if (scattered) {
      coder->scatter_add(block, 0.5F, indices, sum);
    } else {
      coder->add(block, 0.5F, sum);
    }
    benchmark::ClobberMemory();
  }
  per_entry(state, block.count);
}

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
  for (const std::string spec :
       {"topk ratio=0.01", "chunk_topk", "chunk_topk k=41", "random_k ratio=0.01", "random_block ratio=0.01",
        "hard_threshold threshold=2.576", "hard_threshold threshold=3.29", "dgc ratio=0.01", "dgc ratio=0.001", "dgc ratio=0.01 reuse=10",
        "sidco ratio=0.01", "sidco ratio=0.01 dist=gamma", "sidco ratio=0.01 dist=gpareto", "sidco ratio=0.001 dist=gpareto",
        "sidco ratio=0.01 dist=gpareto reuse=10", "sbc ratio=0.01"}) {
    add("select/" + spec, [spec](benchmark::State& s) { select_any(s, spec, false); }, {kMillion, kTenMillion});
    add("add_select/" + spec, [spec](benchmark::State& s) { select_any(s, spec, true); }, {kMillion, kTenMillion});
  }
  add("exact_by_histogram", exact_by_histogram, {kMillion, kTenMillion});
  for (const std::string spec :
       {"dense", "dense | bf16", "dense | two_level", "topk ratio=0.01", "topk ratio=0.01 | bf16", "topk ratio=0.01 | two_level",
        "topk ratio=0.01 | two_level | rice", "topk ratio=0.01 | two_level | bitmap", "topk ratio=0.01 | two_level | raw",
        "topk ratio=0.001 | two_level | rice"}) {
    add("compress/" + spec, [spec](benchmark::State& s) { compress_spec(s, spec); }, {kMillion, kTenMillion});
    add("accumulate/" + spec, [spec](benchmark::State& s) { accumulate_spec(s, spec); }, {kMillion, kTenMillion});
  }
  for (const std::string spec : {"fo_sgd", "fo_sgd form=sign", "measured"}) {
    add("compress/" + spec, [spec](benchmark::State& s) { compress_spec(s, spec); }, {kMillion, kTenMillion});
    add("accumulate/" + spec, [spec](benchmark::State& s) { accumulate_spec(s, spec); }, {kMillion, kTenMillion});
  }
  for (const std::string spec : {"low_rank rank=2", "low_rank rank=4", "factors rank=4"}) {
    add("compress_matrix/" + spec, [spec](benchmark::State& s) { compress_matrix(s, spec); }, {kMillion, 4 * kMillion});
    add("accumulate_matrix/" + spec, [spec](benchmark::State& s) { accumulate_matrix(s, spec); }, {kMillion, 4 * kMillion});
  }
  add("accumulate_factors/64 samples", accumulate_factors, {});
  for (const std::string spec : {"count_sketch", "count_sketch width=16", "count_sketch form=float cells=0.04"}) {
    add("sketch_encode/" + spec, [spec](benchmark::State& s) { sketch_encode(s, spec); }, {kMillion, kTenMillion});
    add("sketch_decode/" + spec, [spec](benchmark::State& s) { sketch_decode(s, spec); }, {kMillion, kTenMillion});
  }
  for (const std::string spec : {"count_sketch cells=0.02 exponent=-16", "count_sketch form=float cells=0.04"}) {
    add("sketch_merge/" + spec, [spec](benchmark::State& s) { sketch_merge(s, spec); }, {kMillion});
  }
  for (const std::string spec :
       {"topk ratio=0.01 | two_level | rice", "topk ratio=0.01", "topk ratio=0.001 | two_level | rice", "dense | bf16", "dense",
        "none | topk ratio=0.01", "feedback decay=0.95 | topk ratio=0.01", "dgc_momentum | topk ratio=0.01", "low_pass | topk ratio=0.01",
        "ef21 | topk ratio=0.01", "budget | topk ratio=0.01", "entropy | topk ratio=0.01", "dynamic | topk ratio=0.01"}) {
    add("error_feedback/" + spec, [spec](benchmark::State& s) { error_feedback(s, spec); }, {kMillion, kSegment, kTenMillion});
  }
  for (const std::string spec : {"f32", "bf16", "two_level", "f16", "u8", "qsgd", "qsgd levels=127", "natural", "natural bits=8",
                                 "mxnet_two_bit", "mean", "terngrad", "sign", "curve"}) {
    add("value_encode/" + spec, [spec](benchmark::State& s) { value_encode(s, spec); }, {kMillion});
    add("value_add/" + spec, [spec](benchmark::State& s) { value_add(s, spec, false); }, {kMillion});
    add("value_scatter/" + spec, [spec](benchmark::State& s) { value_add(s, spec, true); }, {kMillion, kTenMillion});
  }
  for (const std::string spec : {"topk ratio=0.01", "aggregation_aware ratio=0.01", "aggregation_aware ratio=0.01 metric=frequency",
                                 "clt_k ratio=0.01", "neighborhood ratio=0.01", "row_sparse ratio=0.01"}) {
    add("follow/" + spec, [spec](benchmark::State& s) { follow(s, spec); }, {kMillion});
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
  for (const std::string name :
       {"f32", "bf16", "u8", "u6", "u4", "zeros", "zeros | bf16", "zeros | u8", "zeros | u6", "zeros | u4", "topk | u8", "sampled | u8"}) {
    const BoundarySpec of = boundary_spec(name).value();
    add("boundary_encode/" + name, [of](benchmark::State& s) { boundary_encode(s, of); }, {});
    add("boundary_decode/" + name, [of](benchmark::State& s) { boundary_decode(s, of); }, {});
  }
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace hourglass::compress
