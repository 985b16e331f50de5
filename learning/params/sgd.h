// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum (Polyak 1964), Nesterov's form of it (Sutskever et al. 2013) and weight decay, as PyTorch
// defines them; see optimizer.h for the formula.
#pragma once

#include <memory>

#include "base/spec.h"
#include "learning/params/optimizer.h"

namespace hourglass::params {

/// Options: momentum (0 to 0.9999), nesterov (0 or 1, needs momentum). Momentum takes `size` floats of memory.
Result<std::unique_ptr<Optimizer>> make_sgd(const SpecStage& stage, double weight_decay, std::size_t size);

}  // namespace hourglass::params
