// SPDX-License-Identifier: Apache-2.0
#include "learning/params/optimizer.h"

#include <cmath>

#include "learning/params/adam.h"
#include "learning/params/registry.h"
#include "learning/params/sgd.h"

namespace hourglass::params {
namespace {

using MakeOptimizer = Result<std::unique_ptr<Optimizer>> (*)(const SpecStage& stage, double weight_decay, std::size_t size);

const std::vector<Entry<MakeOptimizer>>& entries() {
  static const std::vector<Entry<MakeOptimizer>> table = {
      {{"sgd", "stochastic gradient descent; momentum=0.9, nesterov=1"}, &make_sgd},
      {{"adam", "Adam; beta1=0.9, beta2=0.999, eps=1e-8"}, &make_adam},
      {{"adamw", "Adam with decoupled weight decay; as adam"}, &make_adamw},
      {{"amsgrad", "AMSGrad without bias correction; as adam"}, &make_amsgrad},
      {{"one_bit_adam", "Adam whose variance is frozen; as adam, and warmup=N or ratio=0.96"}, &make_one_bit_adam},
  };
  return table;
}

}  // namespace

const std::vector<NamedRow>& optimizers() {
  static const std::vector<NamedRow> rows = rows_of(entries());
  return rows;
}

Result<std::unique_ptr<Optimizer>> make_optimizer(std::string_view spec, double weight_decay, std::size_t size) {
  const Result<SpecStage> stage = parse_single("optimizer", spec);
  if (!stage) return stage.error();
  const auto entry = find_entry(entries(), "optimizer", stage->name);
  if (!entry) return entry.error();
  if (!std::isfinite(weight_decay) || weight_decay < 0.0) {
    return {Errc::bad_config, stage->name + ": the weight decay must be a number from 0"};
  }
  return (*entry)->make(*stage, weight_decay, size);
}

}  // namespace hourglass::params
