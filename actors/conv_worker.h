// SPDX-License-Identifier: Apache-2.0
// Trains the conv part (or, without a cut, the whole model).
#pragma once

#include <memory>

#include "runtime/actor.h"
#include "runtime/process_identity.h"

namespace hourglass {

std::unique_ptr<Actor> make_conv_worker(ProcessIdentity identity);

}  // namespace hourglass
