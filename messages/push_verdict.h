// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

enum class Verdict : std::uint8_t {
  applied,
  stale,      ///< version staleness above the bound
  nonfinite,  ///< a value is not finite
  shape,      ///< blocks do not fit the group
  version,    ///< base version from the future, or another run
  moved,      ///< the sender has another parent now, or the parent is leaving
};
inline constexpr Verdict kLastVerdict = Verdict::moved;
std::string_view name_of(Verdict verdict);

/// The sender's parent (the aggregator, or a tree node, which then owns what it took) -> the sender of a push, at once. A repeat of the
/// push gets the same verdict. What was rejected returns to the sender's error-feedback residual.
struct PushVerdict {
  static constexpr MessageType kType = MessageType::push_verdict;
  std::uint32_t generation = 0;
  Group group = Group::conv;
  std::uint64_t clock = 0;
  Verdict verdict = Verdict::applied;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.choice(m.group, Group::fc);
    v.number(m.clock);
    v.choice(m.verdict, kLastVerdict);
  }
};

}  // namespace hourglass
