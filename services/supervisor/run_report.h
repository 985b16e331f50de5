// SPDX-License-Identifier: Apache-2.0
// What the aggregator writes into the run folder, as the supervisor reads it, and the one JSON object of --json. JSON stays behind this
// door.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace hourglass {

/// status.json, written each second.
struct StatusReport {
  std::string phase;
  std::uint64_t generation = 0;
  double seconds = 0;
  std::uint64_t epoch = 0, epochs = 0;  ///< `epoch` counts from 0
  std::uint64_t samples_done = 0, samples_total = 0;
  double samples_per_s = 0;
  std::optional<double> loss;
  std::optional<double> accuracy;  ///< nothing before the first evaluation
  double bytes_total = 0, bytes_per_s = 0;
  std::uint64_t conv_workers = 0, fc_workers = 0, conv_workers_wanted = 0;
  std::string message;
};

/// Nothing where the text is no JSON object (half a file is not one). Fields that are missing keep their defaults.
std::optional<StatusReport> parse_status(const std::string& text);

/// The object of --json: result.json with the model's path and the run folder; one line. Nothing where `result` is no JSON object.
/// `more`: further members.
std::optional<std::string> compose_result(const std::string& result, const std::string& run_folder,
                                          const std::map<std::string, double>& more = {});
/// The object of --json where there is no result.
std::string compose_failure(const std::string& run_folder, const std::string& reason);
/// The closing lines for people: status, accuracy, loss, seconds, bytes, model.
std::string summary(const std::string& result_object);
/// A member of the object as text, "" where it is absent: `status` and the like.
std::string text_member(const std::string& object, const std::string& key);

}  // namespace hourglass
