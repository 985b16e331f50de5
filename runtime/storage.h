// SPDX-License-Identifier: Apache-2.0
// The only way for an actor to touch a disk: named files of its own in the run folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hourglass {

class Storage {
 public:
  virtual ~Storage() = default;
  /// Replaces the file as a whole: after a crash it holds the old or the new bytes, never a mixture. Errors: io.
  virtual Status write(std::string_view name, std::span<const std::byte> bytes) = 0;
  /// Adds to the end; handed to the kernel before it returns. Errors: io.
  virtual Status append(std::string_view name, std::span<const std::byte> bytes) = 0;
  /// Errors: bad_data where there is no such file, io.
  virtual Result<Bytes> read(std::string_view name) = 0;
  /// Names that begin so, sorted. Errors: io.
  virtual Result<std::vector<std::string>> list(std::string_view prefix) = 0;
  /// Removing what is not there is no error. Errors: io.
  virtual Status remove(std::string_view name) = 0;
};

}  // namespace hourglass
