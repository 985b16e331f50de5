// SPDX-License-Identifier: Apache-2.0
// The folder of one run: job.toml, logs/, status.json, result.json, model.safetensors, and what the aggregator goes on from.
#pragma once

#include <string>

#include "base/result.h"
#include "services/hosting/text_file.h"

namespace hourglass {

inline constexpr const char* kJobFile = "job.toml";
inline constexpr const char* kStatusFile = "status.json";
inline constexpr const char* kResultFile = "result.json";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kStateFile = "run.state";

/// Makes the folder: `wanted`, or where that is empty a new one, "runs/20260131T235959Z-lenet5". Errors: bad_config where `wanted` holds a
/// run already; io.
Result<std::string> make_run_folder(const std::string& wanted, const std::string& model);

/// The folder of a run that was stopped or killed, ready to go on: an earlier result is set aside. Errors: bad_config where there is
/// nothing to go on with; io.
Result<std::string> resume_run_folder(const std::string& folder);

/// Of what --from names, a model file or a run folder: the model file, and the job file beside it ("" where there is none).
std::string model_file_of(const std::string& from);
std::string job_file_beside(const std::string& from);

}  // namespace hourglass
