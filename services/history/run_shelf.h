// SPDX-License-Identifier: Apache-2.0
// The runs whose histories lie beside a run folder, and its own earlier ones: for the page to compare with. Reads only.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "services/dashboard/earlier_runs.h"
#include "services/history/history_store.h"

namespace hourglass {

class RunShelf final : public EarlierRuns {
 public:
  static constexpr std::size_t kFoldersMax = 1000;  ///< beside the run folder that are looked at
  static constexpr std::size_t kRunsMax = 50;       ///< listed, the newest ones
  static constexpr double kRowsMax = 2000;          ///< of a curve: the finest resolution that needs no more
  /// So long a list is good for; a page asks for it once.
  static constexpr auto kListed = std::chrono::seconds(5);

  /// `folder`: of the run that goes on.
  explicit RunShelf(std::string folder) : folder_(std::move(folder)) {}

  std::string list_json() override;
  std::optional<std::string> curves_json(std::string_view id) override;

 private:
  struct Found {
    std::string file, folder;  ///< history.db; the name of its folder
    RunSummary summary;
  };
  void look();

  std::string folder_;
  std::vector<Found> runs_;
  std::chrono::steady_clock::time_point listed_{};
};

}  // namespace hourglass
