// SPDX-License-Identifier: Apache-2.0
// What the benches of compression share: data, counters, registration.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "learning/compress/topk.h"

namespace hourglass::compress {

inline constexpr std::int64_t kMillion = 1 << 20;
inline constexpr std::int64_t kSegment = 3211264;  // the first FC matrix of `cnn`
inline constexpr std::int64_t kTenMillion = 10 * kMillion;

/// Standard normal values; made once per length and seed.
inline const std::vector<float>& normal(std::size_t length, std::uint64_t seed) {
  static std::map<std::pair<std::size_t, std::uint64_t>, std::vector<float>> made;
  auto& values = made[{length, seed}];
  if (values.empty() && length > 0) {
    Random random(seed);
    values.resize(length);
    for (auto& value : values) value = static_cast<float>(random.normal());
  }
  return values;
}

inline void per_element(benchmark::State& state, std::size_t elements, double bytes) {
  using benchmark::Counter;
  const auto total = static_cast<double>(elements) * static_cast<double>(state.iterations());
  state.counters["ns/element"] = Counter(total * 1e-9, Counter::kIsRate | Counter::kInvert);
  state.counters["GB/s"] = Counter(bytes * static_cast<double>(state.iterations()) * 1e-9, Counter::kIsRate);
}

inline void per_entry(benchmark::State& state, std::size_t entries) {
  using benchmark::Counter;
  state.counters["M/s"] = Counter(static_cast<double>(entries) * static_cast<double>(state.iterations()) * 1e-6, Counter::kIsRate);
}

inline std::vector<std::uint32_t> selected(std::size_t length, const char* ratio) {
  Entries chosen;
  (*make_topk(parse_spec(std::string("topk ratio=") + ratio)->front(), Shape::vector(length)))->select(normal(length, 1), 0, chosen);
  return chosen.indices;
}

template <class Run>
void add_bench(const std::string& name, Run run, std::initializer_list<std::int64_t> lengths) {
  auto* bench = benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMicrosecond);
  for (const std::int64_t length : lengths) bench->Arg(length);
}

}  // namespace hourglass::compress
