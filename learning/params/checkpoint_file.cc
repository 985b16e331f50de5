// SPDX-License-Identifier: Apache-2.0
#include "learning/params/checkpoint_file.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace hourglass::params {
namespace {

constexpr std::string_view kMagic = "HGLASSCK";
constexpr std::size_t kHeadBytes = 8 + 4 + 4 + 8;

template <class T>
void put(Bytes& out, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + sizeof value);
}

template <class T>
T get(std::span<const std::byte> from, std::size_t at) {
  T value{};
  std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}

bool is_name(std::string_view name) {
  const auto fine = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-'; };
  return !name.empty() && name.size() <= kSectionNameMax && std::all_of(name.begin(), name.end(), fine);
}

Error malformed(const std::string& text) { return {Errc::malformed, "checkpoint: " + text}; }

struct Row {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t fingerprint = 0;
};

/// The table's rows; its checksum has been looked at, so what does not fit was written so.
Result<std::vector<Row>> read_table(std::span<const std::byte> table, std::uint32_t count) {
  std::vector<Row> rows;
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (table.size() < 2) return malformed("its table ends early");
    const std::size_t length = get<std::uint16_t>(table, 0);
    if (length > kSectionNameMax || table.size() < 2 + length + 16) return malformed("its table ends early");
    Row row;
    row.name = std::string(as_text(table.subspan(2, length)));
    row.bytes = get<std::uint64_t>(table, 2 + length);
    row.fingerprint = get<std::uint64_t>(table, 2 + length + 8);
    if (!is_name(row.name) || !names.insert(row.name).second) return malformed("a section without a name of its own");
    rows.push_back(std::move(row));
    table = table.subspan(2 + length + 16);
  }
  if (!table.empty()) return malformed("its table is longer than its rows");
  return rows;
}

struct Head {
  std::vector<Row> rows;
  std::size_t bytes = 0;  ///< where the first section begins
};

Result<Head> read_head(std::span<const std::byte> file) {
  if (file.empty()) return malformed("the file is empty");
  const std::string_view magic = as_text(file.first(std::min(file.size(), kMagic.size())));
  if (magic != kMagic.substr(0, magic.size()))
    return malformed("this is no checkpoint (it does not begin with " + std::string(kMagic) + ")");
  if (file.size() < kHeadBytes + 8) return malformed("cut short at byte " + std::to_string(file.size()) + ", in its head");
  const auto version = get<std::uint32_t>(file, 8);
  if (version > kCheckpointFormat) {
    return {Errc::unsupported, "checkpoint: format " + std::to_string(version) + " is newer than what this build reads (" +
                                   std::to_string(kCheckpointFormat) + "): update hourglass"};
  }
  if (version == 0) return malformed("format 0");
  const auto count = get<std::uint32_t>(file, 12);
  const auto table_bytes = get<std::uint64_t>(file, 16);
  if (count > kSectionsMax || table_bytes > kSectionsMax * (kSectionNameMax + 18)) {
    return {Errc::over_limit, "checkpoint: " + std::to_string(count) + " sections; at most " + std::to_string(kSectionsMax)};
  }
  if (table_bytes > file.size() - kHeadBytes - 8) return malformed("cut short at byte " + std::to_string(file.size()) + ", in its table");
  const std::size_t head = kHeadBytes + static_cast<std::size_t>(table_bytes);
  if (get<std::uint64_t>(file, head) != fingerprint(file.first(head))) return malformed("its table is damaged");
  auto rows = read_table(file.subspan(kHeadBytes, table_bytes), count);
  if (!rows.ok()) return rows.error();
  return Head{std::move(*rows), head + 8};
}

}  // namespace

Bytes write_checkpoint(const std::vector<Section>& sections) {
  HG_CHECK(sections.size() <= kSectionsMax, "too many sections");
  Bytes table;
  std::set<std::string_view> names;
  std::size_t body = 0;
  for (const Section& section : sections) {
    HG_CHECK(is_name(section.name) && names.insert(section.name).second, "a section needs a name of its own: " + section.name);
    put(table, static_cast<std::uint16_t>(section.name.size()));
    const auto name = as_span(section.name);
    table.insert(table.end(), name.begin(), name.end());
    put(table, static_cast<std::uint64_t>(section.bytes.size()));
    put(table, fingerprint(section.bytes));
    body += section.bytes.size();
  }
  Bytes out;
  out.reserve(kHeadBytes + table.size() + 8 + body);
  const auto magic = as_span(kMagic);
  out.insert(out.end(), magic.begin(), magic.end());
  put(out, kCheckpointFormat);
  put(out, static_cast<std::uint32_t>(sections.size()));
  put(out, static_cast<std::uint64_t>(table.size()));
  out.insert(out.end(), table.begin(), table.end());
  put(out, fingerprint(out));
  for (const Section& section : sections) out.insert(out.end(), section.bytes.begin(), section.bytes.end());
  return out;
}

Result<std::vector<Section>> read_checkpoint(std::span<const std::byte> file) {
  const auto head = read_head(file);
  if (!head.ok()) return head.error();
  std::span<const std::byte> rest = file.subspan(head->bytes);
  std::vector<Section> out;
  for (const Row& row : head->rows) {
    if (row.bytes > rest.size()) return malformed("cut short at byte " + std::to_string(file.size()) + ", in section '" + row.name + "'");
    const auto body = rest.first(row.bytes);
    if (fingerprint(body) != row.fingerprint) return malformed("section '" + row.name + "' is damaged");
    out.push_back({row.name, {body.begin(), body.end()}});
    rest = rest.subspan(row.bytes);
  }
  if (!rest.empty()) return malformed(std::to_string(rest.size()) + " bytes behind the last section");
  return out;
}

Result<Section> read_first_section(std::span<const std::byte> begin) {
  const auto head = read_head(begin);
  if (!head.ok()) return head.error();
  if (head->rows.empty()) return malformed("it has no section");
  const Row& row = head->rows.front();
  const std::span<const std::byte> rest = begin.subspan(head->bytes);
  if (row.bytes > rest.size()) return malformed("cut short at byte " + std::to_string(begin.size()) + ", in section '" + row.name + "'");
  const auto body = rest.first(row.bytes);
  if (fingerprint(body) != row.fingerprint) return malformed("section '" + row.name + "' is damaged");
  return Section{row.name, {body.begin(), body.end()}};
}

const Section* find_section(const std::vector<Section>& sections, std::string_view name) {
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const Section& s) { return s.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

}  // namespace hourglass::params
