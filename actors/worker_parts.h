// SPDX-License-Identifier: Apache-2.0
// What a worker makes of a job, whichever part of the model it trains.
#pragma once

#include <memory>

#include "actors/job_model.h"
#include "learning/compress/boundary.h"
#include "learning/compress/error_feedback.h"
#include "learning/params/optimizer.h"
#include "messages/welcome.h"
#include "runtime/context.h"

namespace hourglass {

struct WorkerParts {
  JobModel model;
  compress::ErrorFeedback memory;  ///< of the worker's group
  std::unique_ptr<params::Optimizer> optimizer;
  std::unique_ptr<params::Schedule> schedule;
  BoundaryCodec boundary = BoundaryCodec::f32;
};

/// `compress`: the spec of the group's pushes. Errors: bad_config; unsupported where this build lays out the model differently from the
/// aggregator's.
Result<WorkerParts> make_worker_parts(const Welcome& welcome, Group group, std::string_view compress);

/// How a worker ends that cannot make its parts.
inline ExitCode exit_code_of(const Error& error) { return error.code == Errc::unsupported ? ExitCode::protocol : ExitCode::config; }

}  // namespace hourglass
