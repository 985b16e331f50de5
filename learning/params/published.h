// SPDX-License-Identifier: Apache-2.0
// The published stream of a parameter group: the ring of recent deltas at who hands it on, the copy of its values at who follows it.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/result.h"
#include "messages/parameter_update.h"

namespace hourglass::params {

/// The values of a version as one dense f32 block.
VersionDelta whole(std::uint64_t version, std::span<const float> values);

/// Recent deltas, oldest first; lead a follower of any recent version to the newest.
class DeltaRing {
 public:
  /// Deltas kept; who is further behind takes a snapshot, as does one for whom the snapshot is smaller.
  static constexpr std::size_t kDeltasMax = limits::kDeltas;

  /// `delta` leads from version `from` to its own.
  void push(std::uint64_t from, VersionDelta delta);
  void clear() { ring_.clear(); }
  /// What leads from `from` to the newest, whose values are `newest`; what several of them changed is merged where that is
  /// smaller (merged()). Errors: too_stale where the ring does not reach back or `newest` as a whole has fewer bytes.
  [[nodiscard]] Result<std::vector<VersionDelta>> since(std::uint64_t from, std::span<const float> newest) const;

 private:
  struct Entry {
    std::uint64_t from = 0;
    VersionDelta delta;
  };
  std::deque<Entry> ring_;
};

/// What an update turned out to be: overtaken by newer values; clocks alone; values as a whole; deltas.
enum class Taken : std::uint8_t { late, clocks, values, deltas };

/// A follower's copy, bit for bit.
class PublishedCopy {
 public:
  explicit PublishedCopy(std::vector<float> initial) : values_(std::move(initial)) {}

  /// Errors: too_stale where its deltas start elsewhere than here (ask again); malformed, bad_data: nothing changed.
  Result<Taken> absorb(const ParameterUpdate& update);
  /// Values as a whole (snapshot).
  Result<Taken> absorb(std::span<const float> values, std::uint64_t version);

  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] const std::vector<float>& values() const { return values_; }

 private:
  Result<Taken> assign(const ParameterUpdate& update);
  [[nodiscard]] Status check(const ParameterUpdate& update) const;

  std::vector<float> values_;
  std::uint64_t version_ = 0;
};

}  // namespace hourglass::params
