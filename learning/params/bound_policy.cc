// SPDX-License-Identifier: Apache-2.0
#include "learning/params/bound_policy.h"

#include <algorithm>

#include "learning/params/registry.h"

namespace hourglass::params {
namespace {

using Made = Result<std::unique_ptr<BoundPolicy>>;
constexpr std::int64_t kRangeMax = 1000;

class Dynamic final : public BoundPolicy {
 public:
  explicit Dynamic(std::uint64_t range) : range_(range) {}
  [[nodiscard]] std::uint64_t range() const override { return range_; }

  void pushed(ActorId id, Instant now) override {
    Pushes& pushes = pushes_[id];
    if (pushes.last) pushes.interval = now - *pushes.last;
    pushes.last = now;
  }
  void left(ActorId id) override { pushes_.erase(id); }

  [[nodiscard]] std::uint64_t grant(ActorId fastest, ActorId slowest) const override {
    const auto fast = pushes_.find(fastest);
    const auto slow = pushes_.find(slowest);
    if (fast == pushes_.end() || slow == pushes_.end() || !fast->second.interval || !slow->second.interval) return 0;
    return best_extra(*fast->second.last, *fast->second.interval, *slow->second.last, *slow->second.interval, range_);
  }

 private:
  struct Pushes {
    std::optional<Instant> last;
    std::optional<Duration> interval;
  };
  std::uint64_t range_;
  std::map<ActorId, Pushes> pushes_;
};

Made make_fixed(const SpecStage& stage) {
  if (const Status known = stage.only({}); !known) return known.error();
  return std::make_unique<BoundPolicy>();
}

Made make_dynamic(const SpecStage& stage) {
  if (const Status known = stage.only({"range"}); !known) return known.error();
  const Result<std::int64_t> range = stage.whole("range", 4, 0, kRangeMax);
  if (!range) return range.error();
  return std::unique_ptr<BoundPolicy>(std::make_unique<Dynamic>(static_cast<std::uint64_t>(*range)));
}

using Make = Made (*)(const SpecStage& stage);

const std::vector<Entry<Make>>& entries() {
  static const std::vector<Entry<Make>> table = {
      {{"fixed", "train.staleness, nothing beyond"}, &make_fixed},
      {{"dynamic", "up to range=4 beyond it, where that saves waiting (DSSP)"}, &make_dynamic},
  };
  return table;
}

}  // namespace

std::uint64_t best_extra(Instant fast_last, Duration fast_interval, Instant slow_last, Duration slow_interval, std::uint64_t range) {
  std::uint64_t best = 0;
  std::optional<Duration> least;
  for (std::uint64_t r = 0; r <= range; ++r) {
    const Instant fast = fast_last + static_cast<std::int64_t>(r) * fast_interval;
    for (std::uint64_t j = 0; j <= range; ++j) {
      const Duration wait = std::chrono::abs(slow_last + static_cast<std::int64_t>(j + 1) * slow_interval - fast);
      if (least && wait >= *least) continue;
      least = wait;
      best = r;
    }
  }
  return best;
}

const std::vector<NamedRow>& bound_policies() {
  static const std::vector<NamedRow> rows = rows_of(entries());
  return rows;
}

Made make_bound_policy(std::string_view spec) {
  const Result<SpecStage> stage = parse_single("bound policy", spec);
  if (!stage) return stage.error();
  const auto entry = find_entry(entries(), "bound policy", stage->name);
  if (!entry) return entry.error();
  return (*entry)->make(*stage);
}

Status check_bound_policy(const Job& job) {
  const auto policy = make_bound_policy(job.bound_policy);
  if (!policy.ok()) return policy.error();
  if ((*policy)->range() == 0) return {};
  const std::string name = "'" + job.bound_policy + "' ";
  if (job.staleness == kUnlimited) {
    return {Errc::bad_config,
            name + "goes beyond a bound, and there is none: set train.staleness to a number, or train.bound_policy = \"fixed\""};
  }
  if (job.staleness == 0 && job.fc_workers > 0) {
    return {Errc::bad_config, name +
                                  "lets workers run ahead, and a synchronous FC step waits for a batch of each: set train.staleness = 1 or "
                                  "more, or cluster.fc_workers = 0"};
  }
  if (job.tree_arity >= 2) {
    return {Errc::bad_config,
            name + "is granted by the aggregator, which does not see workers below tree nodes: set cluster.tree_arity = 0"};
  }
  return {};
}

}  // namespace hourglass::params
