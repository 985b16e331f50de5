// SPDX-License-Identifier: Apache-2.0
#include "learning/params/server_rule.h"

#include <algorithm>

#include "base/check.h"
#include "learning/compress/compressor.h"
#include "learning/params/adam.h"
#include "learning/params/registry.h"

namespace hourglass::params {
namespace {

constexpr std::string_view kOneBitAdam = "one_bit_adam";

std::string name_of_rule(const Job& job) {
  const auto stage = parse_single("server rule", job.server);
  return stage.ok() ? stage->name : std::string();
}

/// The weighted sum of pushes, and the step that they are worth.
class OptimizerRule final : public ServerRule {
 public:
  OptimizerRule(std::unique_ptr<Optimizer> optimizer, OneBitAdam* one_bit, std::unique_ptr<Schedule> schedule, double rate,
                std::size_t size)
      : optimizer_(std::move(optimizer)), one_bit_(one_bit), schedule_(std::move(schedule)), learning_rate_(rate), sum_(size, 0.0F) {}

  void take(const std::vector<GradientBlock>& blocks, float weight, double progress) override {
    if (blocks.empty()) return;  // the last push of a worker that has nothing left to say
    for (const GradientBlock& block : blocks) {
      const Status status = compress::accumulate(block, sum_, weight);
      HG_CHECK(status.ok(), "a push is validated before it is applied");
    }
    weight_ += weight;
    rate_ += weight * learning_rate_ * schedule_->factor(progress);
  }

  bool step(std::span<const float> parameters, std::span<float> delta) override {
    if (weight_ == 0) return false;
    const auto scale = static_cast<float>(-1 / weight_);
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      const float value = scale * sum_[i];  // sums of huge pushes may be infinite, or no number
      const float cut = std::clamp(value, -kGradientMost, kGradientMost);
      delta[i] = value == value ? cut : 0.0F;
      sum_[i] = 0;
    }
    const double rate = rate_;
    weight_ = rate_ = 0;
    if (one_bit_ != nullptr && one_bit_->frozen()) {
      one_bit_->step_with_momentum(delta, rate);
    } else {
      optimizer_->step(parameters, delta, rate);
    }
    return true;
  }

  [[nodiscard]] bool wants_momentum() const override { return one_bit_ != nullptr && one_bit_->frozen(); }
  void save(ArchiveWriter& out) const override {
    optimizer_->save(out);
    out.put_all(std::span<const float>(sum_));
    out.put(weight_);
    out.put(rate_);
  }
  void load(ArchiveReader& in) override {
    optimizer_->load(in);
    in.get_into(sum_);
    in.get(weight_);
    in.get(rate_);
  }

 private:
  std::unique_ptr<Optimizer> optimizer_;
  OneBitAdam* one_bit_;  ///< the same object, where it is one
  std::unique_ptr<Schedule> schedule_;
  double learning_rate_;
  std::vector<float> sum_;
  double weight_ = 0;
  double rate_ = 0;
};

/// 1-bit Adam at a worker: m = beta1 m + (1 - beta1)(g + decay w). Pushes are -g until the freeze, then -m.
class WorkerMomentum final : public Optimizer {
 public:
  WorkerMomentum(const OneBitAdam::Options& options, std::size_t size)
      : beta1_(static_cast<float>(options.beta1)),
        rest1_(static_cast<float>(1 - options.beta1)),
        decay_(static_cast<float>(options.decay)),
        m_(size, 0.0F) {}

  void step(std::span<const float> parameters, std::span<float> gradient, double rate) override {
    HG_CHECK(parameters.size() == m_.size() && gradient.size() == m_.size(), "the optimizer was made for another size");
    const auto minus = static_cast<float>(-rate);
    for (std::size_t i = 0; i < m_.size(); ++i) {
      const float next = beta1_ * m_[i] + rest1_ * (gradient[i] + decay_ * parameters[i]);
      m_[i] = next - next == 0 ? next : m_[i];  // a diverged batch must not stay in the momentum
      gradient[i] = minus * (frozen_ && next - next == 0 ? m_[i] : gradient[i]);
    }
  }
  void freeze() override { frozen_ = true; }
  void save(ArchiveWriter& out) const override {
    out.put_all(std::span<const float>(m_));
    out.put(frozen_);
  }
  void load(ArchiveReader& in) override {
    in.get_into(m_);
    in.get(frozen_);
  }

 private:
  float beta1_;
  float rest1_;
  float decay_;
  std::vector<float> m_;
  bool frozen_ = false;
};

}  // namespace

Status check_server_rule(const Job& job) {
  if (adds(job)) return {};
  const auto made = make_optimizer(job.server, job.weight_decay, 0);
  if (!made.ok()) return {Errc::bad_config, "a server rule is \"add\" or an optimizer: " + made.error().text};
  const auto local = parse_single("optimizer", job.optimizer);
  if (!local.ok()) return local.error();
  if (local->name != "sgd" || !local->options.empty()) {
    return {Errc::bad_config, "server rule '" + job.server + "' takes gradients, and the optimizer '" + job.optimizer +
                                  "' would turn them into steps first: set train.optimizer = \"sgd\""};
  }
  if (name_of_rule(job) == kOneBitAdam && job.local_steps != 1) {
    return {Errc::bad_config, "one_bit_adam's momentum goes on with each push: set train.local_steps = 1"};
  }
  return {};
}

Result<std::unique_ptr<ServerRule>> make_server_rule(const Job& job, std::size_t size) {
  if (const Status fits = check_server_rule(job); !fits.ok()) return fits.error();
  if (adds(job)) return std::unique_ptr<ServerRule>();
  auto optimizer = make_optimizer(job.server, job.weight_decay, size);
  if (!optimizer.ok()) return optimizer.error();
  auto schedule = make_schedule(job.schedule);
  if (!schedule.ok()) return schedule.error();
  auto* one_bit = dynamic_cast<OneBitAdam*>(optimizer->get());
  return std::unique_ptr<ServerRule>(
      std::make_unique<OptimizerRule>(std::move(*optimizer), one_bit, std::move(*schedule), job.learning_rate, size));
}

Result<std::unique_ptr<Optimizer>> make_worker_optimizer(const Job& job, bool owner, std::size_t size) {
  if (const Status fits = check_server_rule(job); !fits.ok()) return fits.error();
  if (adds(job)) return make_optimizer(job.optimizer, job.weight_decay, size);
  if (owner) return make_optimizer(job.server, job.weight_decay, size);
  if (!warms_up_uncompressed(job)) return make_optimizer("sgd", 0, size);
  const auto stage = parse_single("server rule", job.server);
  if (!stage.ok()) return stage.error();
  const auto options = OneBitAdam::parse(*stage, job.weight_decay);
  if (!options.ok()) return options.error();
  return std::unique_ptr<Optimizer>(std::make_unique<WorkerMomentum>(*options, size));
}

bool warms_up_uncompressed(const Job& job) { return name_of_rule(job) == kOneBitAdam; }

}  // namespace hourglass::params
