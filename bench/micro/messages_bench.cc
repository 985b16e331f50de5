// SPDX-License-Identifier: Apache-2.0
// Links: hg_messages
// Encoding and decoding: bytes a second of a large update (against a plain copy), messages a second of small ones.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "messages/all_messages.h"
#include "messages/codec.h"
#include "messages/envelope.h"

namespace hourglass {
namespace {

constexpr std::size_t kUpdateBytes = 13U << 20;

ParameterUpdate large_update() {
  ParameterUpdate update;
  update.absolute = true;
  GradientBlock block;
  block.length = block.count = kUpdateBytes / sizeof(float);
  block.values.resize(kUpdateBytes);
  Random random(1);
  for (std::size_t i = 0; i < kUpdateBytes; i += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(block.values.data() + i, &word, sizeof word);
  }
  update.deltas = {{1, {std::move(block)}, {}}};
  return update;
}

/// A push of many layers: 50 blocks of 1,000 entries.
GradientPush layered_push() {
  GradientPush push;
  for (std::uint64_t i = 0; i < 50; ++i) {
    push.blocks.push_back({.offset = i * 100000,
                           .length = 100000,
                           .count = 1000,
                           .index_codec = IndexCodec::rice,
                           .value_codec = ValueCodec::two_level,
                           .rice_bits = 6,
                           .low = 0.5F,
                           .high = 2.0F,
                           .indices = Bytes(1000, std::byte{0x55}),
                           .values = Bytes(250, std::byte{0xaa})});
  }
  return push;
}

PushVerdict verdict() {
  PushVerdict out;
  out.generation = 3;
  out.clock = 123456;
  return out;
}

template <class M>
void count(benchmark::State& state, const M& message) {
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(encode(message).size()));
}

template <class M>
void encode_each(benchmark::State& state, const M& message) {
  for (auto _ : state) benchmark::DoNotOptimize(encode(message).data());
  count(state, message);
}

template <class M>
void decode_each(benchmark::State& state, const M& message) {
  const Bytes bytes = encode(message);
  for (auto _ : state) {
    const auto result = decode<M>(bytes);
    if (!result.ok()) state.SkipWithError(result.error().text.c_str());
    benchmark::DoNotOptimize(&result);
  }
  count(state, message);
}

void copy_update(benchmark::State& state) {
  const Bytes bytes = encode(large_update());
  for (auto _ : state) {
    const Bytes copy = bytes;
    benchmark::DoNotOptimize(copy.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

void checksum_update(benchmark::State& state) {
  const Bytes bytes = encode(large_update());
  for (auto _ : state) benchmark::DoNotOptimize(checksum(bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

void header_both_ways(benchmark::State& state) {
  Envelope envelope;
  envelope.type = MessageType::gradient_push;
  for (auto _ : state) {
    const auto back = decode_header(encode_header(envelope), 0);
    benchmark::DoNotOptimize(&back);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(copy_update)->Unit(benchmark::kMicrosecond);
BENCHMARK(checksum_update)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(encode_each, update_13mb, large_update())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decode_each, update_13mb, large_update())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(encode_each, push_50_blocks, layered_push())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decode_each, push_50_blocks, layered_push())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(encode_each, push_verdict, verdict());
BENCHMARK_CAPTURE(decode_each, push_verdict, verdict());
BENCHMARK_CAPTURE(encode_each, welcome, Welcome{});
BENCHMARK_CAPTURE(decode_each, welcome, Welcome{});
BENCHMARK(header_both_ways);

}  // namespace
}  // namespace hourglass
