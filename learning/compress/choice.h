// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/result.h"
#include "base/spec.h"

namespace hourglass::compress {

/// Which of `names` the option has; 0 where it is absent. Errors: bad_config with the list.
Result<std::size_t> choice_of(const SpecStage& stage, std::string_view key, std::initializer_list<std::string_view> names);

}  // namespace hourglass::compress
