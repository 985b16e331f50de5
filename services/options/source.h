// SPDX-License-Identifier: Apache-2.0
// What one source of settings (job file, environment, command line) says.
#pragma once

#include <string>
#include <vector>

#include "runtime/context.h"
#include "services/options/setting.h"

namespace hourglass {

struct Assignment {
  const Setting* setting = nullptr;
  RawValue value;
  std::string origin;  ///< "run.toml:4:6", "environment HOURGLASS_BATCH", "flag --batch"
};

struct Problem {
  ExitCode code = ExitCode::config;
  std::string text;  ///< one line, origin first
};

struct Source {
  std::vector<Assignment> assignments;  ///< a later one beats an earlier one
  std::vector<Problem> problems;
};

/// "; did you mean train.batch?", or "" where nothing is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& candidates);
/// Of a key that is no setting: a key of the same name in another section comes first, then the nearest by spelling.
std::string did_you_mean_key(std::string_view wrong);

/// Reads a TOML file of at most 1 MiB. Each entry's origin is "file:line:column" of its value; unknown sections and keys are problems.
Source read_job_file(const std::string& path);
/// The same from text; `name` stands in origins.
Source parse_job_text(std::string_view text, const std::string& name);

/// `variables`: "NAME=value" as in environ. Only names that begin with HOURGLASS_ are looked at; those that Kubernetes and Docker links
/// invent for a service called hourglass-... are passed over.
Source read_environment(const std::vector<std::string>& variables);
std::vector<std::string> process_environment();

/// "key=value" of --set.
Source parse_set(const std::vector<std::string>& pairs);

}  // namespace hourglass
