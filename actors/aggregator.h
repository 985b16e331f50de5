// SPDX-License-Identifier: Apache-2.0
// Membership, parameters, clocks, ledger: the only actor whose address a process must be given.
#pragma once

#include <memory>

#include "actors/aggregator/recovery.h"
#include "messages/job.h"
#include "runtime/actor.h"
#include "runtime/process_identity.h"

namespace hourglass {

struct AggregatorOptions {
  Job job;  ///< valid: the options layer has checked it; a job that still fails to build ends the process with ExitCode::config
  std::uint64_t run = 0;         ///< random per run
  std::uint32_t generation = 0;  ///< of the run's first life; later ones have higher ones
  RecoverySettings recovery;
};

/// Writes to its storage: status.json (each second), result.json and model.safetensors (at the end, and at a requested stop), and what
/// another life goes on from (aggregator/recovery.h).
std::unique_ptr<Actor> make_aggregator(AggregatorOptions options, ProcessIdentity identity);

}  // namespace hourglass
