// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "actors/samples.h"
#include "runtime/actor.h"
#include "runtime/process_identity.h"

namespace hourglass {

std::unique_ptr<Actor> make_data_loader(DatasetSource source, ProcessIdentity identity);

}  // namespace hourglass
