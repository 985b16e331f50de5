// SPDX-License-Identifier: Apache-2.0
// Random clusters under random faults, with every checker looking: two thousand seeds, in shards. A failing seed prints how to run it
// alone.
#include <gtest/gtest.h>

#include <cstdlib>

#include "services/simulation/trace.h"
#include "tests/simulation/inner_checks.h"

namespace hourglass {
namespace {

constexpr std::uint64_t kShards = 20;
constexpr std::uint64_t kSeedsEach = 100;
constexpr std::uint64_t kBriskSeeds = 60;
constexpr int kFailuresShown = 3;

void log_to_stderr(Trial& trial) {
  sim::SimReactor& reactor = trial.cluster().reactor();
  const auto when = [&reactor] { return seconds(reactor.now().time_since_epoch()); };
  reactor.set_log([when](ActorId id, Severity, std::string_view event, const Fields& fields) {
    std::fprintf(stderr, "%10.4f %s %.*s", when(), to_string(id).c_str(), static_cast<int>(event.size()), event.data());
    for (const auto& [key, value] : fields) std::fprintf(stderr, " %s=%s", key.c_str(), value.c_str());
    std::fprintf(stderr, "\n");
  });
  trial.adversary().set_log([when](const std::string& what) { std::fprintf(stderr, "%10.4f ---- %s\n", when(), what.c_str()); });
}

std::string replay(std::uint64_t seed, const TrialOptions& options) {
  return "seed " + std::to_string(seed) + "; alone: hourglass simulate --random-cluster true --seed " + std::to_string(seed) +
         ", or HOURGLASS_TEST_SEED=" + std::to_string(seed) + " HOURGLASS_TEST_LOG=1 trials --gtest_filter='*Shard/0'\n  " +
         describe(options.cluster) + "\n";
}

/// Empty where all is well.
std::string run(std::uint64_t seed, const TrialOptions& options, std::uint64_t* events = nullptr) {
  Trial trial(options);
  if (std::getenv("HOURGLASS_TEST_LOG") != nullptr) log_to_stderr(trial);
  Trace trace;
  if (const char* path = std::getenv("HOURGLASS_TEST_TRACE")) {
    EXPECT_TRUE(trace.open(path, "").ok());
    trace.follow(trial);
  }
  const InnerChecks inner(trial);
  const TrialResult result = trial.run();
  if (events != nullptr) *events += result.events;
  std::string out;
  for (const std::string& line : result.violations) out += "  " + line + "\n";
  return out.empty() ? "" : replay(seed, options) + out;
}

class Trials : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Trials, Shard) {
  std::uint64_t first = 1 + GetParam() * kSeedsEach, last = first + kSeedsEach, events = 0;
  if (const char* only = std::getenv("HOURGLASS_TEST_SEED")) first = std::strtoull(only, nullptr, 10), last = first + 1;
  if (const char* count = std::getenv("HOURGLASS_TEST_SEEDS")) last = first + std::strtoull(count, nullptr, 10);
  int failures = 0;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string wrong = run(seed, random_trial(seed), &events);
    if (wrong.empty()) continue;
    ADD_FAILURE() << wrong;
    if (++failures == kFailuresShown && std::getenv("HOURGLASS_TEST_SEEDS") == nullptr) return;
  }
  RecordProperty("events", static_cast<int>(events));
}

TEST(Trees, SeedsThatOnceFailed) {
  for (const std::uint64_t seed : {705, 2739, 2982, 3575})
    EXPECT_EQ(run(seed, random_trial(seed)), "");  // trees whose nodes are lost and come back
}

/// The same clusters with quick workers, a good network and twenty times the data: hundreds of batches pass while one message is waited
/// for.
TEST(Brisk, RunsThatAreLongerThanAnyWait) {
  std::uint64_t first = 1, last = kBriskSeeds;
  if (const char* only = std::getenv("HOURGLASS_TEST_SEED")) first = last = std::strtoull(only, nullptr, 10);
  if (const char* count = std::getenv("HOURGLASS_TEST_SEEDS")) last = first + std::strtoull(count, nullptr, 10) - 1;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    TrialOptions options = random_trial(seed);
    options.cluster.job.samples *= 20;
    options.cluster.compute.conv /= 30;
    options.cluster.compute.fc /= 10;
    sim::SimOptions& network = options.cluster.network;
    network.link.loss /= 30;
    network.link.latency = network.link.jitter = std::chrono::milliseconds(1);
    network.link.tail /= 30;
    network.nic_bytes_per_second *= 10;
    network.reorder = network.link.reorder = false;  // a push that was overtaken waits three seconds for its repeat
    options.loss_falls = false;                      // so many steps may overshoot
    EXPECT_EQ(run(seed, options), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Trials, testing::Range<std::uint64_t>(0, kShards));

}  // namespace
}  // namespace hourglass
