// SPDX-License-Identifier: Apache-2.0
// Trains the fc part: forward, loss and backward of what CONV workers send.
#pragma once

#include <memory>

#include "runtime/actor.h"
#include "runtime/process_identity.h"

namespace hourglass {

std::unique_ptr<Actor> make_fc_worker(ProcessIdentity identity);

}  // namespace hourglass
