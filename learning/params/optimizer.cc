// SPDX-License-Identifier: Apache-2.0
#include "learning/params/optimizer.h"

#include <cmath>

#include "learning/params/registry.h"
#include "learning/params/sgd.h"

namespace hourglass::params {
namespace {

using MakeOptimizer = Result<std::unique_ptr<Optimizer>> (*)(const SpecStage& stage, double weight_decay, std::size_t size);

const std::vector<Entry<MakeOptimizer>>& entries() {
  static const std::vector<Entry<MakeOptimizer>> table = {
      {{"sgd", "stochastic gradient descent; momentum=0.9, nesterov=1"}, &make_sgd},
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
