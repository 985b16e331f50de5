// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "learning/data/dataset.h"
#include "runtime/actor.h"
#include "runtime/process_identity.h"

namespace hourglass {

/// Reads a split of a dataset; the actor itself touches no file.
using DatasetSource = std::function<Result<data::Dataset>(std::string_view name, data::Split split, std::uint64_t seed)>;

std::unique_ptr<Actor> make_data_loader(DatasetSource source, ProcessIdentity identity);

}  // namespace hourglass
