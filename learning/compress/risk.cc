// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/risk.h"

#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/random.h"
#include "learning/compress/error_feedback.h"
#include "learning/compress/kernels.h"
#include "learning/compress/plan.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kColumns = 128;
constexpr double kLossMax = 0.5;

double norm_of(std::span<const float> values) { return std::sqrt(kernels().sum_of_squares(values.data(), values.size())); }

std::vector<float> probe(std::uint64_t seed) {
  Random random(seed);
  std::vector<float> out(kRiskLength);
  for (float& value : out) value = static_cast<float>(random.normal());
  return out;
}

std::optional<ErrorFeedback> made(std::string_view spec) {
  Result<ErrorFeedback> feedback = ErrorFeedback::make(spec, {{0, kRiskLength, false, kColumns}}, kRiskLength);
  if (!feedback.ok()) return std::nullopt;
  return std::move(feedback).value();
}

/// How many times the sum of one update's contributions to the held mass may be larger than the update.
double gain_of(const Plan& plan) {
  if (!plan.memory || plan.memory->spec.name == "feedback") return 1;
  if (plan.memory->spec.name == "ef21") return 2;
  const Result<double> momentum = plan.memory->spec.number("momentum", plan.memory->spec.name == "dgc_momentum" ? 0.9 : 0.0, 0.0, 1.0);
  return momentum.ok() && *momentum < 1 ? 1 / (1 - *momentum) : 1;
}

bool grows(ErrorFeedback feedback, double gain) {
  double norms = 0;
  for (std::size_t step = 0; step < kRiskSteps; ++step) {
    const std::vector<float> update = probe(step);
    norms += gain * norm_of(update);
    if (!feedback.compress(update, step).ok()) return true;
    if (feedback.residual_norm() > norms * 1.001) return true;
  }
  return false;
}

bool loses(ErrorFeedback feedback) {
  const std::vector<float> update = probe(0);
  std::vector<float> missing(kRiskLength, 0.0F);
  for (std::size_t step = 0; step < kRiskSteps; ++step) {
    Result<std::vector<GradientBlock>> blocks = feedback.compress(update, step);
    if (!blocks.ok()) return true;
    kernels().add(missing.data(), update.data(), missing.data(), missing.size());
    for (const GradientBlock& block : *blocks) HG_CHECK(accumulate(block, missing, -1.0F).ok(), "a block of our own must decode");
  }
  return norm_of(missing) > kLossMax * static_cast<double>(kRiskSteps) * norm_of(update);
}

/// Momentum that masking zeroes as soon as it is made.
bool masks_all(const Plan& plan) {
  if (!plan.selector) return true;
  return plan.selector->spec.name == "dense" || *plan.selector->spec.number("ratio", 0.0, 0.0, 1.0) == 1;
}

std::string quoted(const Chosen& stage) { return "'" + to_string({stage.spec}) + "'"; }

}  // namespace

std::string risk_of(std::string_view spec) {
  std::optional<ErrorFeedback> feedback = made(spec);
  if (!feedback || feedback->lossless()) return "";
  const Plan plan = plan_of(spec).value();
  const std::string name = plan.memory ? plan.memory->spec.name : "feedback";
  if (name == "none") {
    if (!loses(std::move(*feedback))) return "";
    return "without a memory most of each update is lost or drowned in noise, and training may collapse; leave out 'none |'";
  }
  if (name == "ef21" && !feedback->conserves()) {
    return "the receiver has to apply the running sum of what it gets; the aggregator applies each block once; use 'ef21'";
  }
  if (has_momentum(spec) && masks_all(plan) && *plan.memory->spec.whole("masking", 1, 0, 1) == 1) {
    return quoted(*plan.memory) +
           " masks the momentum of all that is sent, and here everything is sent: there is no momentum left; add "
           "masking=0";
  }
  if (grows(std::move(*feedback), gain_of(plan))) {
    return "what the memory '" + name + "' holds back grows without bound, because this compressor is no contraction; use 'none |', or " +
           "finer levels";
  }
  return "";
}

std::string downlink_risk_of(std::string_view spec) {
  const std::optional<ErrorFeedback> feedback = made(spec);
  if (!feedback || feedback->lossless()) return "";
  if (!feedback->conserves()) return "this memory does not send all of each update in the end, so workers never catch up; use 'feedback'";
  return risk_of(spec);
}

bool has_momentum(std::string_view spec) {
  const Result<Plan> plan = plan_of(spec);
  if (!plan.ok() || !plan->memory || plan->memory->spec.name != "dgc_momentum") return false;
  const Result<double> momentum = plan->memory->spec.number("momentum", 0.9, 0.0, 1.0);
  return momentum.ok() && *momentum > 0;
}

bool takes_turns(std::string_view spec) {
  const Result<Plan> plan = plan_of(spec);
  return plan.ok() && plan->selector && plan->selector->spec.name == "clt_k";
}

double least_ratio(std::string_view spec) {
  const Result<Plan> plan = plan_of(spec);
  if (!plan.ok() || !plan->selector) return 1;
  const Result<double> ratio = plan->selector->spec.number("ratio", 1.0, 0.0, 1.0);
  return ratio.ok() ? *ratio : 1;
}

}  // namespace hourglass::compress
