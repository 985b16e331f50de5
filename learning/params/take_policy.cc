// SPDX-License-Identifier: Apache-2.0
#include "learning/params/take_policy.h"

#include "learning/compress/error_feedback.h"
#include "learning/params/registry.h"
#include "learning/params/server_rule.h"

namespace hourglass::params {
namespace {

using Alpha = Result<std::optional<double>>;

Alpha parse_keep(const SpecStage& stage) {
  if (const Status known = stage.only({}); !known) return known.error();
  return std::optional<double>();
}

Alpha parse_mix(const SpecStage& stage) {
  if (const Status known = stage.only({"alpha"}); !known) return known.error();
  const auto alpha = stage.number("alpha", 0.5, 0, 1);
  if (!alpha) return alpha.error();
  return std::optional<double>(*alpha);
}

using Parse = Alpha (*)(const SpecStage& stage);

const std::vector<Entry<Parse>>& entries() {
  static const std::vector<Entry<Parse>> table = {
      {{"keep", "published parameters and all own work that they do not contain"}, &parse_keep},
      {{"mix", "alpha=0.5 of the own parameters, the rest published ones; for synchronous local steps"}, &parse_mix},
  };
  return table;
}

}  // namespace

const std::vector<NamedRow>& take_policies() {
  static const std::vector<NamedRow> rows = rows_of(entries());
  return rows;
}

Alpha parse_take_policy(std::string_view spec) {
  const Result<SpecStage> stage = parse_single("take policy", spec);
  if (!stage) return stage.error();
  const auto entry = find_entry(entries(), "take policy", stage->name);
  if (!entry) return entry.error();
  return (*entry)->make(*stage);
}

Status check_take_policy(const Job& job) {
  const auto alpha = parse_take_policy(job.take_policy);
  if (!alpha.ok()) return alpha.error();
  if (!*alpha) return {};
  const std::string name = "'" + job.take_policy + "' ";
  if (job.staleness != 0) return {Errc::bad_config, name + "would send what is under way twice: set train.staleness = 0"};
  if (!adds(job)) {
    return {Errc::bad_config, name + "mixes workers' own parameters, and with train.server = \"" + job.server +
                                  "\" they have none: set train.server = \"add\""};
  }
  const auto lossless = compress::is_lossless(job.compress);
  if (lossless.ok() && !*lossless) {
    return {Errc::bad_config, name + "would send what error feedback holds back twice: set bytes.compress = \"dense\""};
  }
  return {};
}

}  // namespace hourglass::params
