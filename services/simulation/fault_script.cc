// SPDX-License-Identifier: Apache-2.0
// Fault schedules as TOML.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "services/options/setting_kinds.h"
#include "services/options/source.h"
#include "services/simulation/fault.h"

namespace hourglass {
namespace {

constexpr double kSecondsMax = 1e9;

/// Reads one [[fault]]; the first thing wrong is kept.
class Reader {
 public:
  Reader(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  Result<Fault> read() {
    known_keys();
    Fault out;
    const auto kind = text("kind");
    if (!kind) return fail(table_, "a fault needs kind = one of " + kinds());
    bool found = false;
    for (std::uint8_t i = 0; i < kFaultKinds; ++i) {
      if (name_of(static_cast<FaultKind>(i)) == *kind) out.kind = static_cast<FaultKind>(i), found = true;
    }
    if (!found) return fail(*table_.get("kind"), "kind = \"" + *kind + "\" is none of " + kinds());
    out.at = from_seconds(number("at", true, 0, kSecondsMax));
    const auto who = text("who");
    if (!who) return fail(table_, "a fault needs who = \"ROLE\" or \"ROLE PLACE\", as \"conv-worker 0\"");
    out.who = whom("who", *who);
    if (const auto to = text("to"); to && *to != "everybody") out.to = whom("to", *to);
    out.one_way = flag("one_way", false);
    out.keeps_disk = flag("keeps_disk", true);
    if (table_.contains("restart_after")) out.restart_after = from_seconds(number("restart_after", true, 0, kSecondsMax));
    const bool passes = out.kind != FaultKind::crash && out.kind != FaultKind::stop && out.kind != FaultKind::join;
    out.lasts = from_seconds(number("for", passes, 0, kSecondsMax));
    if (out.kind == FaultKind::slow) out.factor = number("factor", true, 1, 1e6);
    if (out.kind == FaultKind::lossy) out.factor = number("factor", true, 0, 0.95);
    if (!problem_.empty()) return {Errc::bad_config, problem_};
    return out;
  }

 private:
  static std::string kinds() {
    std::string out;
    for (std::uint8_t i = 0; i < kFaultKinds; ++i) out += (i == 0 ? "" : ", ") + std::string(name_of(static_cast<FaultKind>(i)));
    return out;
  }

  Error fail(const toml::node& where, const std::string& what) {
    const auto& at = where.source().begin;
    return {Errc::bad_config, file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + what};
  }
  void complain(const toml::node& where, const std::string& what) {
    if (problem_.empty()) problem_ = fail(where, what).text;
  }

  void known_keys() {
    const std::vector<std::string> known = {"kind", "at", "who", "to", "one_way", "for", "factor", "restart_after", "keeps_disk"};
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        complain(node, "a fault has no key " + name + did_you_mean(name, known));
      }
    }
  }

  std::optional<std::string> text(const char* key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    if (const auto* value = node->as_string()) return value->get();
    complain(*node, std::string(key) + " must be text");
    return std::nullopt;
  }

  bool flag(const char* key, bool fallback) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return fallback;
    if (const auto* value = node->as_boolean()) return value->get();
    complain(*node, std::string(key) + " must be true or false");
    return fallback;
  }

  double number(const char* key, bool needed, double low, double high) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      if (needed) complain(table_, "this kind of fault needs " + std::string(key) + " = a number");
      return {};
    }
    const auto value = node->value<double>();
    if (!value || !(*value >= low && *value <= high)) {
      complain(*node, std::string(key) + " must be a number from " + kinds::shortest(low) + " to " + kinds::shortest(high));
      return {};
    }
    return *value;
  }

  Whom whom(const char* key, const std::string& text) {
    const std::size_t space = text.find(' ');
    const auto role = role_from_name(text.substr(0, space));
    Whom out;
    std::size_t place = 0;
    const bool numbered = space != std::string::npos;
    if (!role || (numbered && !kinds::parse_number(std::string_view(text).substr(space + 1), place))) {
      complain(*table_.get(key),
               std::string(key) + " = \"" + text +
                   "\" names no process: it must be data-loader, conv-worker, fc-worker, tree-node, aggregator or monitor, "
                   "with or without a number from 0, as \"conv-worker 0\"");
      return out;
    }
    out.role = *role;
    if (numbered) out.place = place;
    return out;
  }

  const toml::table& table_;
  const std::string& file_;
  std::string problem_;
};

}  // namespace

Result<std::vector<Fault>> parse_faults(std::string_view text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(text, name);
  const auto place = [&](const toml::source_position& at) {
    return name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
  };
  if (!parsed) {
    const auto& error = parsed.error();
    return {Errc::bad_config, place(error.source().begin) + "not valid TOML: " + std::string(error.description())};
  }
  std::vector<Fault> out;
  for (const auto& [key, node] : parsed.table()) {
    const toml::array* tables = node.as_array();
    if (key.str() != "fault" || tables == nullptr || !tables->is_array_of_tables()) {
      return {Errc::bad_config, place(node.source().begin) + "a fault script holds [[fault]] tables and nothing else"};
    }
    for (const toml::node& table : *tables) {
      auto fault = Reader(*table.as_table(), name).read();
      if (!fault.ok()) return fault.error();
      if (out.size() == kFaultsMax) return {Errc::over_limit, name + ": more than " + std::to_string(kFaultsMax) + " faults"};
      out.push_back(*fault);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
  return out;
}

std::string print_faults(const std::vector<Fault>& faults) {
  std::string out;
  for (const Fault& fault : faults) {
    const auto line = [&](const char* key, const std::string& value) { out += std::string(key) + " = " + value + "\n"; };
    const auto number = [](double value) { return kinds::shortest(value); };
    out += "[[fault]]\n";
    line("kind", kinds::toml_quoted(name_of(fault.kind)));
    line("at", number(seconds(fault.at)));
    line("who", kinds::toml_quoted(to_string(fault.who)));
    const bool ends = fault.kind == FaultKind::crash || fault.kind == FaultKind::stop;
    if (fault.to) line("to", kinds::toml_quoted(to_string(*fault.to)));
    if (fault.one_way) line("one_way", "true");
    if (!ends && fault.kind != FaultKind::join) line("for", number(seconds(fault.lasts)));
    if (fault.kind == FaultKind::slow || fault.kind == FaultKind::lossy) line("factor", number(fault.factor));
    if (fault.restart_after) line("restart_after", number(seconds(*fault.restart_after)));
    if (!fault.keeps_disk) line("keeps_disk", "false");
  }
  return out;
}

}  // namespace hourglass
