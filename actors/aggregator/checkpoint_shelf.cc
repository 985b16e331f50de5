// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/checkpoint_shelf.h"

#include <algorithm>

namespace hourglass {
namespace {

Result<std::vector<std::uint64_t>> numbers_in(Storage& storage) {
  const auto names = storage.list(kCheckpointPrefix);
  if (!names.ok()) return names.error();
  std::vector<std::uint64_t> out;
  for (const std::string& name : *names) {
    if (const auto number = checkpoint_number_of(name)) out.push_back(*number);
  }
  std::sort(out.rbegin(), out.rend());
  return out;
}

}  // namespace

Result<CheckpointShelf::Found> CheckpointShelf::open(Storage& storage) {
  const auto numbers = numbers_in(storage);
  if (!numbers.ok()) return numbers.error();
  Found out;
  for (const std::uint64_t number : *numbers) {
    next_ = std::max(next_, number + 1);
    const std::string name = checkpoint_file_name(number);
    const auto file = storage.read(name);
    auto read = file.ok() ? decode_checkpoint(*file) : Result<Checkpoint>(file.error());
    if (read.ok()) {
      kept_[number] = read->meta.accuracy;
      if (!out.newest) out.newest = std::move(*read);
    } else if (!out.newest) {
      out.broken.push_back({name, read.error().text});
    }
  }
  return out;
}

std::uint64_t CheckpointShelf::oldest_of_newest() const {
  if (kept_.size() < keep_) return 0;
  std::uint64_t oldest = 0;
  std::uint32_t seen = 0;
  for (auto row = kept_.rbegin(); row != kept_.rend() && seen < keep_; ++row, ++seen) oldest = row->first;
  return oldest;
}

std::optional<std::uint64_t> CheckpointShelf::best() const {
  std::optional<std::uint64_t> out;
  for (const auto& [number, accuracy] : kept_) {
    if (accuracy && (!out || *accuracy >= *kept_.at(*out))) out = number;
  }
  return out;
}

Status CheckpointShelf::save(Storage& storage, const Checkpoint& checkpoint) {
  const std::uint64_t number = checkpoint.meta.number;
  next_ = std::max(next_, number + 1);
  if (const Status written = storage.write(checkpoint_file_name(number), encode_checkpoint(checkpoint)); !written.ok()) return written;
  kept_[number] = checkpoint.meta.accuracy;
  return prune(storage);
}

/// Broken ones go with the good ones of their age.
Status CheckpointShelf::prune(Storage& storage) {
  const auto numbers = numbers_in(storage);
  if (!numbers.ok()) return numbers.error();
  const auto best_one = best();
  std::uint32_t newer = 0;  // good ones above
  for (const std::uint64_t number : *numbers) {
    const bool good = kept_.contains(number);
    const bool stays = newer < keep_ || number == best_one;
    newer += good ? 1 : 0;
    if (stays) continue;
    if (const Status removed = storage.remove(checkpoint_file_name(number)); !removed.ok()) return removed;
    kept_.erase(number);
  }
  return {};
}

}  // namespace hourglass
