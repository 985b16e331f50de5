// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/memory_storage.h"

namespace hourglass::sim {
namespace {
Error full_disk(std::string_view name) { return {Errc::io, "cannot write " + std::string(name) + ": no space left on device"}; }
}  // namespace

Status MemoryStorage::write(std::string_view name, std::span<const std::byte> bytes) {
  if (full_) return ++refused_, full_disk(name);
  files_[std::string(name)] = Bytes(bytes.begin(), bytes.end());
  return {};
}

Status MemoryStorage::append(std::string_view name, std::span<const std::byte> bytes) {
  if (full_) return ++refused_, full_disk(name);
  Bytes& file = files_[std::string(name)];
  file.insert(file.end(), bytes.begin(), bytes.end());
  return {};
}

Result<Bytes> MemoryStorage::read(std::string_view name) {
  const auto found = files_.find(name);
  if (found == files_.end()) return Error{Errc::bad_data, "no such file: " + std::string(name)};
  return found->second;
}

Result<std::vector<std::string>> MemoryStorage::list(std::string_view prefix) {
  std::vector<std::string> names;
  for (auto file = files_.lower_bound(prefix); file != files_.end() && file->first.starts_with(prefix); ++file)
    names.push_back(file->first);
  return names;
}

Status MemoryStorage::remove(std::string_view name) {
  const auto found = files_.find(name);
  if (found != files_.end()) files_.erase(found);
  return {};
}

}  // namespace hourglass::sim
