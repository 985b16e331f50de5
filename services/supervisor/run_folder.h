// SPDX-License-Identifier: Apache-2.0
// The folder of one run: job.toml, logs/, status.json, result.json, model.safetensors.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace hourglass {

inline constexpr const char* kJobFile = "job.toml";
inline constexpr const char* kStatusFile = "status.json";
inline constexpr const char* kResultFile = "result.json";
inline constexpr const char* kModelFile = "model.safetensors";

/// Makes the folder: `wanted`, or where that is empty a new one, "runs/20260131T235959Z-lenet5". Errors: bad_config where `wanted` holds a run
/// already; io.
Result<std::string> make_run_folder(const std::string& wanted, const std::string& model);

Status write_text(const std::string& path, const std::string& text);  ///< as a whole or not at all
std::optional<std::string> read_text(const std::string& path);         ///< nothing where it cannot be read; at most 64 MiB

}  // namespace hourglass
