// SPDX-License-Identifier: Apache-2.0
#include "services/options/slow_workers.h"

#include <algorithm>
#include <string>

#include "services/options/setting_kinds.h"

namespace hourglass {
namespace {

constexpr double kTimesMin = 0.001;
constexpr double kTimesMax = 1e6;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool parse_one(std::string_view text, SlowWorker& out) {
  const std::size_t dash = text.find('-');
  const std::size_t colon = text.find(':');
  if (dash == std::string_view::npos || colon == std::string_view::npos || colon < dash) return false;
  const std::string_view role = text.substr(0, dash);
  if (role != "conv" && role != "fc") return false;
  out.role = role == "conv" ? Role::conv_worker : Role::fc_worker;
  return kinds::parse_number(text.substr(dash + 1, colon - dash - 1), out.position) &&
         kinds::parse_number(text.substr(colon + 1), out.times) && out.times >= kTimesMin && out.times <= kTimesMax;
}

}  // namespace

Result<std::vector<SlowWorker>> parse_slow_workers(std::string_view text) {
  std::vector<SlowWorker> out;
  if (trimmed(text).empty()) return out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view entry = trimmed(text.substr(begin, comma - begin));
    begin = comma + 1;
    SlowWorker worker;
    if (!parse_one(entry, worker)) {
      return {Errc::bad_config, "'" + std::string(entry) +
                                    "' is not a slow worker: write role, number from 0, and how many times as long it " +
                                    "takes, as in \"conv-0:10, fc-1:2.5\""};
    }
    out.push_back(worker);
  }
  return out;
}

}  // namespace hourglass
