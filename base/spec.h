// SPDX-License-Identifier: Apache-2.0
// The one parser of spec strings: "topk ratio=0.01 | two_level | rice", "conv 32 kernel=5 | relu | pool 2".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hourglass {

/// One stage: a name, positional words, and key=value options, each option used at most once.
struct SpecStage {
  std::string name;
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> options;

  /// The option's (or the position-th word's) value as a number in [low, high], or `fallback` where it is absent.
  [[nodiscard]] Result<double> number(std::string_view key, double fallback, double low, double high) const;
  [[nodiscard]] Result<std::int64_t> whole(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) const;
  [[nodiscard]] Result<std::int64_t> whole_word(std::size_t position, std::string_view meaning, std::int64_t low, std::int64_t high) const;
  /// Fails, naming what is allowed, when an option is not among `known` or there are more than `words_max` words.
  [[nodiscard]] Status only(std::initializer_list<std::string_view> known, std::size_t words_max = 0) const;
};

inline constexpr std::size_t kSpecBytesMax = 4096;
inline constexpr std::size_t kSpecStagesMax = 256;

/// Stages separated by '|', words by blanks. Names and keys: [a-z0-9_]+. Empty stages are errors.
Result<std::vector<SpecStage>> parse_spec(std::string_view text);
std::string to_string(const std::vector<SpecStage>& stages);

/// The candidate nearest to `wrong` by edit distance, or "" when none is near. For "did you mean".
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& candidates);

}  // namespace hourglass
