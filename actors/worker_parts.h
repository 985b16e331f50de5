// SPDX-License-Identifier: Apache-2.0
// What a worker makes of a job, whichever part of the model it trains.
#pragma once

#include <memory>
#include <optional>

#include "actors/job_model.h"
#include "learning/compress/boundary.h"
#include "learning/params/noise_meter.h"
#include "learning/params/replica.h"
#include "learning/params/server_rule.h"
#include "messages/welcome.h"
#include "runtime/context.h"

namespace hourglass {

struct WorkerParts {
  JobModel model;
  params::Replica replica;  ///< of the worker's group
  std::unique_ptr<params::Optimizer> optimizer;
  std::unique_ptr<params::Schedule> schedule;
  compress::BoundarySpec boundary;          ///< of what the worker sends across the cut
  bool masks = false;                       ///< gradients of activations that are 0 change nothing, and are left out
  std::optional<params::NoiseMeter> noise;  ///< of the conv group, where the job's local policy wants to know
  bool gradients = false;                   ///< for a server rule: steps of rate 1 / H, so that a push is a unit's mean gradient
};

/// Errors: bad_config; unsupported where this build lays out the model differently from the aggregator's.
Result<WorkerParts> make_worker_parts(const Welcome& welcome, Group group);

/// How a worker ends that cannot make its parts.
inline ExitCode exit_code_of(const Error& error) { return error.code == Errc::unsupported ? ExitCode::protocol : ExitCode::config; }

}  // namespace hourglass
