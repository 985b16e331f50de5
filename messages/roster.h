// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

struct Member {
  ActorId id;
  std::uint32_t number = 0;  ///< small number within its role
  std::string name;          ///< host or container
  std::string endpoint;      ///< "tcp://10.0.0.7:41234"; empty: it does not listen
  bool active = false;       ///< it has training data to work on (an idle worker holds nobody back)

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.choice(m.id.role, kLastRole);
    v.number(m.id.index);
    v.number(m.number);
    v.text(m.name, limits::kNameBytes);
    v.text(m.endpoint, limits::kEndpointBytes);
    v.flag(m.active);
  }
};

/// Aggregator -> everyone, after each change of membership or activity. Replaces every earlier revision.
struct Roster {
  static constexpr MessageType kType = MessageType::roster;
  std::uint32_t generation = 0;
  std::uint64_t revision = 0;
  std::vector<Member> members;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.number(m.revision);
    v.items(m.members, limits::kMembers);
  }
};

}  // namespace hourglass
