// SPDX-License-Identifier: Apache-2.0
// Checks beyond one key: specs by their registries, and settings against each other.
#pragma once

#include "services/options/resolve.h"

namespace hourglass {

/// Fills in what follows from other settings (the sample's shape, the threads), and adds a problem for each spec that its registry refuses
/// and a warning for what is allowed but hardly meant.
void complete(Resolved& resolved);

/// Reads the dataset's files: adds a problem where they are missing or broken, and warnings that need its size. Returns the exit code of
/// the problem, ok where there is none.
ExitCode require_dataset(Resolved& resolved);

}  // namespace hourglass
