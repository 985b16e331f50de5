// SPDX-License-Identifier: Apache-2.0
// Fault scripts, and that what they say really happens.
#include "services/simulation/adversary.h"

#include <gtest/gtest.h>

#include <set>

#include "services/simulation/trace.h"
#include "services/simulation/trial.h"
#include "tests/simulation/cluster.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

std::string error_of(const std::string& script) {
  const auto parsed = parse_faults(script, "f.toml");
  return parsed.ok() ? "" : parsed.error().text;
}

TEST(FaultScript, WhatIsPrintedReadsBackAlike) {
  Random random(3);
  Job job;
  job.fc_workers = 2;
  const auto faults = random_faults(job, 300, 20s, false, random);
  std::set<FaultKind> kinds;
  std::set<Role> roles;
  for (const Fault& fault : faults) kinds.insert(fault.kind), roles.insert(fault.who.role);
  EXPECT_EQ(kinds.size(), kFaultKinds);
  EXPECT_TRUE(roles.contains(Role::aggregator));
  const std::string text = print_faults(faults);
  const auto again = parse_faults(text, "f.toml");
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(print_faults(*again), text);
}

TEST(FaultScript, TheAggregatorIsSparedWhereAsked) {
  Random random(3);
  for (const Fault& fault : random_faults(Job{}, 500, 20s, true, random)) {
    if (fault.kind == FaultKind::crash || fault.kind == FaultKind::stop) {
      EXPECT_NE(fault.who.role, Role::aggregator);
    }
  }
}

TEST(FaultScript, ErrorsNameThePlaceAndWhatIsAllowed) {
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of("[[fault]]\nkind = \"crash\"\nat = 1\nwho = \"conv-worker 0\"\n"), "");
  EXPECT_EQ(error_of("x = 1\n"), "f.toml:1:5: a fault script holds [[fault]] tables and nothing else");
  EXPECT_NE(error_of("[[fault]\n").find("f.toml:1:"), std::string::npos);
  EXPECT_NE(error_of("[[fault]]\nat = 1\n").find("kind = one of crash, stop"), std::string::npos);
  EXPECT_NE(error_of("[[fault]]\nkind = \"melt\"\n").find("f.toml:2:8: kind = \"melt\" is none of"), std::string::npos);
  EXPECT_NE(error_of("[[fault]]\nkind = \"crash\"\nat = -1\nwho = \"aggregator\"\n").find("f.toml:3:6: at must be a number from 0"),
            std::string::npos);
  EXPECT_NE(error_of("[[fault]]\nkind = \"crash\"\nat = 1\nwho = \"worker\"\n").find("names no process"), std::string::npos);
  EXPECT_NE(error_of("[[fault]]\nkind = \"crash\"\nat = 1\nwho = \"aggregator\"\nrestart_aftr = 1\n").find("did you mean restart_after?"),
            std::string::npos);
  EXPECT_NE(error_of("[[fault]]\nkind = \"freeze\"\nat = 1\nwho = \"aggregator\"\n").find("needs for = a number"), std::string::npos);
}

TrialOptions quiet_trial() {
  TrialOptions out;
  out.cluster.job = testing_cluster::small_job();
  out.cluster.job.samples = 4000;
  out.cluster.job.dead_after_seconds = 4;
  out.cluster.compute.conv = 100ms;
  out.cluster.compute.fc = 20ms;
  return out;
}

TEST(Adversary, AScriptHappensAsWrittenAndTheRunsBooksBalance) {
  TrialOptions options = quiet_trial();
  const auto faults = parse_faults(R"(
[[fault]]
kind = "crash"
at = 2
who = "conv-worker 1"
restart_after = 1
keeps_disk = false
[[fault]]
kind = "stop"
at = 3
who = "conv-worker 0"
restart_after = 0.5
[[fault]]
kind = "freeze"
at = 4
who = "fc-worker 0"
for = 6
[[fault]]
kind = "cut"
at = 5
who = "data-loader"
to = "conv-worker"
one_way = true
for = 2
[[fault]]
kind = "clog"
at = 6
who = "aggregator"
for = 1
[[fault]]
kind = "lossy"
at = 7
who = "conv-worker"
for = 4
factor = 0.5
[[fault]]
kind = "slow"
at = 1
who = "conv-worker"
factor = 3
for = 2
[[fault]]
kind = "full_disk"
at = 1
who = "aggregator"
for = 3
[[fault]]
kind = "hang"
at = 8
who = "conv-worker"
for = 1
[[fault]]
kind = "join"
at = 9
who = "conv-worker"
)",
                                   "f.toml");
  ASSERT_TRUE(faults.ok()) << faults.error().text;
  options.faults = *faults;
  Trial trial(options);
  const TrialResult result = trial.run();
  EXPECT_EQ(result.violations, std::vector<std::string>());
  EXPECT_TRUE(result.finished);
  for (std::uint8_t kind = 0; kind < kFaultKinds; ++kind) {
    EXPECT_EQ(trial.adversary().happened(static_cast<FaultKind>(kind)), 1U) << name_of(static_cast<FaultKind>(kind));
  }
  EXPECT_EQ(trial.adversary().ended(Role::conv_worker), 2U);
  EXPECT_EQ(trial.adversary().healed_at(), 11s);
  EXPECT_NE(trial.cluster().at(Role::conv_worker, 1), trial.cluster().ids(Role::conv_worker).at(1)) << "another process took its place";
  EXPECT_GT(trial.cluster().reactor().metrics_of(trial.cluster().at(Role::conv_worker, 1)).value("pushes"), 0) << "and works";
}

TEST(Trace, TheSameSeedHasTheSameTraceAndAnotherSeedDoesNot) {
  const std::string folder = testing::TempDir();
  std::uint64_t hashes[3] = {};
  const auto run = [&](std::uint64_t seed, const std::string& path, const std::string& earlier, std::uint64_t& hash) {
    Trial trial(random_trial(seed));
    Trace trace;
    EXPECT_TRUE(trace.open(path, earlier).ok());
    trace.follow(trial);
    hash = trial.run().trace_hash;
    return trace.close();
  };
  EXPECT_TRUE(run(5, folder + "/first", "", hashes[0]).ok());
  EXPECT_TRUE(run(5, "", folder + "/first", hashes[1]).ok());
  EXPECT_EQ(hashes[0], hashes[1]);
  const Status differs = run(6, "", folder + "/first", hashes[2]);
  ASSERT_FALSE(differs.ok());
  EXPECT_NE(differs.error().text.find("line "), std::string::npos) << differs.error().text;
  EXPECT_NE(hashes[0], hashes[2]);
}

}  // namespace
}  // namespace hourglass
