// SPDX-License-Identifier: Apache-2.0
// Moves a worker's state piece by piece: who wants it asks for each piece, and again where one stays away.
#pragma once

#include <cstdint>
#include <optional>

#include "messages/state_chunk.h"
#include "messages/state_request.h"
#include "runtime/context.h"

namespace hourglass {

/// Who wants a state.
class StateFetch {
 public:
  StateFetch(ActorId from, std::uint32_t generation, std::uint64_t number) : from_(from), request_{generation, number, 0} {}

  void ask(Context& context);
  /// Asks again where a piece has stayed away.
  void tick(Context& context);
  /// The whole when this was its last piece; empty bytes where the other has none.
  std::optional<Bytes> take(Context& context, ActorId from, const StateChunk& chunk);
  [[nodiscard]] ActorId from() const { return from_; }

 private:
  ActorId from_;
  StateRequest request_;
  Bytes bytes_;
  std::uint64_t total_ = 0;
  Instant asked_{};
};

/// Who has one: the piece that a request asks for.
StateChunk state_piece(const StateRequest& request, std::span<const std::byte> whole);

}  // namespace hourglass
