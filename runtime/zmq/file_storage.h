// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include "runtime/storage.h"

namespace hourglass::zmq {

/// Files in one folder. Names: [A-Za-z0-9._-], not beginning with a dot. A write goes to a temporary, which is synced and renamed; names
/// that end in "status.json" are not synced, since they are written often and worth nothing after a crash of the machine.
class FileStorage final : public Storage {
 public:
  /// Makes the folder and removes temporaries that an earlier life left. Errors: io.
  static Result<std::unique_ptr<FileStorage>> open(const std::string& folder);

  Status write(std::string_view name, std::span<const std::byte> bytes) override;
  Status append(std::string_view name, std::span<const std::byte> bytes) override;
  Result<Bytes> read(std::string_view name) override;
  Result<std::vector<std::string>> list(std::string_view prefix) override;
  Status remove(std::string_view name) override;
  /// Makes what was appended since the last call survive a crash of the machine. Errors: io.
  Status sync_appended();

 private:
  explicit FileStorage(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }

  std::string folder_;
  std::set<std::string, std::less<>> appended_;
};

}  // namespace hourglass::zmq
