// SPDX-License-Identifier: Apache-2.0
// What the aggregator makes of pushes (the job's `train.server`): "add", or the spec of any optimizer.
//
//   add           pushes are weight deltas, after the worker's own optimizer, and are added with weight 1/P. Local Adam with delta pushes
//   is
//                 this with train.optimizer = "adam".
//   an optimizer  it runs here, once for each publication, with moments that nobody else sees and that are never compressed. "amsgrad" is
//                 COMP-AMS (Li et al. 2022, arXiv 2205.05632): workers push compressed gradients under error feedback.
//   one_bit_adam  1-bit Adam (Tang et al. 2021, arXiv 2102.02888): Adam here on uncompressed gradients; once the variance is frozen,
//   workers
//                 push their momentum, compressed under error feedback.
//
// The contract where there is a rule:
//   A push is minus the mean gradient over its unit (plain sgd at rate 1), whatever the schedule; so the worker's optimizer must be "sgd".
//   Between two publications the pushes' weighted mean g is one gradient, W the sum of their weights (1 for a whole synchronous round, 1/P
//   for one push of an asynchronous run), and the step's rate is the sum of weight * learning rate * schedule(push's progress).
//   Workers do not read their own pushes before they are published: a gradient is no step. Weight decay is the rule's.
//   What error feedback holds at the end of a run is a gradient, too, and is dropped.
//   The only FC worker owns its group: it runs the same optimizer itself.
// 1-bit Adam's variance is the aggregator's alone: all are divided by the same one, and it never travels. The paper continues every
// worker's momentum from the decoded mean, here from its own: where nothing is compressed both have the same mean; compressed, it is the
// worker momentum of dist-EF-SGDM (Zheng et al. 2019) under a frozen preconditioner, and needs no second broadcast. A gradient that arrives
// after the freeze counts as momentum: its expectation is the same. Entries whose variance is 0 at the freeze stay as they are.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "learning/params/optimizer.h"
#include "messages/gradient_block.h"
#include "messages/job.h"

namespace hourglass::params {

/// One parameter group's.
class ServerRule {
 public:
  virtual ~ServerRule() = default;
  /// A push whose blocks have passed compress::validate(). `progress` within the run sets its rate.
  virtual void take(const std::vector<GradientBlock>& blocks, float weight, double progress) = 0;
  /// One step on what was taken since the last one: `delta` is to be added to the parameters. False where nothing was taken.
  virtual bool step(std::span<const float> parameters, std::span<float> delta) = 0;
  /// From now on workers should push momentum.
  [[nodiscard]] virtual bool wants_momentum() const { return false; }
  /// As Optimizer's.
  virtual void save(ArchiveWriter& out) const = 0;
  virtual void load(ArchiveReader& in) = 0;
};

/// Pushes are weight deltas.
inline bool adds(const Job& job) { return job.server == "add"; }

/// Null where the job adds. Errors: bad_config as check_server_rule().
Result<std::unique_ptr<ServerRule>> make_server_rule(const Job& job, std::size_t size);

/// Errors: bad_config with the list of rules; where the worker's optimizer is not plain "sgd"; where one_bit_adam is to take local steps.
Status check_server_rule(const Job& job);

/// What turns a worker's gradients into pushes: the job's own optimizer where the job adds, else plain sgd without decay, or 1-bit Adam's
/// momentum. `owner`: of the only FC worker, the rule's optimizer itself. Errors: bad_config.
Result<std::unique_ptr<Optimizer>> make_worker_optimizer(const Job& job, bool owner, std::size_t size);

/// 1-bit Adam's warm-up pushes everything; the others' compressor works from the start.
bool warms_up_uncompressed(const Job& job);

}  // namespace hourglass::params
