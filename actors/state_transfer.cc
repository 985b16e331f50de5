// SPDX-License-Identifier: Apache-2.0
#include "actors/state_transfer.h"

#include <algorithm>

#include "messages/codec.h"

namespace hourglass {
namespace {
constexpr Duration kRepeatAfter = std::chrono::seconds(2);
}

void StateFetch::ask(Context& context) {
  asked_ = context.now();
  (void)context.send(from_, request_);  // repeated by tick()
}

void StateFetch::tick(Context& context) {
  if (context.now() - asked_ >= kRepeatAfter) ask(context);
}

std::optional<Bytes> StateFetch::take(Context& context, ActorId from, const StateChunk& chunk) {
  if (from != from_ || chunk.generation != request_.generation || chunk.number != request_.number || chunk.offset != request_.offset) {
    return std::nullopt;  // a repeat, or of another time
  }
  if (chunk.offset == 0) total_ = chunk.total;
  if (chunk.total != total_ || chunk.bytes.size() > total_ - request_.offset) return std::nullopt;
  if (chunk.bytes.empty() && total_ > 0) return std::nullopt;
  bytes_.insert(bytes_.end(), chunk.bytes.begin(), chunk.bytes.end());
  request_.offset = bytes_.size();
  if (bytes_.size() == total_) return std::move(bytes_);
  ask(context);
  return std::nullopt;
}

StateChunk state_piece(const StateRequest& request, std::span<const std::byte> whole) {
  StateChunk out;
  out.generation = request.generation;
  out.number = request.number;
  out.total = whole.size();
  out.offset = std::min<std::uint64_t>(request.offset, whole.size());
  const auto piece = whole.subspan(out.offset, std::min<std::size_t>(limits::kChunkBytes, whole.size() - out.offset));
  out.bytes.assign(piece.begin(), piece.end());
  return out;
}

}  // namespace hourglass
