// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "messages/fields.h"

namespace hourglass {

namespace limits {
inline constexpr std::size_t kSpans = 64;  ///< in one report: the newest
}  // namespace limits

/// What a process was busy with; `wait`: a worker between two pieces of work.
enum class SpanKind : std::uint8_t { load, forward, backward, encode, step, apply, evaluate, wait };
inline constexpr SpanKind kLastSpanKind = SpanKind::wait;
inline constexpr std::size_t kSpanKinds = 8;

constexpr std::string_view name_of(SpanKind kind) {
  constexpr std::string_view kNames[kSpanKinds] = {"load", "forward", "backward", "encode", "step", "apply", "evaluate", "wait"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// What joins a span of one process to a span of another.
enum class Flow : std::uint8_t { batch, activations, gradients, push };

/// Both ends compute it from what the message says: `worker` is the CONV worker of a batch, or the sender of a push; `number` the lease,
/// batch or clock. Never 0, and below 2^53, so that any reader of JSON keeps it whole.
constexpr std::uint64_t flow_id(Flow flow, ActorId worker, std::uint64_t number) {
  std::uint64_t x = (std::uint64_t{worker.index} << 16) ^ (static_cast<std::uint64_t>(worker.role) << 8) ^ static_cast<std::uint64_t>(flow);
  for (const std::uint64_t word : {std::uint64_t{0x9e3779b97f4a7c15}, number}) {  // the finaliser of MurmurHash3, twice
    x ^= word;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
  }
  return (x >> 11) | 1;
}

/// A stretch of the sender's time, on the clock of `uptime_seconds`. Integers, and a duration instead of an end: a span that is not a
/// number or ends before it begins cannot be written down.
struct Span {
  static constexpr std::uint64_t kBeginUsMax = 1'000'000'000'000'000;  ///< 31 years
  static constexpr std::uint64_t kDurationUsMax = 3'600'000'000;       ///< 1 h; of a longer one its end is told
  SpanKind kind = SpanKind::wait;
  std::uint64_t begin_us = 0;
  std::uint64_t duration_us = 0;
  std::uint64_t flow_in = 0;   ///< it took what the span with this `flow_out` sent; 0: nothing
  std::uint64_t flow_out = 0;  ///< it sent something; 0: nothing

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.choice(m.kind, kLastSpanKind);
    v.number(m.begin_us, 0, kBeginUsMax);
    v.number(m.duration_us, 0, kDurationUsMax);
    v.number(m.flow_in);
    v.number(m.flow_out);
  }
};

}  // namespace hourglass
