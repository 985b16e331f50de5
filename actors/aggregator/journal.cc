// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/journal.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/archive.h"

namespace hourglass {
namespace {

constexpr std::uint8_t kMark = 0x4a;
constexpr std::string_view kEnding = ".log";

Bytes record_of(const JournalEntry& entry) {
  ArchiveWriter out;
  out.put(kMark);
  out.put(entry.group);
  out.put(entry.from.role);
  out.put(entry.verdict);
  out.put(entry.from.index);
  out.put(entry.clock);
  out.put(entry.bytes);
  out.put(std::uint32_t{0});
  Bytes bytes = out.take();
  const std::uint32_t sum = checksum(bytes);
  const auto* first = reinterpret_cast<const std::byte*>(&sum);
  bytes.insert(bytes.end(), first, first + sizeof sum);
  return bytes;
}

std::optional<JournalEntry> entry_of(std::span<const std::byte> record) {
  ArchiveReader in(record);
  JournalEntry entry;
  const auto mark = in.get<std::uint8_t>();
  entry.group = static_cast<Group>(in.get_up_to<std::uint8_t>(kGroups - 1));
  entry.from.role = static_cast<Role>(in.get_up_to<std::uint8_t>(kRoles - 1));
  entry.verdict = static_cast<Verdict>(in.get_up_to<std::uint8_t>(static_cast<std::uint8_t>(kLastVerdict)));
  in.get(entry.from.index);
  in.get(entry.clock);
  in.get(entry.bytes);
  (void)in.get<std::uint32_t>();
  const auto sum = in.get<std::uint32_t>();
  if (!in.complete() || mark != kMark || sum != checksum(record.first(record.size() - sizeof sum))) return std::nullopt;
  return entry;
}

/// The good records of a segment, and how many bytes they take.
std::size_t read_segment(std::span<const std::byte> file, std::vector<JournalEntry>& out) {
  std::size_t at = 0;
  for (; file.size() - at >= Journal::kRecordBytes; at += Journal::kRecordBytes) {
    const auto entry = entry_of(file.subspan(at, Journal::kRecordBytes));
    if (!entry) break;
    out.push_back(*entry);
  }
  return at;
}

}  // namespace

std::string Journal::file_name(std::uint64_t number) {
  char text[48];
  std::snprintf(text, sizeof text, "journal-%08llu.log", static_cast<unsigned long long>(number));
  return text;
}

std::optional<std::uint64_t> Journal::number_of(std::string_view file) {
  if (!file.starts_with(kPrefix) || !file.ends_with(kEnding) || file.size() <= kPrefix.size() + kEnding.size()) return std::nullopt;
  const std::string_view digits = file.substr(kPrefix.size(), file.size() - kPrefix.size() - kEnding.size());
  std::uint64_t number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

Status Journal::begin(Storage& storage, std::uint64_t number) {
  number_ = number;
  const std::string name = file_name(number);
  const auto there = storage.read(name);
  if (!there.ok()) return there.error().code == Errc::bad_data ? Status() : Status(there.error());  // no such file: append() makes it
  std::vector<JournalEntry> entries;
  const std::size_t good = read_segment(*there, entries);
  return good == there->size() ? Status() : storage.write(name, std::span(*there).first(good));
}

Status Journal::append(Storage& storage, const JournalEntry& entry) { return storage.append(file_name(number_), record_of(entry)); }

Result<Journal::Read> Journal::read(Storage& storage, std::uint64_t from) {
  const auto names = storage.list(kPrefix);
  if (!names.ok()) return names.error();
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : *names) {
    if (const auto number = number_of(name); number && *number >= from) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  Read out;
  for (const std::uint64_t number : numbers) {
    const auto file = storage.read(file_name(number));
    if (!file.ok()) return file.error();
    if (read_segment(*file, out.entries) != file->size()) out.torn.push_back(file_name(number));
  }
  return out;
}

Result<std::uint64_t> Journal::newest(Storage& storage) {
  const auto names = storage.list(kPrefix);
  if (!names.ok()) return names.error();
  std::uint64_t out = 0;
  for (const std::string& name : *names) out = std::max(out, number_of(name).value_or(0));
  return out;
}

Status Journal::prune(Storage& storage, std::uint64_t oldest) {
  const auto names = storage.list(kPrefix);
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) {
    const auto number = number_of(name);
    if (!number || *number >= oldest) continue;
    if (const Status removed = storage.remove(name); !removed.ok()) return removed;
  }
  return {};
}

}  // namespace hourglass
