// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "learning/params/optimizer.h"
#include "learning/params/registry.h"

namespace hourglass::params {
namespace {

constexpr double kWarmupMax = 0.9;
constexpr std::size_t kDropsMax = 16;

/// The ramp that all schedules share. Shapes begin after it.
class Warmed : public Schedule {
 public:
  explicit Warmed(double warmup) : warmup_(warmup) {}
  [[nodiscard]] double factor(double progress) const final {
    HG_CHECK(!std::isnan(progress), "progress must be a number");
    const double run = std::clamp(progress, 0.0, 1.0);
    return run < warmup_ ? run / warmup_ : shape(run);
  }

 protected:
  [[nodiscard]] virtual double shape(double run) const = 0;
  double warmup_;
};

class Constant final : public Warmed {
 public:
  using Warmed::Warmed;

 private:
  [[nodiscard]] double shape(double /*run*/) const override { return 1.0; }
};

/// From 1 at the end of the warmup to `floor` at the end of the run (Loshchilov, Hutter 2016, without restarts).
class Cosine final : public Warmed {
 public:
  Cosine(double warmup, double floor) : Warmed(warmup), floor_(floor) {}

 private:
  [[nodiscard]] double shape(double run) const override {
    const double share = (run - warmup_) / (1.0 - warmup_);
    return floor_ + (1.0 - floor_) * 0.5 * (1.0 + std::cos(std::numbers::pi * share));
  }
  double floor_;
};

/// Times `by` at each point of the run.
class Step final : public Warmed {
 public:
  Step(double warmup, std::vector<double> at, double by) : Warmed(warmup), at_(std::move(at)), by_(by) {}

 private:
  [[nodiscard]] double shape(double run) const override {
    return std::pow(by_, static_cast<double>(std::upper_bound(at_.begin(), at_.end(), run) - at_.begin()));
  }
  std::vector<double> at_;  ///< ascending
  double by_;
};

using MadeSchedule = Result<std::unique_ptr<Schedule>>;

Result<double> warmup_of(const SpecStage& stage) { return stage.number("warmup", 0.0, 0.0, kWarmupMax); }

MadeSchedule make_constant(const SpecStage& stage) {
  if (const Status known = stage.only({"warmup"}); !known) return known.error();
  const Result<double> warmup = warmup_of(stage);
  if (!warmup) return warmup.error();
  return std::unique_ptr<Schedule>(std::make_unique<Constant>(*warmup));
}

MadeSchedule make_cosine(const SpecStage& stage) {
  if (const Status known = stage.only({"floor", "warmup"}); !known) return known.error();
  const Result<double> warmup = warmup_of(stage);
  if (!warmup) return warmup.error();
  const Result<double> floor = stage.number("floor", 0.0, 0.0, 1.0);
  if (!floor) return floor.error();
  return std::unique_ptr<Schedule>(std::make_unique<Cosine>(*warmup, *floor));
}

/// "0.5,0.75": ascending shares of the run.
Result<std::vector<double>> points(const SpecStage& stage) {
  std::string_view list = "0.5";
  for (const auto& [key, value] : stage.options) {
    if (key == "at") list = value;
  }
  std::vector<double> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const SpecStage one{stage.name, {}, {{"at", std::string(list.substr(begin, comma - begin))}}};
    begin = comma + 1;
    const Result<double> point = one.number("at", 0.0, 0.0, 1.0);
    if (!point) return point.error();
    if (!out.empty() && *point <= out.back()) return {Errc::bad_config, stage.name + ": at=" + std::string(list) + " must ascend"};
    out.push_back(*point);
    if (out.size() > kDropsMax) return {Errc::bad_config, stage.name + ": at may have at most " + std::to_string(kDropsMax) + " points"};
  }
  return out;
}

MadeSchedule make_step(const SpecStage& stage) {
  if (const Status known = stage.only({"at", "by", "warmup"}); !known) return known.error();
  const Result<double> warmup = warmup_of(stage);
  if (!warmup) return warmup.error();
  const Result<double> by = stage.number("by", 0.1, 0.0, 1.0);
  if (!by) return by.error();
  Result<std::vector<double>> at = points(stage);
  if (!at) return at.error();
  if (at->front() < *warmup) return {Errc::bad_config, stage.name + ": its first point must not lie within the warmup"};
  return std::unique_ptr<Schedule>(std::make_unique<Step>(*warmup, std::move(*at), *by));
}

using MakeSchedule = MadeSchedule (*)(const SpecStage& stage);

const std::vector<Entry<MakeSchedule>>& entries() {
  static const std::vector<Entry<MakeSchedule>> table = {
      {{"constant", "the base rate; warmup=0.05"}, &make_constant},
      {{"cosine", "half a cosine down to floor=0.01; warmup=0.05"}, &make_cosine},
      {{"step", "times by=0.1 at each of at=0.5,0.75; warmup=0.05"}, &make_step},
  };
  return table;
}

}  // namespace

const std::vector<NamedRow>& schedules() {
  static const std::vector<NamedRow> rows = rows_of(entries());
  return rows;
}

Result<std::unique_ptr<Schedule>> make_schedule(std::string_view spec) {
  const Result<SpecStage> stage = parse_single("schedule", spec);
  if (!stage) return stage.error();
  const auto entry = find_entry(entries(), "schedule", stage->name);
  if (!entry) return entry.error();
  return (*entry)->make(*stage);
}

}  // namespace hourglass::params
