// SPDX-License-Identifier: Apache-2.0
// Links: hg_compress
// Compression: time per element and per kept entry, bytes, and the floors to hold them against (reading a vector, read-modify-write).
#include <cmath>

#include "bench/micro/vectors.h"
#include "learning/compress/boundary.h"
#include "learning/compress/error_feedback.h"
#include "learning/compress/kernels.h"
#include "learning/compress/registry.h"

namespace hourglass::compress {
namespace {

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

void register_all() {
  add_bench("floor/read", floor_read, {kMillion, kSegment, kTenMillion});
  add_bench("floor/read_modify_write", floor_read_modify_write, {kMillion, kSegment, kTenMillion});
  for (const std::string ratio : {"0.01", "0.001"}) {
    const std::string topk = "topk ratio=" + ratio;
    add_bench("select_cold/" + topk, [topk](benchmark::State& s) { select_cold(s, topk); }, {kMillion, kTenMillion});
    add_bench("select_warm/" + topk, [topk](benchmark::State& s) { select_warm(s, topk); }, {kMillion, kTenMillion});
  }
  for (const std::string spec :
       {"topk ratio=0.01", "chunk_topk", "chunk_topk k=41", "random_k ratio=0.01", "random_block ratio=0.01",
        "hard_threshold threshold=2.576", "hard_threshold threshold=3.29", "dgc ratio=0.01", "dgc ratio=0.001", "dgc ratio=0.01 reuse=10",
        "sidco ratio=0.01", "sidco ratio=0.01 dist=gamma", "sidco ratio=0.01 dist=gpareto", "sidco ratio=0.001 dist=gpareto",
        "sidco ratio=0.01 dist=gpareto reuse=10", "sbc ratio=0.01"}) {
    add_bench("select/" + spec, [spec](benchmark::State& s) { select_any(s, spec, false); }, {kMillion, kTenMillion});
    add_bench("add_select/" + spec, [spec](benchmark::State& s) { select_any(s, spec, true); }, {kMillion, kTenMillion});
  }
  add_bench("exact_by_histogram", exact_by_histogram, {kMillion, kTenMillion});
  for (const std::string spec :
       {"dense", "dense | bf16", "dense | two_level", "topk ratio=0.01", "topk ratio=0.01 | bf16", "topk ratio=0.01 | two_level",
        "topk ratio=0.01 | two_level | rice", "topk ratio=0.01 | two_level | bitmap", "topk ratio=0.01 | two_level | raw",
        "topk ratio=0.001 | two_level | rice"}) {
    add_bench("compress/" + spec, [spec](benchmark::State& s) { compress_spec(s, spec); }, {kMillion, kTenMillion});
    add_bench("accumulate/" + spec, [spec](benchmark::State& s) { accumulate_spec(s, spec); }, {kMillion, kTenMillion});
  }
  for (const std::string spec : {"fo_sgd", "fo_sgd form=sign", "measured"}) {
    add_bench("compress/" + spec, [spec](benchmark::State& s) { compress_spec(s, spec); }, {kMillion, kTenMillion});
    add_bench("accumulate/" + spec, [spec](benchmark::State& s) { accumulate_spec(s, spec); }, {kMillion, kTenMillion});
  }
  for (const std::string spec :
       {"topk ratio=0.01 | two_level | rice", "topk ratio=0.01", "topk ratio=0.001 | two_level | rice", "dense | bf16", "dense",
        "none | topk ratio=0.01", "feedback decay=0.95 | topk ratio=0.01", "dgc_momentum | topk ratio=0.01", "low_pass | topk ratio=0.01",
        "ef21 | topk ratio=0.01", "budget | topk ratio=0.01", "entropy | topk ratio=0.01", "dynamic | topk ratio=0.01"}) {
    add_bench("error_feedback/" + spec, [spec](benchmark::State& s) { error_feedback(s, spec); }, {kMillion, kSegment, kTenMillion});
  }
  for (const std::string spec : {"topk ratio=0.01", "aggregation_aware ratio=0.01", "aggregation_aware ratio=0.01 metric=frequency",
                                 "clt_k ratio=0.01", "neighborhood ratio=0.01", "row_sparse ratio=0.01"}) {
    add_bench("follow/" + spec, [spec](benchmark::State& s) { follow(s, spec); }, {kMillion});
  }
  for (const auto& [name, codec] :
       {std::pair{"rice", IndexCodec::rice}, std::pair{"bitmap", IndexCodec::bitmap}, std::pair{"raw", IndexCodec::raw}}) {
    for (const char* ratio : {"0.01", "0.001", "0.1"}) {
      const IndexCodec of = codec;
      add_bench(std::string("encode/") + name + "/" + ratio, [of, ratio](benchmark::State& s) { index_encode(s, of, ratio); },
                {kMillion, kTenMillion});
      add_bench(std::string("decode/") + name + "/" + ratio, [of, ratio](benchmark::State& s) { index_decode(s, of, ratio); },
                {kMillion, kTenMillion});
    }
  }
  for (const std::string name :
       {"f32", "bf16", "u8", "u6", "u4", "zeros", "zeros | bf16", "zeros | u8", "zeros | u6", "zeros | u4", "topk | u8", "sampled | u8"}) {
    const BoundarySpec of = boundary_spec(name).value();
    add_bench("boundary_encode/" + name, [of](benchmark::State& s) { boundary_encode(s, of); }, {});
    add_bench("boundary_decode/" + name, [of](benchmark::State& s) { boundary_decode(s, of); }, {});
  }
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace hourglass::compress
