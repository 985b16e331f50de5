// SPDX-License-Identifier: Apache-2.0
// Several versions of the published stream in fewer bytes: an entry that changed in each of them is sent once.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "messages/parameter_update.h"

namespace hourglass::params {

/// `chain` leads, one delta after the other, to the values `newest`. Where several deltas change one range, and the union of the changed
/// entries as f32 values is smaller than their blocks, one block in the last delta's `replaced` stands for them. Sums would be smaller
/// still, but their rounding depends on how far behind a follower is; values leave every follower with the same bits. Nothing where
/// `newest` as a whole is no larger than the outcome.
std::optional<std::vector<VersionDelta>> merged(const std::vector<const VersionDelta*>& chain, std::span<const float> newest);

}  // namespace hourglass::params
