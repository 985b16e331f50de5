// SPDX-License-Identifier: Apache-2.0
// How long to wait for an answer before a request is repeated: twice what an answer took, longer each time that was not enough. A repeat
// that comes too early is worse than none where the message is large and the link slow: the next ones queue up behind it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace hourglass {

class Patience {
 public:
  static constexpr Duration kLeast = std::chrono::seconds(3);
  explicit Patience(Duration most) : most_(most) {}

  [[nodiscard]] Duration limit() const { return limit_; }
  /// To a request that was made once only: to which one an answer belongs is unknown otherwise.
  void answered(Duration took) { limit_ = std::clamp(2 * took, kLeast, most_); }
  void in_vain() { limit_ = std::min(2 * limit_, most_); }

 private:
  Duration most_;
  Duration limit_ = kLeast;
};

/// A large update on its way over what may be a slow link: asked for again too early, it is not sent again.
class LargeUpdate {
 public:
  static constexpr std::size_t kLarge = 1U << 20U;  ///< bytes; a smaller one is not worth the thought

  void sent(Instant now, std::uint64_t version, std::size_t bytes) {
    if (bytes < kLarge || since_) return;
    since_ = now;
    version_ = version;
  }
  /// The receiver has this version.
  void arrived(Instant now, std::uint64_t version) {
    if (!since_ || version < version_) return;
    patience_.answered(now - *since_);
    since_.reset();
  }
  /// False once it has taken longer than any before, twice: then it counts as lost.
  bool under_way(Instant now) {
    if (!since_) return false;
    if (now - *since_ < patience_.limit()) return true;
    patience_.in_vain();
    since_.reset();
    return false;
  }

 private:
  Patience patience_{std::chrono::seconds(30)};
  std::optional<Instant> since_;
  std::uint64_t version_ = 0;
};

}  // namespace hourglass
