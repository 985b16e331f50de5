// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/storage.h"

namespace hourglass::sim {

/// A folder in memory. It outlives the actor that writes to it, as a disk does; a scenario may make it fail.
class MemoryStorage : public Storage {
 public:
  Status write(std::string_view name, std::span<const std::byte> bytes) override;
  Status append(std::string_view name, std::span<const std::byte> bytes) override;
  Result<Bytes> read(std::string_view name) override;
  Result<std::vector<std::string>> list(std::string_view prefix) override;
  Status remove(std::string_view name) override;

  /// Every write fails with Errc::io while this is on: the full disk. What is there stays as it is.
  void set_full(bool full) { full_ = full; }
  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }  ///< writes that found it full
  /// What is on the disk, for checkers and for scenarios that damage it.
  [[nodiscard]] std::map<std::string, Bytes, std::less<>>& files() { return files_; }

 private:
  std::map<std::string, Bytes, std::less<>> files_;
  bool full_ = false;
  std::uint64_t refused_ = 0;
};

}  // namespace hourglass::sim
