// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/choice.h"

#include <algorithm>
#include <string>

namespace hourglass::compress {

Result<std::size_t> choice_of(const SpecStage& stage, std::string_view key, std::initializer_list<std::string_view> names) {
  const auto option = std::ranges::find_if(stage.options, [&](const auto& each) { return each.first == key; });
  if (option == stage.options.end()) return std::size_t{0};
  const auto found = std::ranges::find(names, std::string_view(option->second));
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return {Errc::bad_config, "'" + stage.name + "': " + std::string(key) + "=" + option->second + " is none of " + list};
}

}  // namespace hourglass::compress
