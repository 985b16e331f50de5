// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// A worker -> aggregator, at joining and when an expected update stays away; or aggregator -> the only FC worker, to collect its
/// state. "Send me what leads from my version to yours."
struct ParameterRequest {
  static constexpr MessageType kType = MessageType::parameter_request;
  std::uint32_t generation = 0;
  Group group = Group::conv;
  bool has_version = false;  ///< false: send a snapshot
  std::uint64_t version = 0;
  std::uint64_t clock = 0;  ///< of the sender's first push without a verdict: it will not repeat any before
  bool flushed = false;     ///< it has made its last push, and that is settled

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.choice(m.group, Group::fc);
    v.flag(m.has_version);
    v.number(m.version);
    v.number(m.clock);
    v.flag(m.flushed);
  }
};

}  // namespace hourglass
