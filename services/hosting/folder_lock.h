// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace hourglass {

/// Keeps a run folder for one aggregator: two that write the same checkpoints and journal would ruin both runs. The kernel gives it back
/// when the process ends, however it ends.
class FolderLock {
 public:
  FolderLock() = default;  ///< of no folder
  /// Makes the folder where there is none. Errors: io, also where another process has it.
  static Result<FolderLock> take(const std::string& folder);
  /// Has any process this folder? Takes nothing.
  static bool held(const std::string& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace hourglass
