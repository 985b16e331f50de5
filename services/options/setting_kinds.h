// SPDX-License-Identifier: Apache-2.0
// Makers of table rows: one for each kind of value. `access` maps Settings to the member.
#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "services/options/setting.h"

namespace hourglass::kinds {

std::string toml_quoted(std::string_view text);
std::string shortest(double number);
/// "host:port", "[::1]:port"; the host may be a name, an address, an interface or "*".
bool is_address(std::string_view text);
/// 8 to 128 of A-Z a-z 0-9 - _ . ~
bool is_token(std::string_view text);

template <class T>
bool parse_number(std::string_view text, T& out) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  return status == std::errc() && end == text.data() + text.size();
}

/// A word that stands for a number, such as "unlimited".
struct Word {
  std::string_view text;
  std::int64_t value = 0;
};

template <class Access>
Setting whole(std::string_view key, std::string_view flag, std::int64_t low, std::int64_t high, std::string_view help, Access access,
              Word word = {}) {
  std::string allowed = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  if (!word.text.empty()) allowed += " or \"" + std::string(word.text) + "\"";
  auto assign = [=](Settings& settings, const RawValue& raw) -> Status {
    using Member = std::remove_reference_t<decltype(access(settings))>;
    std::int64_t number = 0;
    const bool is_word =
        !word.text.empty() && raw.text == word.text && (raw.type == RawValue::Type::text || raw.type == RawValue::Type::toml_string);
    if (is_word) {
      number = word.value;
    } else if ((raw.type != RawValue::Type::text && raw.type != RawValue::Type::toml_integer) || !parse_number(raw.text, number) ||
               number < low || number > high) {
      return {Errc::bad_config, "it must be " + allowed};
    }
    access(settings) = static_cast<Member>(number);
    return {};
  };
  auto show = [=](const Settings& settings) {
    const auto value = static_cast<std::int64_t>(access(settings));
    return !word.text.empty() && value == word.value ? toml_quoted(word.text) : std::to_string(value);
  };
  return {key, flag, Scope::job, allowed, help, assign, show};
}

template <class Access>
Setting real(std::string_view key, std::string_view flag, double low, double high, std::string_view help, Access access) {
  std::string allowed = "a number from " + shortest(low) + " to " + shortest(high);
  auto assign = [=](Settings& settings, const RawValue& raw) -> Status {
    double number = 0;
    const bool typed =
        raw.type == RawValue::Type::text || raw.type == RawValue::Type::toml_integer || raw.type == RawValue::Type::toml_real;
    if (!typed || !parse_number(raw.text, number) || !(number >= low && number <= high)) return {Errc::bad_config, "it must be " + allowed};
    access(settings) = number;
    return {};
  };
  return {key, flag, Scope::job, allowed, help, assign, [=](const Settings& settings) { return shortest(access(settings)); }};
}

template <class Access>
Setting yes_no(std::string_view key, std::string_view flag, std::string_view help, Access access) {
  auto assign = [=](Settings& settings, const RawValue& raw) -> Status {
    const bool typed = raw.type == RawValue::Type::text || raw.type == RawValue::Type::toml_flag;
    if (!typed || (raw.text != "true" && raw.text != "false")) return {Errc::bad_config, "it must be true or false"};
    access(settings) = raw.text == "true";
    return {};
  };
  return {key, flag, Scope::job, "true or false", help, assign, [=](const Settings& settings) {
            return std::string(access(settings) ? "true" : "false");
          }};
}

/// A text that `accepts` accepts. `allowed` says which.
template <class Access, class Accepts>
Setting text_where(std::string_view key, std::string_view flag, std::string allowed, std::string_view help, Access access,
                   Accepts accepts) {
  auto assign = [=](Settings& settings, const RawValue& raw) -> Status {
    const bool typed = raw.type == RawValue::Type::text || raw.type == RawValue::Type::toml_string;
    if (!typed || !accepts(raw.text)) return {Errc::bad_config, "it must be " + allowed};
    access(settings) = raw.text;
    return {};
  };
  return {key, flag, Scope::job, allowed, help, assign, [=](const Settings& settings) { return toml_quoted(access(settings)); }};
}

bool is_printable(std::string_view text, std::size_t bytes_max);  ///< no control characters, valid length

/// A spec string or name that a registry checks later; never empty.
template <class Access>
Setting spec(std::string_view key, std::string_view flag, std::string allowed, std::string_view help, Access access) {
  return text_where(key, flag, std::move(allowed), help, access,
                    [](const std::string& text) { return !text.empty() && is_printable(text, limits::kSpecBytes); });
}

/// Free text, such as a path; may be empty.
template <class Access>
Setting text(std::string_view key, std::string_view flag, std::string allowed, std::string_view help, Access access,
             std::size_t bytes_max = limits::kTextBytes) {
  return text_where(key, flag, std::move(allowed), help, access,
                    [bytes_max](const std::string& value) { return is_printable(value, bytes_max); });
}

template <class Access>
Setting choice(std::string_view key, std::string_view flag, std::vector<std::string> names, std::string_view help, Access access) {
  std::string allowed = "one of";
  for (const auto& name : names) allowed += (name == names.front() ? " " : ", ") + name;
  return text_where(key, flag, allowed, help, access, [names](const std::string& text) {
    for (const auto& name : names) {
      if (name == text) return true;
    }
    return false;
  });
}

template <class Access>
Setting address(std::string_view key, std::string_view flag, std::string_view help, Access access) {
  return text_where(key, flag, "host:port, as in aggregator:7070 or [::1]:7070", help, access,
                    [](const std::string& text) { return is_address(text); });
}

inline Setting of_simulation(Setting row) {
  row.scope = Scope::simulation;
  return row;
}

inline Setting of_chaos(Setting row) {
  row.scope = Scope::chaos;
  return row;
}

inline Setting per_process(Setting row) {
  row.scope = Scope::process;
  return row;
}

inline Setting secret(Setting row) {
  row.secret = true;
  return row;
}

}  // namespace hourglass::kinds
