// SPDX-License-Identifier: Apache-2.0
#include "learning/params/stale_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "learning/params/registry.h"
#include "learning/params/server_rule.h"

namespace hourglass::params {
namespace {

using Made = Result<std::unique_ptr<StalePolicy>>;

class Polynomial final : public StalePolicy {
 public:
  explicit Polynomial(double power) : power_(power) {}
  [[nodiscard]] double weight(std::uint64_t age) const override { return std::pow(1.0 + static_cast<double>(age), -power_); }

 private:
  double power_;
};

class Inverse final : public StalePolicy {
 public:
  [[nodiscard]] double weight(std::uint64_t age) const override { return 1.0 / static_cast<double>(std::max<std::uint64_t>(1, age)); }
};

class DelayCompensated final : public StalePolicy {
 public:
  DelayCompensated(double lambda, double decay) : lambda_(static_cast<float>(lambda)), decay_(static_cast<float>(decay)) {}
  [[nodiscard]] double weight(std::uint64_t /*age*/) const override { return 1; }
  [[nodiscard]] bool compensates() const override { return true; }

  void compensate(std::span<float> push, std::span<const float> now, std::span<const float> then) override {
    HG_CHECK(now.size() == push.size() && then.size() == push.size(), "a push covers its group");
    const bool adaptive = decay_ > 0;
    if (adaptive) mean_square_.resize(push.size(), 0.0F);
    for (std::size_t i = 0; i < push.size(); ++i) {
      const float g = -push[i];
      const float square = g * g;
      float lambda = lambda_;
      if (adaptive) {
        float& mean = mean_square_[i];
        mean = std::min(decay_ * mean + (1 - decay_) * square, std::numeric_limits<float>::max());
        lambda /= std::sqrt(mean + 1e-7F);
      }
      const float next = g + lambda * square * (now[i] - then[i]);
      if (next - next == 0) push[i] = -next;  // where it overflows, the gradient as it came
    }
  }

 private:
  float lambda_;
  float decay_;  ///< 0: a constant lambda
  std::vector<float> mean_square_;
};

Made make_equal(const SpecStage& stage) {
  if (const Status known = stage.only({}); !known) return known.error();
  return std::unique_ptr<StalePolicy>(std::make_unique<Polynomial>(0));
}

Made make_polynomial(const SpecStage& stage) {
  if (const Status known = stage.only({"power"}); !known) return known.error();
  const Result<double> power = stage.number("power", 0.5, 0, 10);
  if (!power) return power.error();
  return std::unique_ptr<StalePolicy>(std::make_unique<Polynomial>(*power));
}

Made make_inverse(const SpecStage& stage) {
  if (const Status known = stage.only({}); !known) return known.error();
  return std::unique_ptr<StalePolicy>(std::make_unique<Inverse>());
}

Made make_dc_asgd(const SpecStage& stage) {
  if (const Status known = stage.only({"lambda", "decay"}); !known) return known.error();
  const Result<double> decay = stage.number("decay", 0, 0, 0.999999);
  if (!decay) return decay.error();
  const Result<double> lambda = stage.number("lambda", *decay > 0 ? 2 : 0.04, 0, 1000);
  if (!lambda) return lambda.error();
  return std::unique_ptr<StalePolicy>(std::make_unique<DelayCompensated>(*lambda, *decay));
}

using Make = Made (*)(const SpecStage& stage);

const std::vector<Entry<Make>>& entries() {
  static const std::vector<Entry<Make>> table = {
      {{"equal", "as much as any other"}, &make_equal},
      {{"polynomial", "(1 + rounds late)^-power; power=0.5"}, &make_polynomial},
      {{"inverse", "1 / rounds late"}, &make_inverse},
      {{"dc_asgd", "delay compensation, for gradients (train.server); lambda=0.04, or lambda=2 decay=0.95"}, &make_dc_asgd},
  };
  return table;
}

}  // namespace

void StalePolicy::compensate(std::span<float> /*push*/, std::span<const float> /*now*/, std::span<const float> /*then*/) {}

const std::vector<NamedRow>& stale_policies() {
  static const std::vector<NamedRow> rows = rows_of(entries());
  return rows;
}

Made make_stale_policy(std::string_view spec) {
  const Result<SpecStage> stage = parse_single("stale policy", spec);
  if (!stage) return stage.error();
  const auto entry = find_entry(entries(), "stale policy", stage->name);
  if (!entry) return entry.error();
  return (*entry)->make(*stage);
}

Status check_stale_policy(const Job& job) {
  const auto policy = make_stale_policy(job.stale_policy);
  if (!policy.ok()) return policy.error();
  if (!(*policy)->compensates()) return {};
  const std::string name = "'" + job.stale_policy + "' ";
  if (adds(job)) {
    return {Errc::bad_config, name +
                                  "compensates gradients, and pushes are weight deltas here: set train.server = \"sgd\", or another rule, "
                                  "and train.optimizer = \"sgd\""};
  }
  if (warms_up_uncompressed(job)) {
    return {Errc::bad_config, name + "compensates gradients, and one_bit_adam's pushes become momentum: take another train.server"};
  }
  if (job.local_steps != 1 || job.local_policy != "fixed") {
    return {Errc::bad_config, name + "compensates the gradient of one step: set train.local_steps = 1 and train.local_policy = \"fixed\""};
  }
  if (job.tree_arity >= 2) {
    return {Errc::bad_config, name + "wants each worker's own gradient, and tree nodes merge them: set cluster.tree_arity = 0"};
  }
  return {};
}

}  // namespace hourglass::params
