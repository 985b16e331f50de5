// SPDX-License-Identifier: Apache-2.0
#include "learning/params/local_policy.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "learning/params/registry.h"
#include "learning/params/server_rule.h"

namespace hourglass::params {
namespace {

using Made = Result<std::unique_ptr<LocalPolicy>>;
constexpr std::size_t kTimesKept = 5;
constexpr double kAlike = 0.05;  ///< speeds that differ by less are one speed; and never is more than half a step given away

class Fixed final : public LocalPolicy {
 public:
  explicit Fixed(std::uint32_t steps) : steps_(steps) {}
  [[nodiscard]] LocalWork work(ActorId /*id*/) const override { return {steps_, 1}; }

 private:
  std::uint32_t steps_;
};

class BySpeed final : public LocalPolicy {
 public:
  BySpeed(std::uint32_t steps, std::uint32_t steps_max) : steps_(steps), steps_max_(steps_max) {}

  void pushed(ActorId id, const UnitReport& report) override {
    if (report.samples == 0 || report.worked <= Duration::zero()) return;
    std::deque<double>& times = times_[id];
    times.push_back(seconds(report.worked) / report.samples);
    if (times.size() > kTimesKept) times.pop_front();
  }
  void left(ActorId id) override { times_.erase(id); }

  [[nodiscard]] LocalWork work(ActorId id) const override {
    const auto own = times_.find(id);
    if (own == times_.end()) return {steps_, 1};
    double slowest = 0;
    for (const auto& [other, times] : times_) slowest = std::max(slowest, median(times));
    const double exact = steps_ * slowest / median(own->second);
    const double steps = std::ceil(exact - std::min(exact * kAlike, 0.5));
    return {static_cast<std::uint32_t>(std::clamp(steps, double{1} * steps_, double{1} * steps_max_)), 1};
  }

 private:
  static double median(std::deque<double> times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }
  std::uint32_t steps_;
  std::uint32_t steps_max_;
  std::map<ActorId, std::deque<double>> times_;  ///< seconds for a sample, newest last
};

/// The batch is looked at whenever a worker tells its noise again: by what all have told since the last time.
class ByNoise final : public LocalPolicy {
 public:
  ByNoise(const Job& job, std::uint64_t samples_max, double eta)
      : steps_(job.local_steps), samples_(job.batch), batch_(job.batch, std::max<std::uint64_t>(samples_max, job.batch), eta) {}

  void pushed(ActorId id, const UnitReport& report) override {
    if (report.noise.variance == 0 && report.noise.norm_squared == 0) return;
    if (told_.contains(id)) {
      std::vector<GradientNoise> all;
      for (const auto& [worker, noise] : told_) all.push_back(noise);
      (void)batch_.update(all);
      told_.clear();
    }
    told_[id] = report.noise;
  }
  void left(ActorId id) override { told_.erase(id); }

  [[nodiscard]] LocalWork work(ActorId /*id*/) const override {
    const std::uint64_t batches = (batch_.batch() + samples_ - 1) / samples_;
    const std::uint64_t most = std::max<std::uint64_t>(1, limits::kLocalSteps / steps_);
    return {steps_, static_cast<std::uint32_t>(std::min(batches, most))};
  }
  [[nodiscard]] bool wants_noise() const override { return true; }

 private:
  std::uint32_t steps_;
  std::uint64_t samples_;
  AdaptiveBatch batch_;
  std::map<ActorId, GradientNoise> told_;
};

Made make_fixed(const SpecStage& stage, const Job& job) {
  if (const Status known = stage.only({}); !known) return known.error();
  return std::unique_ptr<LocalPolicy>(std::make_unique<Fixed>(job.local_steps));
}

Made make_by_speed(const SpecStage& stage, const Job& job) {
  if (const Status known = stage.only({"max"}); !known) return known.error();
  const auto most = stage.whole("max", 64, 1, limits::kLocalSteps);
  if (!most) return most.error();
  if (*most < job.local_steps) {
    return {Errc::bad_config,
            "speed: max=" + std::to_string(*most) + " is less than train.local_steps = " + std::to_string(job.local_steps)};
  }
  return std::unique_ptr<LocalPolicy>(std::make_unique<BySpeed>(job.local_steps, static_cast<std::uint32_t>(*most)));
}

Made make_by_noise(const SpecStage& stage, const Job& job) {
  if (const Status known = stage.only({"max", "eta"}); !known) return known.error();
  const auto most = stage.whole("max", 512, 1, 1'000'000);
  if (!most) return most.error();
  const auto eta = stage.number("eta", 0.9, 0.01, 1);
  if (!eta) return eta.error();
  if (*most < job.batch) {
    return {Errc::bad_config, "adaptive_batch: max=" + std::to_string(*most) + " is less than train.batch = " + std::to_string(job.batch)};
  }
  return std::unique_ptr<LocalPolicy>(std::make_unique<ByNoise>(job, static_cast<std::uint64_t>(*most), *eta));
}

using Make = Made (*)(const SpecStage& stage, const Job& job);

const std::vector<Entry<Make>>& entries() {
  static const std::vector<Entry<Make>> table = {
      {{"fixed", "train.local_steps everywhere"}, &make_fixed},
      {{"speed", "fast workers take more steps, up to max=64, in the time that the slowest takes for train.local_steps"}, &make_by_speed},
      {{"adaptive_batch", "steps of more batches as gradients become noisy, up to max=512 samples; eta=0.9"}, &make_by_noise},
  };
  return table;
}

}  // namespace

const std::vector<NamedRow>& local_policies() {
  static const std::vector<NamedRow> rows = rows_of(entries());
  return rows;
}

Made make_local_policy(const Job& job) {
  const Result<SpecStage> stage = parse_single("local policy", job.local_policy);
  if (!stage) return stage.error();
  const auto entry = find_entry(entries(), "local policy", stage->name);
  if (!entry) return entry.error();
  return (*entry)->make(*stage, job);
}

Status check_local_policy(const Job& job) {
  const auto policy = make_local_policy(job);
  if (!policy.ok()) return policy.error();
  const auto stage = parse_single("local policy", job.local_policy);
  if (stage->name == "fixed") return {};
  const std::string name = "'" + job.local_policy + "' ";
  if (!adds(job)) {
    return {Errc::bad_config, name + "makes pushes of unequal numbers of batches, and train.server = \"" + job.server +
                                  "\" takes each for one gradient: set train.server = \"add\""};
  }
  if (job.tree_arity >= 2) {
    return {Errc::bad_config, name + "goes by each worker's own pushes, and tree nodes merge them: set cluster.tree_arity = 0"};
  }
  if (stage->name == "speed" && job.staleness == 0 && job.fc_workers > 0) {
    return {Errc::bad_config, name +
                                  "gives workers unequal numbers of batches, and a synchronous FC step waits for a batch of each: set "
                                  "train.staleness = 1 or more, or cluster.fc_workers = 0"};
  }
  if (stage->name == "adaptive_batch" && job.local_steps < 2) {
    return {Errc::bad_config, name + "compares the gradients of a unit's steps: set train.local_steps = 2 or more"};
  }
  return {};
}

}  // namespace hourglass::params
