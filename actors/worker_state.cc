// SPDX-License-Identifier: Apache-2.0
#include "actors/worker_state.h"

#include "base/archive.h"
#include "learning/params/arithmetic.h"

namespace hourglass {

Bytes encode_worker_state(const WorkerState& state) {
  ArchiveWriter out;
  out.put(state.version);
  out.put_all(std::span<const float>(state.parameters));
  out.put_bytes(state.optimizer);
  out.put_all(std::span<const float>(state.residual));
  for (const std::uint64_t word : state.random.words) out.put(word);
  out.put(state.random.spare);
  out.put(state.random.has_spare);
  return out.take();
}

Result<WorkerState> decode_worker_state(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes);
  WorkerState out;
  in.get(out.version);
  out.parameters = in.get_all<float>();
  out.optimizer = in.get_bytes();
  out.residual = in.get_all<float>();
  for (std::uint64_t& word : out.random.words) in.get(word);
  in.get(out.random.spare);
  in.get(out.random.has_spare);
  if (!in.complete()) return {Errc::malformed, "a worker's state is of another layout"};
  if (!params::all_finite(out.parameters) || !params::all_finite(out.residual)) return {Errc::malformed, "a worker's state is not finite"};
  return out;
}

}  // namespace hourglass
