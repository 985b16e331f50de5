// SPDX-License-Identifier: Apache-2.0
// Planted bugs: each is caught within 200 seeds, or the checkers are worth nothing. Prints how many seeds each needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/inner_checks.h"

namespace hourglass {
namespace {

constexpr std::uint64_t kSeedsMax = 200;

struct Planted {
  Mutant mutant;
  const char* name;
};

constexpr Planted kPlanted[] = {
    {Mutant::no_deduplication, "NoDeduplication"},
    {Mutant::gaps_accepted, "GapsAccepted"},
    {Mutant::staleness_ignored, "StalenessIgnored"},
    {Mutant::stale_generation, "StaleGeneration"},
    {Mutant::no_journal, "NoJournal"},
    {Mutant::marks_forgotten, "MarksForgotten"},
    {Mutant::incarnation_reused, "IncarnationReused"},
    {Mutant::residual_not_restored, "ResidualNotRestored"},
    {Mutant::lease_never_returned, "LeaseNeverReturned"},
    {Mutant::late_values_taken, "LateValuesTaken"},
    {Mutant::stray_verdict_settles, "StrayVerdictSettles"},
    {Mutant::wrong_base_applied, "WrongBaseApplied"},
    {Mutant::old_roster_taken, "OldRosterTaken"},
    {Mutant::flush_before_drain, "FlushBeforeDrain"},
    {Mutant::applied_in_name_only, "AppliedInNameOnly"},
    {Mutant::window_ignored, "WindowIgnored"},
    {Mutant::dead_hold_back, "DeadHoldBack"},
    {Mutant::joiner_at_zero, "JoinerAtZero"},
    {Mutant::lease_done_twice, "LeaseDoneTwice"},
    {Mutant::done_before_settled, "DoneBeforeSettled"},
    {Mutant::lease_numbers_reused, "LeaseNumbersReused"},
    {Mutant::verdict_forgotten, "VerdictForgotten"},
};

std::map<std::string, std::uint64_t>& seeds_needed() {
  static std::map<std::string, std::uint64_t> needed;
  return needed;
}

/// The seeds that each caught bug needed; told when the last test of this process is over.
class Summary final : public testing::Environment {
 public:
  void TearDown() override {
    std::vector<std::uint64_t> needed;
    for (const auto& [name, seeds] : seeds_needed()) needed.push_back(seeds);
    if (needed.empty()) return;
    std::sort(needed.begin(), needed.end());
    std::printf("%zu planted bugs caught; seeds needed: median %llu, most %llu\n", needed.size(),
                static_cast<unsigned long long>(needed[needed.size() / 2]), static_cast<unsigned long long>(needed.back()));
  }
};
const auto* const kSummary = testing::AddGlobalTestEnvironment(new Summary);

class Mutants : public testing::TestWithParam<Planted> {
 protected:
  void SetUp() override { planted = GetParam().mutant; }
  void TearDown() override { planted = Mutant::none; }
};

TEST_P(Mutants, IsCaught) {
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    Trial trial(random_trial(seed));
    const InnerChecks inner(trial);
    const TrialResult result = trial.run();
    if (result.violations.empty()) continue;
    std::printf("%-22s seed %3llu: %s\n", GetParam().name, static_cast<unsigned long long>(seed),
                result.violations.front().substr(0, 160).c_str());
    RecordProperty("seeds", static_cast<int>(seed));
    seeds_needed()[GetParam().name] = seed;
    return;
  }
  ADD_FAILURE() << "no checker notices " << GetParam().name << " in " << kSeedsMax << " seeds";
}

INSTANTIATE_TEST_SUITE_P(Planted, Mutants, testing::ValuesIn(kPlanted), [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace hourglass
