// SPDX-License-Identifier: Apache-2.0
// Adam and its relatives. g is the gradient, + decay w but for adamw; t counts steps from 1.
//   m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2
//   adam, adamw   delta = -rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps); adamw: - rate decay w besides
//                 (Kingma, Ba 2014, arXiv 1412.6980; Loshchilov, Hutter 2017, arXiv 1711.05101; as PyTorch)
//   amsgrad       u = max(u, v);  delta = -rate m / sqrt(u + eps): no bias correction (Reddi et al. 2018; as in COMP-AMS, 2205.05632)
//   one_bit_adam  delta = -rate m / (sqrt(v) + eps), no bias correction; once v is frozen it stays, and m goes on (Tang et al. 2021,
//                 arXiv 2102.02888). Frozen after `warmup` steps; warmup=0: where |v_t|_1 and |v_(t-D)|_1, D = 1 / (1 - beta2), differ by
//                 no more than smaller / larger = ratio (the paper takes the quotient, which holds at once while |v| still grows from 0),
//                 and the rate has stopped rising. Entries with v = 0 then stay as they are.
// Options: beta1 (0.9) and beta2 (0.999) from 0 to 0.99999, eps (1e-8) from 1e-12 to 1; one_bit_adam also warmup (0) and ratio (0.96) from
// 0.5 to 1. Two arrays of memory as large as the parameters, amsgrad three. A zero gradient after non-zero ones still moves: m lasts.
// Gradients are cut at 1e18, so that no finite input makes the moments infinite.
#pragma once

#include <deque>
#include <memory>

#include "base/spec.h"
#include "learning/params/adam_kernel.h"
#include "learning/params/optimizer.h"

namespace hourglass::params {

Result<std::unique_ptr<Optimizer>> make_adam(const SpecStage& stage, double weight_decay, std::size_t size);
Result<std::unique_ptr<Optimizer>> make_adamw(const SpecStage& stage, double weight_decay, std::size_t size);
Result<std::unique_ptr<Optimizer>> make_amsgrad(const SpecStage& stage, double weight_decay, std::size_t size);
Result<std::unique_ptr<Optimizer>> make_one_bit_adam(const SpecStage& stage, double weight_decay, std::size_t size);

/// Both phases apart, for an aggregator whose workers keep the momentum.
class OneBitAdam final : public Optimizer {
 public:
  struct Options {
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, ratio = 0.96, decay = 0;
    std::int64_t warmup = 0;
  };
  static Result<Options> parse(const SpecStage& stage, double weight_decay);
  OneBitAdam(const Options& options, std::size_t size);

  void step(std::span<const float> parameters, std::span<float> gradient, double rate) override;
  void save(ArchiveWriter& out) const override;
  void load(ArchiveReader& in) override;
  /// After the freeze: `momentum` is what workers made of their gradients, decay included; it becomes the delta.
  void step_with_momentum(std::span<float> momentum, double rate);
  [[nodiscard]] bool frozen() const { return frozen_; }
  [[nodiscard]] std::span<const float> variance() const { return v_; }

 private:
  void freeze_if_due(double rate);
  Options options_;
  std::vector<float> m_, v_;
  std::deque<double> norms_;  ///< |v|_1 of the last D steps, oldest first
  std::int64_t steps_ = 0;
  double last_rate_ = 0;
  bool frozen_ = false;
};

}  // namespace hourglass::params
