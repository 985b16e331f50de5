// SPDX-License-Identifier: Apache-2.0
// Optimizers turn a gradient into a weight delta; schedules turn progress into a learning rate.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/result.h"

namespace hourglass::params {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Overwrites `gradient` with what is to be ADDED to the parameters: -rate * step(gradient). All spans have the size given to
  /// make_optimizer.
  virtual void step(std::span<const float> parameters, std::span<float> gradient, double rate) = 0;
  /// The aggregator's server rule has frozen its variance: for what works in two phases.
  virtual void freeze() {}
  /// What it remembers from step to step; load() of one made by the same spec and size goes on bit for bit. What does not fit fails the
  /// reader, and leaves an optimizer that must not be used.
  virtual void save(ArchiveWriter& out) const = 0;
  virtual void load(ArchiveReader& in) = 0;
};

struct NamedRow {
  std::string_view name;
  std::string_view help;
};
const std::vector<NamedRow>& optimizers();
const std::vector<NamedRow>& schedules();

/// "sgd", "sgd momentum=0.9", "sgd momentum=0.9 nesterov=1". As PyTorch: d = g + decay * w;  m = momentum * m + d (first step: m = d);
/// nesterov: d += momentum * m, else d = m;  delta = -rate * d. "adam", "adamw", "amsgrad", "one_bit_adam": see adam.h. Errors: bad_config
/// with the list.
Result<std::unique_ptr<Optimizer>> make_optimizer(std::string_view spec, double weight_decay, std::size_t size);

class Schedule {
 public:
  virtual ~Schedule() = default;
  /// `progress`: share of the run done, 0..1. The factor on the base rate.
  [[nodiscard]] virtual double factor(double progress) const = 0;
};
/// "constant", "cosine floor=0.01", "step at=0.5 by=0.1" (at may be repeated as at=0.5,0.75), each with optional warmup=0.05 (linear from
/// 0).
Result<std::unique_ptr<Schedule>> make_schedule(std::string_view spec);

}  // namespace hourglass::params
