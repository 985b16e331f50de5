// SPDX-License-Identifier: Apache-2.0
// The aggregator is killed: while it saves, while workers push, while they are asked to leave.
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include "base/random.h"
#include "tests/integration/balance.h"
#include "tests/integration/roles.h"

namespace hourglass::integration {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Names in a folder that begin and end so.
std::size_t files(const std::string& folder, const std::string& begin, const std::string& end) {
  std::size_t count = 0;
  std::error_code gone;
  for (auto entry = fs::directory_iterator(folder, gone); !gone && entry != fs::directory_iterator(); entry.increment(gone)) {
    const std::string name = entry->path().filename().string();
    count += name.starts_with(begin) && name.ends_with(end) ? 1 : 0;
  }
  return count;
}

TEST(Generations, R4_PushesMadeForADeadAggregatorAreVoidForItsNextLife) {
  Roles roles("old_pushes", {"--model", "lenet5", "--conv-workers", "2", "--staleness", "unlimited", "--samples", "20000",
                             "--checkpoint-every", "1", "--dead-after", "5"});
  roles.start_aggregator();
  const auto loader = roles.join("data-loader"), one = roles.join("conv-worker"), two = roles.join("conv-worker");
  ASSERT_TRUE(eventually([&] { return roles.samples() > 2000 && files(roles.run(), "checkpoint-", ".hgck") > 0; }))
      << roles.aggregator().errors();
  roles.aggregator().signal(SIGKILL);
  EXPECT_EQ(roles.aggregator().wait(10), 128 + SIGKILL);
  std::this_thread::sleep_for(std::chrono::seconds(2));  // the outage: they push on
  roles.start_aggregator();
  ASSERT_EQ(roles.aggregator().wait(300), 0) << roles.aggregator().errors();
  for (const auto& member : {&loader, &one, &two}) EXPECT_EQ((*member)->wait(60), 0) << (*member)->errors();
  const json result = roles.result();
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["generation"], 2);
  EXPECT_EQ(result["samples"], 20000);
  EXPECT_GT(result["dropped_input"].value("refused.pushes_of_strangers", 0), 0) << "old pushes came: " << result["dropped_input"].dump();
  EXPECT_GT(result["ledger"]["rolled_back"], 0) << "it was killed between two checkpoints";
  EXPECT_EQ(result["replicas"]["compared"], 2);
  EXPECT_EQ(result["replicas"]["differing"], 0) << "an old push got into somebody's parameters";
  expect_balance(result);
}

TEST(Generations, R12_AWorkerWhoseAggregatorIsGoneEndsSoonAndSaysWhatIsUnsent) {
  Roles roles("unsent", {"--model", "lenet5", "--conv-workers", "2", "--staleness", "unlimited", "--samples", "100000000"});
  roles.start_aggregator();
  const auto loader = roles.join("data-loader"), one = roles.join("conv-worker"), two = roles.join("conv-worker");
  ASSERT_TRUE(eventually([&] { return roles.samples() > 2000; })) << roles.aggregator().errors();
  roles.aggregator().signal(SIGKILL);
  EXPECT_EQ(roles.aggregator().wait(10), 128 + SIGKILL);
  for (const auto& member : {&loader, &one, &two}) (*member)->signal(SIGTERM);
  EXPECT_EQ(loader->wait(30), 0) << loader->errors();
  for (const auto& worker : {&one, &two}) {
    EXPECT_EQ((*worker)->wait(30), 75) << (*worker)->errors();
    EXPECT_NE((*worker)->errors().find("a push stayed unanswered"), std::string::npos) << (*worker)->errors();
    EXPECT_EQ((*worker)->errors().find("the time limit is over"), std::string::npos) << "it left by itself";
  }
}

TEST(Generations, K2_KilledThirtyTimesWhileItSavesThereIsAlwaysAGoodCheckpoint) {
  Roles roles("killed_saving", {"--model", "lenet5", "--conv-workers", "1", "--staleness", "unlimited", "--samples", "100000000",
                                "--checkpoint-every", "0.1", "--evaluate-every", "64", "--dead-after", "5"});
  roles.start_aggregator();
  const auto loader = roles.join("data-loader"), worker = roles.join("conv-worker");
  ASSERT_TRUE(eventually([&] { return files(roles.run(), "checkpoint-", ".hgck") > 0; })) << roles.aggregator().errors();
  Random random(3);
  std::size_t strays = 0;
  for (int death = 1; death <= 30; ++death) {
    const auto saving = [&] { return files(roles.run(), ".checkpoint-", ".tmp") > 0; };
    if (death % 3 != 0) {  // in the middle of a save; else at any time of its life
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!saving()) {
        ASSERT_LT(std::chrono::steady_clock::now(), limit) << "death " << death << roles.aggregator().errors();
        std::this_thread::yield();
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(death % 3 != 0 ? 2000 : 300'000)));
    roles.aggregator().signal(SIGKILL);
    ASSERT_EQ(roles.aggregator().wait(10), 128 + SIGKILL) << roles.aggregator().errors();
    const std::size_t left = files(roles.run(), ".", ".tmp");
    strays += left;
    Program verify(HOURGLASS_PROGRAM, {"checkpoint", "verify", roles.run()}, fresh_folder("killed_saving_verify"));
    ASSERT_EQ(verify.wait(30), 0) << "death " << death << ": " << verify.output() << verify.errors();
    ASSERT_GT(times(verify.output(), "good"), 0U) << verify.output();
    roles.start_aggregator();
  }
  EXPECT_GT(strays, 0U) << "no death was in the middle of a write";
  std::cout << strays << " half files were left by 30 deaths\n";
  ASSERT_TRUE(roles.goes_on(500)) << roles.aggregator().errors();
  EXPECT_EQ(roles.status()["generation"], 31);
  roles.aggregator().signal(SIGTERM);
  ASSERT_EQ(roles.aggregator().wait(60), 0) << roles.aggregator().errors();
  EXPECT_EQ(files(roles.run(), ".", ".tmp"), 0U) << "strays go at the next start";
  expect_balance(roles.result());
}

}  // namespace
}  // namespace hourglass::integration
