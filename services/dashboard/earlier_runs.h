// SPDX-License-Identifier: Apache-2.0
// Runs that the page can lay beside this one. Where they come from is not the dashboard's business.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hourglass {

/// Called from the server's thread alone.
class EarlierRuns {
 public:
  virtual ~EarlierRuns() = default;
  /// {"available": true, "runs": [{"id", "folder", "model", "dataset", "phase", "started_ms", "seconds", ...}, ...]}, newest first.
  virtual std::string list_json() = 0;
  /// {"id", "time": [...], "loss": [...], "version": [...], "samples": [...], "bytes": [...], "history": [rows as in a state]}. None where
  /// there is no such run.
  virtual std::optional<std::string> curves_json(std::string_view id) = 0;
};

}  // namespace hourglass
