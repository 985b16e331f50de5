// SPDX-License-Identifier: Apache-2.0
// Trains the conv part (or, without a cut, the whole model).
#pragma once

#include <memory>

#include "actors/samples.h"
#include "runtime/actor.h"
#include "runtime/process_identity.h"

namespace hourglass {

/// `source`: for jobs whose workers read the samples themselves (Job::local_data).
std::unique_ptr<Actor> make_conv_worker(DatasetSource source, ProcessIdentity identity);

}  // namespace hourglass
