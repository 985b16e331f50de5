// SPDX-License-Identifier: Apache-2.0
// What a follower of the stream is sent: clocks alone, deltas, the values as a whole, or those in chunks.
#include "actors/group_server.h"

namespace hourglass {

template <class Store>
bool BasicGroupServer<Store>::send_update(Context& context, ActorId to, Peer& peer) {
  if (!context.has_room(to, peer.unsent_bytes)) return false;  // it would be packed for nothing
  ParameterUpdate update;
  update.generation = generation_;
  update.group = group_;
  update.applied_clock = peer.contained;
  update.admitted_clock = admitted(to);
  policies_.fill(update, to);
  update.frozen = store_.wants_momentum();
  update.from = peer.sent_version;
  const bool ahead = peer.sent_version > store_.published_version();
  if (ahead && Store::kOwnsParameters) return true;  // nonsense from the peer; its next push says more
  if (ahead && peer.values_wanted) return false;     // it comes from another parent, and waits for the last values of all
  if (ahead) {
    // only the clocks are news: ours will catch up
  } else if (peer.values_wanted || (store_.lossless() && peer.sent_version != store_.published_version())) {
    update.absolute = true;
    update.deltas.push_back(store_.absolute());
  } else if (!store_.lossless()) {
    auto deltas = store_.deltas_since(peer.sent_version);
    if (!deltas.ok()) {
      queue_snapshot(context, to, peer);
      while (!peer.chunks.empty() && context.post(to, peer.chunks.front()).ok()) peer.chunks.pop_front();
      return true;
    }
    update.deltas = std::move(*deltas);
  }
  const Parcel parcel = pack(update);
  const Status posted = context.post(to, parcel);
  peer.unsent_bytes = !posted.ok() && posted.error().code == Errc::over_limit ? parcel.body->size() : 0;
  if (!posted.ok()) return false;
  if (!ahead) peer.sent_version = store_.published_version();
  peer.large.sent(context.now(), peer.sent_version, parcel.body->size());
  peer.values_wanted = false;
  return true;
}

template <class Store>
void BasicGroupServer<Store>::queue_snapshot(Context& context, ActorId to, Peer& peer) {
  constexpr std::size_t kChunk = limits::kChunkBytes / sizeof(float);
  const std::span<const float> values = store_.published();
  for (std::size_t offset = 0; offset < values.size(); offset += kChunk) {
    SnapshotChunk chunk;
    chunk.generation = generation_;
    chunk.group = group_;
    chunk.version = store_.published_version();
    chunk.applied_clock = peer.contained;
    chunk.admitted_clock = admitted(to);
    chunk.total = values.size();
    chunk.offset = offset;
    chunk.values = to_bytes(values.subspan(offset, std::min(kChunk, values.size() - offset)));
    peer.chunks.push_back(pack(chunk));
  }
  peer.sent_version = store_.published_version();
  peer.large.sent(context.now(), peer.sent_version, values.size_bytes());
}

template void BasicGroupServer<params::ParameterStore>::queue_snapshot(Context&, ActorId, Peer&);
template void BasicGroupServer<params::Relay>::queue_snapshot(Context&, ActorId, Peer&);
template bool BasicGroupServer<params::ParameterStore>::send_update(Context&, ActorId, Peer&);
template bool BasicGroupServer<params::Relay>::send_update(Context&, ActorId, Peer&);

}  // namespace hourglass
