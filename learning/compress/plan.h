// SPDX-License-Identifier: Apache-2.0
// A compressor's spec resolved to rows of the registry, checked as a whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/spec.h"
#include "learning/compress/registry.h"

namespace hourglass::compress {

struct Chosen {
  const Stage* row = nullptr;
  SpecStage spec;
};

/// Of each kind at most one, in the order of StageKind; a selector or a transform is always there.
struct Plan {
  std::optional<Chosen> memory, ratio, selector, transform, value, index;
};

/// Errors: bad_config naming the stage, with the list; or that the stages do not go together.
Result<Plan> plan_of(std::string_view text);
/// The range's part. Errors: bad_config for options.
Result<std::unique_ptr<Compressor>> make_compressor(const Plan& plan, const Shape& shape);

}  // namespace hourglass::compress
