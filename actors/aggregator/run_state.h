// SPDX-License-Identifier: Apache-2.0
// The aggregator's state into a checkpoint and out of it.
#pragma once

#include <string>

#include "actors/aggregator/checkpoint.h"
#include "actors/aggregator/member_table.h"
#include "actors/aggregator/run_books.h"
#include "actors/group_server.h"
#include "actors/job_model.h"
#include "runtime/context.h"

namespace hourglass {

struct RunParts {
  JobModel& model;
  GroupServer& conv;
  GroupServer* fc;  ///< null where the model is not cut
  RunBooks& books;
  MemberTable& members;
};

/// Both groups' exact parameters, as safetensors.
Bytes model_file(const RunParts& parts, const Job& job);

/// All but number, run, generation, accuracy and the workers' states.
Checkpoint capture(Context& context, const RunParts& parts, const Job& job, Phase phase);

/// Into parts that are as new. Where a setting has changed since (a server rule, a compressor of the downlink, the number of FC workers),
/// parameters and books go on, and the rest starts afresh, with a warning. Errors: bad_data, naming the section; then the parts must not be
/// used.
Status restore(Context& context, const RunParts& parts, const Checkpoint& checkpoint);

}  // namespace hourglass
