// SPDX-License-Identifier: Apache-2.0
// A run as text: one line for each message when it is handled, and for each fault. Two runs are the same when their traces are.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "base/result.h"
#include "services/simulation/trial.h"

namespace hourglass {

class Trace {
 public:
  /// Writes to `path`, and compares with the trace in `earlier`, line by line; either may be empty. Errors: io.
  Status open(const std::string& path, const std::string& earlier);
  /// Before the trial runs; this must outlive it.
  void follow(Trial& trial);
  void line(const std::string& text);
  /// After the last line. Errors: io; bad_data where the runs differ, with the number and both texts of the first line that does.
  Status close();
  [[nodiscard]] bool differs() const { return !difference_.empty(); }

 private:
  std::string path_, earlier_path_;
  std::ofstream out_;
  std::ifstream earlier_;
  std::uint64_t lines_ = 0;
  std::string difference_;
};

}  // namespace hourglass
