// SPDX-License-Identifier: Apache-2.0
// What the tables of optimizers and of schedules have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/spec.h"
#include "learning/params/optimizer.h"

namespace hourglass::params {

/// A row that makes something of a spec's only stage.
template <class Make>
struct Entry {
  NamedRow row;
  Make make;
};

template <class Make>
std::vector<NamedRow> rows_of(const std::vector<Entry<Make>>& entries) {
  std::vector<NamedRow> rows;
  for (const auto& entry : entries) rows.push_back(entry.row);
  return rows;
}

/// The entry that a stage names; `kind` is "optimizer" or "schedule". Errors: bad_config with the list and the nearest name.
template <class Make>
Result<const Entry<Make>*> find_entry(const std::vector<Entry<Make>>& entries, std::string_view kind, std::string_view name) {
  std::vector<std::string> known;
  std::string list;
  for (const auto& entry : entries) {
    if (entry.row.name == name) return &entry;
    known.emplace_back(entry.row.name);
    list += (list.empty() ? "" : ", ") + known.back();
  }
  const std::string near = nearest_name(name, known);
  return {Errc::bad_config, "unknown " + std::string(kind) + " '" + std::string(name) + "'; known: " + list +
                                (near.empty() ? "" : "; did you mean '" + near + "'?")};
}

/// The spec's one stage.
inline Result<SpecStage> parse_single(std::string_view kind, std::string_view spec) {
  Result<std::vector<SpecStage>> stages = parse_spec(spec);
  if (!stages) return stages.error();
  if (stages->size() != 1) return {Errc::bad_config, "'" + std::string(spec) + "': give one " + std::string(kind) + ", not a chain"};
  return std::move(stages->front());
}

}  // namespace hourglass::params
