// SPDX-License-Identifier: Apache-2.0
#include "services/options/validate.h"

#include "base/spec.h"
#include "learning/compress/boundary.h"
#include "learning/compress/error_feedback.h"
#include "learning/compress/risk.h"
#include "learning/data/dataset.h"
#include "learning/nn/model.h"
#include "learning/params/apply_policy.h"
#include "learning/params/bound_policy.h"
#include "learning/params/local_policy.h"
#include "learning/params/server_rule.h"
#include "learning/params/stale_policy.h"
#include "learning/params/take_policy.h"
#include "services/hosting/cpu_quota.h"
#include "services/options/slow_workers.h"

namespace hourglass {
namespace {

/// `result`: a Result or a Status.
template <class T>
bool accept(Resolved& resolved, std::string_view key, const T& result) {
  if (!result.ok()) resolved.reject(key, result.error().text);
  return result.ok();
}

bool fill_shape(Resolved& resolved) {
  Job& job = resolved.settings.job;
  const auto row = data::find_dataset(job.dataset);
  if (!accept(resolved, "data.set", row)) return false;
  job.channels = (*row)->channels;
  job.height = (*row)->height;
  job.width = (*row)->width;
  job.classes = (*row)->classes;
  return true;
}

bool optimizer_has_momentum(const std::string& spec) {
  const auto stages = parse_spec(spec);
  if (!stages.ok()) return false;
  const auto momentum = stages->front().number("momentum", 0.0, 0.0, 1.0);
  return momentum.ok() && *momentum > 0;
}

/// Combinations that are known not to train.
void warn_of_compression(Resolved& resolved) {
  const Job& job = resolved.settings.job;
  auto& warnings = resolved.warnings;
  if (const std::string risk = compress::risk_of(job.compress); !risk.empty()) {
    warnings.push_back("bytes.compress = " + job.compress + ": " + risk);
  }
  if (const std::string risk = compress::downlink_risk_of(job.downlink); !risk.empty()) {
    warnings.push_back("bytes.downlink = " + job.downlink + ": " + risk);
  }
  if (compress::has_momentum(job.compress) && optimizer_has_momentum(job.optimizer)) {
    warnings.push_back("train.optimizer = " + job.optimizer + " and bytes.compress = " + job.compress +
                       " both have momentum: it acts twice; take it from one of them");
  }
}

/// Algorithms that agree on what to send want to be at one version; entries that wait in a residual are late already.
void check_asynchrony(Resolved& resolved) {
  const Job& job = resolved.settings.job;
  if (job.staleness == 0) return;
  if (compress::takes_turns(job.compress)) {
    const std::string cause = "workers take turns in choosing what all send, by their clocks, ";
    if (job.staleness == kUnlimited) {
      resolved.reject("bytes.compress", cause + "which nothing holds together here: set train.staleness to 0, or another small number");
    } else {
      resolved.warnings.push_back("bytes.compress = " + job.compress + ": " + cause +
                                  "and clocks differ: the more, the less they agree; set train.staleness = 0");
    }
  }
  if (compress::least_ratio(job.compress) < 0.01 && job.local_steps == 1 && job.local_policy == "fixed") {
    resolved.warnings.push_back(
        "bytes.compress = " + job.compress +
        " with train.staleness above 0: entries wait for hundreds of steps, and come late on top of that; a ratio of "
        "0.01 with train.local_steps = 8 sends as little, and trains better");
  }
  if (job.apply_policy.starts_with("delayed_nesterov") && optimizer_has_momentum(job.optimizer)) {
    resolved.warnings.push_back("train.apply_policy = " + job.apply_policy + " and train.optimizer = " + job.optimizer +
                                " both have momentum: it acts twice; take it from one of them");
  }
}

void warn_of_contradictions(Resolved& resolved) {
  const Job& job = resolved.settings.job;
  auto& warnings = resolved.warnings;
  if (job.batch > job.fc_batch_samples && job.fc_workers > 0) {
    warnings.push_back("train.fc_batch_samples = " + std::to_string(job.fc_batch_samples) +
                       " is less than one batch (train.batch = " + std::to_string(job.batch) + "): each batch is a step of its own");
  }
  if (job.staleness == 0 && job.outstanding > 1) {
    warnings.push_back("train.staleness = 0 with train.outstanding = " + std::to_string(job.outstanding) +
                       ": a worker computes ahead with older parameters; set train.outstanding = 1 for exact synchronous steps");
  }
  if (job.fc_workers == 0 && job.boundary != "f32") {
    warnings.push_back("bytes.boundary = " + job.boundary + " has no effect: without FC workers no activations travel");
  }
  if (job.fc_workers == 0 && job.boundary_gradients != "same") {
    warnings.push_back("bytes.boundary_gradients = " + job.boundary_gradients +
                       " has no effect: without FC workers no gradients of activations travel");
  }
  const auto activations = compress::boundary_spec(job.boundary);
  if (job.fc_workers > 0 && activations.ok() && activations->keep == compress::BoundaryKeep::topk) {
    warnings.push_back("bytes.boundary = " + job.boundary +
                       " changes what the FC part sees, in evaluations too; for activations there is \"zeros | u8\"");
  }
  if (job.tree_arity >= 2 && job.tree_arity >= job.conv_workers) {
    warnings.push_back("cluster.tree_arity = " + std::to_string(job.tree_arity) + " has no effect: all " +
                       std::to_string(job.conv_workers) + " CONV workers fit under the aggregator");
  }
  if (job.learning_rate == 0) warnings.push_back("train.learning_rate = 0: nothing will be learned");
  const std::uint64_t round = std::uint64_t{job.batch} * job.conv_workers;
  if (job.samples > 0 && job.samples < round) {
    warnings.push_back("train.samples = " + std::to_string(job.samples) + " is less than one batch for each CONV worker (" +
                       std::to_string(round) + ")");
  }
  if (job.evaluate_every > 0 && job.evaluate_every < round) {
    warnings.push_back("train.evaluate_every = " + std::to_string(job.evaluate_every) + " evaluates after each step");
  }
  warn_of_compression(resolved);
  check_asynchrony(resolved);
  const auto lossless = compress::is_lossless(job.compress);
  if (lossless.ok() && !*lossless && !job.flush_residual && params::adds(job)) {
    warnings.push_back("bytes.flush_residual = false: what error feedback still holds at the end is lost");
  }
}

void check_slow_workers(Resolved& resolved) {
  const auto slow = parse_slow_workers(resolved.settings.simulation.slow);
  if (!accept(resolved, "simulate.slow", slow)) return;
  for (const SlowWorker& worker : *slow) {
    const bool conv = worker.role == Role::conv_worker;
    const std::uint32_t count = conv ? resolved.settings.job.conv_workers : resolved.settings.job.fc_workers;
    if (worker.position < count) continue;
    resolved.reject("simulate.slow", "there is no " + std::string(conv ? "CONV" : "FC") + " worker " + std::to_string(worker.position) +
                                         ": they are counted from 0, and there are " + std::to_string(count));
  }
}

}  // namespace

void complete(Resolved& resolved) {
  Settings& settings = resolved.settings;
  Job& job = settings.job;
  job.threads = settings.threads == 0 ? usable_processors() : settings.threads;
  const bool shaped = fill_shape(resolved);
  bool fits = accept(resolved, "train.optimizer", params::make_optimizer(job.optimizer, job.weight_decay, 1));
  fits = fits && accept(resolved, "train.server", params::check_server_rule(job));
  if (fits) {  // what they ask of the two above is answered
    fits = accept(resolved, "train.bound_policy", params::check_bound_policy(job));
    fits = accept(resolved, "train.local_policy", params::check_local_policy(job)) && fits;
    fits = accept(resolved, "train.stale_policy", params::check_stale_policy(job)) && fits;
    fits = accept(resolved, "train.apply_policy", params::check_apply_policy(job)) && fits;
    fits = accept(resolved, "train.take_policy", params::check_take_policy(job)) && fits;
  }
  fits = accept(resolved, "train.schedule", params::make_schedule(job.schedule)) && fits;
  fits = accept(resolved, "bytes.compress", compress::ErrorFeedback::make(job.compress, {}, 0)) && fits;
  fits = accept(resolved, "bytes.downlink", compress::ErrorFeedback::make(job.downlink, {}, 0)) && fits;
  fits = accept(resolved, "bytes.boundary", compress::boundary_spec(job.boundary)) && fits;
  if (job.boundary_gradients != "same")
    fits = accept(resolved, "bytes.boundary_gradients", compress::boundary_spec(job.boundary_gradients)) && fits;
  if (job.tree_arity >= 2 && !params::adds(job)) {
    resolved.reject("cluster.tree_arity",
                    "tree nodes sum what train.server = \"" + job.server + "\" wants from each worker; set 0, or server \"add\"");
  }
  check_slow_workers(resolved);
  if (shaped) {
    const auto model = nn::parse_model(job.model, {job.channels, job.height, job.width}, job.classes, job.fc_workers > 0);
    if (accept(resolved, "model.name", model) && job.fc_workers > 0 && model->fc.empty()) {
      resolved.reject("cluster.fc_workers", "model '" + job.model + "' has no cut; give it one, or set 0");
    }
  }
  if (fits) warn_of_contradictions(resolved);
}

ExitCode require_dataset(Resolved& resolved) {
  const Settings& settings = resolved.settings;
  for (const data::Split split : {data::Split::train, data::Split::test}) {
    const auto loaded = data::load_dataset(settings.job.dataset, settings.data_dir, split, settings.job.seed);
    if (!loaded.ok()) {
      resolved.reject(settings.data_dir.empty() ? "data.set" : "data.dir", loaded.error().text);
      resolved.problems.back().code = ExitCode::missing_data;
      return ExitCode::missing_data;
    }
    const std::uint64_t round = std::uint64_t{settings.job.batch} * settings.job.conv_workers;
    if (split == data::Split::train && loaded->size() < round) {
      resolved.warnings.push_back("train.batch = " + std::to_string(settings.job.batch) +
                                  ": one batch for each CONV worker is more than the dataset's " + std::to_string(loaded->size()) +
                                  " training samples");
    }
  }
  return ExitCode::ok;
}

}  // namespace hourglass
