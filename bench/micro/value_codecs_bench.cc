// SPDX-License-Identifier: Apache-2.0
// Links: hg_compress
// Value codecs: entries per second written, added and scattered.
#include "bench/micro/vectors.h"
#include "learning/compress/registry.h"

namespace hourglass::compress {
namespace {

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

void register_all() {
  for (const std::string spec : {"f32", "bf16", "two_level", "f16", "u8", "qsgd", "qsgd levels=127", "natural", "natural bits=8",
                                 "mxnet_two_bit", "mean", "terngrad", "sign", "curve"}) {
    add_bench("value_encode/" + spec, [spec](benchmark::State& s) { value_encode(s, spec); }, {kMillion});
    add_bench("value_add/" + spec, [spec](benchmark::State& s) { value_add(s, spec, false); }, {kMillion});
    add_bench("value_scatter/" + spec, [spec](benchmark::State& s) { value_add(s, spec, true); }, {kMillion, kTenMillion});
  }
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace hourglass::compress
