// SPDX-License-Identifier: Apache-2.0
// How a message tells its fields to the codec, the golden writer and the tests: `fields(self, visitor)` calls one verb per
// field, in wire order. Each verb carries the field's limits, so decode cannot forget one. On the wire a struct is a
// MessagePack array of exactly its fields; `packed` and `blob` are a bin and its 32-bit checksum (two elements).
//
//   v.number(x, low, high)     integer in [low, high]            v.number(x)     any value of the type
//   v.flag(b)                  bool
//   v.choice(e, last)          enum with values 0..last          v.choice(e, first, last)
//   v.real(f)                  finite; a float as float32, a double as float64
//   v.text(s, bytes_max)       UTF-8 string, no control characters but \n and \t
//   v.packed(vec, count_max)   vector of trivially copyable numbers as little-endian bin; reals are finite
//   v.blob(bytes, bytes_max)   Bytes as bin
//   v.items(vec, count_max)    vector of structs with fields() of their own
//   v.group(s)                 one nested struct with fields()
#pragma once

#include <concepts>
#include <cstddef>

namespace hourglass {

namespace limits {
inline constexpr std::size_t kNameBytes = 128;
inline constexpr std::size_t kTextBytes = 1024;
inline constexpr std::size_t kEndpointBytes = 300;
inline constexpr std::size_t kSpecBytes = 4096;
inline constexpr std::size_t kMembers = 1024;
inline constexpr std::size_t kBatchSamples = 4096;
inline constexpr std::size_t kSampleBytes = 1U << 20;
inline constexpr std::size_t kLeases = 64;            ///< leases one worker may work on at a time
inline constexpr std::size_t kHeldLeases = 4096;      ///< and hold, those of its present unit included
inline constexpr std::size_t kBatchesUnderWay = 64;   ///< of one CONV worker
inline constexpr std::size_t kLocalSteps = 1000;      ///< batches of one unit
inline constexpr std::size_t kResults = 4096;         ///< lease results in one request
inline constexpr std::size_t kBlocks = 4096;          ///< gradient blocks in one message
inline constexpr std::size_t kDeltas = 256;           ///< versions in one update
inline constexpr std::size_t kParameters = 1U << 28;  ///< 268 M floats in one group
inline constexpr std::size_t kBodyBytes = 1U << 30;   ///< one message body
inline constexpr std::size_t kChunkBytes = 1U << 20;  ///< one snapshot chunk
inline constexpr std::size_t kMetrics = 512;
inline constexpr std::size_t kOpenLeases = 1U << 16;  ///< of all workers together
inline constexpr std::size_t kStateBytes = 1U << 31;  ///< of one worker
}  // namespace limits

/// A visitor that ignores everything; used by the concept below.
struct NullVisitor {
  template <class... A>
  void number(A&&...) {}
  template <class... A>
  void flag(A&&...) {}
  template <class... A>
  void choice(A&&...) {}
  template <class... A>
  void real(A&&...) {}
  template <class... A>
  void text(A&&...) {}
  template <class... A>
  void packed(A&&...) {}
  template <class... A>
  void blob(A&&...) {}
  template <class... A>
  void items(A&&...) {}
  template <class... A>
  void group(A&&...) {}
};

template <class M>
concept Described = requires(M& m, NullVisitor& v) {
  M::fields(m, v);
};

}  // namespace hourglass
