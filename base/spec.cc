// SPDX-License-Identifier: Apache-2.0
#include "base/spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hourglass {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

Error wrong(const SpecStage& stage, std::string_view key, std::string_view value, const std::string& allowed) {
  return {Errc::bad_config, stage.name + ": " + std::string(key) + "=" + std::string(value) + " must be " + allowed};
}

std::string show(double number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

const std::string* find(const SpecStage& stage, std::string_view key) {
  for (const auto& [name, value] : stage.options) {
    if (name == key) return &value;
  }
  return nullptr;
}

Result<std::int64_t> parse_whole(const SpecStage& stage, std::string_view key, std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t out = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (status != std::errc() || end != text.data() + text.size() || out < low || out > high) {
    return wrong(stage, key, text, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return out;
}

}  // namespace

Result<double> SpecStage::number(std::string_view key, double fallback, double low, double high) const {
  const std::string* text = find(*this, key);
  if (text == nullptr) return fallback;
  double out = 0;
  const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (status != std::errc() || end != text->data() + text->size() || !(out >= low && out <= high)) {
    return wrong(*this, key, *text, "a number from " + show(low) + " to " + show(high));
  }
  return out;
}

Result<std::int64_t> SpecStage::whole(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) const {
  const std::string* text = find(*this, key);
  if (text == nullptr) return fallback;
  return parse_whole(*this, key, *text, low, high);
}

Result<std::int64_t> SpecStage::whole_word(std::size_t position, std::string_view meaning, std::int64_t low, std::int64_t high) const {
  if (position >= words.size()) return {Errc::bad_config, name + " needs its " + std::string(meaning)};
  return parse_whole(*this, meaning, words[position], low, high);
}

Status SpecStage::only(std::initializer_list<std::string_view> known, std::size_t words_max) const {
  if (words.size() > words_max) return {Errc::bad_config, name + " does not take '" + words[words_max] + "'"};
  for (const auto& [key, value] : options) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string list;
    for (const auto& each : known) list += (list.empty() ? "" : ", ") + std::string(each);
    return {Errc::bad_config,
            name + " has no option '" + key + "'" + (list.empty() ? std::string("; it takes none") : "; it takes: " + list)};
  }
  return {};
}

Result<std::vector<SpecStage>> parse_spec(std::string_view text) {
  if (text.size() > kSpecBytesMax) return {Errc::over_limit, "a spec may have at most 4096 bytes"};
  std::vector<SpecStage> stages;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t bar = std::min(text.find('|', begin), text.size());
    std::string_view part = text.substr(begin, bar - begin);
    begin = bar + 1;
    SpecStage stage;
    while (!part.empty()) {
      const std::size_t blank = std::min(part.find_first_of(" \t\n"), part.size());
      const std::string_view word = part.substr(0, blank);
      part.remove_prefix(std::min(blank + 1, part.size()));
      if (word.empty()) continue;
      const std::size_t equals = word.find('=');
      if (equals != std::string_view::npos) {
        const std::string_view key = word.substr(0, equals);
        if (stage.name.empty() || !is_name(key) || equals + 1 == word.size()) {
          return {Errc::bad_config, "'" + std::string(word) + "' in '" + std::string(text) + "' is not key=value"};
        }
        if (find(stage, key) != nullptr) return {Errc::bad_config, stage.name + ": '" + std::string(key) + "' stands twice"};
        stage.options.emplace_back(key, word.substr(equals + 1));
      } else if (stage.name.empty()) {
        if (!is_name(word)) return {Errc::bad_config, "'" + std::string(word) + "' is not a name (a-z, 0-9, _)"};
        stage.name = word;
      } else {
        stage.words.emplace_back(word);
      }
    }
    if (stage.name.empty()) return {Errc::bad_config, "an empty stage in '" + std::string(text) + "'"};
    stages.push_back(std::move(stage));
    if (stages.size() > kSpecStagesMax) return {Errc::over_limit, "a spec may have at most 256 stages"};
  }
  return stages;
}

std::string to_string(const std::vector<SpecStage>& stages) {
  std::string out;
  for (const auto& stage : stages) {
    if (!out.empty()) out += " | ";
    out += stage.name;
    for (const auto& word : stage.words) out += " " + word;
    for (const auto& [key, value] : stage.options) out += " " + key + "=" + value;
  }
  return out;
}

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= wrong.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t substitute = diagonal + (wrong[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    // Equal length and no letter in common is a distance too, but no likeness.
    if (row.back() < best_distance && row.back() < std::max(wrong.size(), candidate.size())) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace hourglass
