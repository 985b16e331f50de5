// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "services/options/validate.h"

namespace hourglass {
namespace {

Resolved completed(const std::string& text) {
  Resolved resolved = resolve({parse_job_text(text, "run.toml")});
  complete(resolved);
  return resolved;
}

std::string joined(const std::vector<Problem>& problems) {
  std::string out;
  for (const auto& problem : problems) out += problem.text + "\n";
  return out;
}

TEST(Validate, TheDefaultJobIsGood) {
  const Resolved resolved = completed("");
  EXPECT_TRUE(resolved.problems.empty()) << joined(resolved.problems);
  EXPECT_TRUE(resolved.warnings.empty()) << resolved.warnings.front();
  EXPECT_EQ(resolved.settings.job.height, 28U);
  EXPECT_EQ(resolved.settings.job.threads, 1U);
}

TEST(Validate, TheShapeComesFromTheDataset) {
  const Resolved resolved = completed("[data]\nset = \"cifar10\"\n[model]\nname = \"cifar_cnn\"\n");
  EXPECT_TRUE(resolved.problems.empty()) << joined(resolved.problems);
  EXPECT_EQ(resolved.settings.job.channels, 3U);
  EXPECT_EQ(resolved.settings.job.width, 32U);
}

TEST(Validate, EverySpecIsCheckedByItsRegistryWithItsPlace) {
  const Resolved resolved = completed(
      "[train]\noptimizer = \"sdg\"\nschedule = \"cosin\"\n[bytes]\ncompress = \"topk ratio=7\"\ndownlink = \"tpk\"\n[model]\nname = "
      "\"lenet\"\n");
  const std::string text = joined(resolved.problems);
  EXPECT_EQ(resolved.problems.size(), 5U) << text;
  for (const char* part : {"run.toml:2:13: train.optimizer = \"sdg\": ", "run.toml:3:12: train.schedule = \"cosin\": ",
                           "run.toml:5:12: bytes.compress = \"topk ratio=7\": ", "run.toml:6:12: bytes.downlink = \"tpk\": ",
                           "run.toml:8:8: model.name = \"lenet\": "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_NE(text.find("lenet5"), std::string::npos) << text;
}

TEST(Validate, BoundarySpecsOfBothDirections) {
  EXPECT_TRUE(completed("[bytes]\nboundary = \"zeros | u6\"\nboundary_gradients = \"sampled ratio=0.2 | u8\"\n").problems.empty());
  const Resolved wrong = completed("[bytes]\nboundary = \"zeros | u5\"\n");
  ASSERT_EQ(wrong.problems.size(), 1U) << joined(wrong.problems);
  EXPECT_NE(wrong.problems[0].text.find("run.toml:2:12: bytes.boundary = \"zeros | u5\""), std::string::npos) << wrong.problems[0].text;
  EXPECT_EQ(completed("[bytes]\nboundary_gradients = \"tpk\"\n").problems.size(), 1U);
  EXPECT_EQ(completed("[bytes]\nboundary = \"topk | u8\"\n").warnings.size(), 1U);
  EXPECT_EQ(completed("[bytes]\nboundary_gradients = \"u4\"\n[cluster]\nfc_workers = 0\n").warnings.size(), 1U);
}

TEST(Validate, AServerRuleTakesGradients) {
  EXPECT_TRUE(completed("[train]\nserver = \"amsgrad beta1=0.8\"\noptimizer = \"sgd\"\n").problems.empty());
  EXPECT_TRUE(completed("[train]\noptimizer = \"adam\"\n").problems.empty());
  for (const char* text : {"[train]\nserver = \"amsgrad\"\n", "[train]\nserver = \"amsgrd\"\noptimizer = \"sgd\"\n",
                           "[train]\nserver = \"one_bit_adam\"\noptimizer = \"sgd\"\nlocal_steps = 4\n"}) {
    const Resolved wrong = completed(text);
    ASSERT_EQ(wrong.problems.size(), 1U) << text << joined(wrong.problems);
    EXPECT_NE(wrong.problems[0].text.find("train.server"), std::string::npos) << wrong.problems[0].text;
  }
}

TEST(Validate, UnknownDatasetsNameTheNearest) {
  const Resolved resolved = completed("[data]\nset = \"fashon_mnist\"\n");
  ASSERT_EQ(resolved.problems.size(), 1U) << joined(resolved.problems);
  EXPECT_NE(resolved.problems[0].text.find("fashion_mnist"), std::string::npos) << resolved.problems[0].text;
}

TEST(Validate, AModelWithoutACutNeedsNoFcWorkers) {
  const std::string model = "[model]\nname = \"conv 4 kernel=5 | relu | pool 2 | flatten | fc\"\n";
  const Resolved cut = completed(model);
  ASSERT_EQ(cut.problems.size(), 1U) << joined(cut.problems);
  EXPECT_NE(cut.problems[0].text.find("cut"), std::string::npos) << cut.problems[0].text;
  EXPECT_TRUE(completed(model + "[cluster]\nfc_workers = 0\n").problems.empty());
}

TEST(C24_Validate, CompressionThatIsKnownToCollapseIsAWarning) {
  const auto warnings = [](const std::string& lines) { return completed(lines).warnings; };
  EXPECT_EQ(warnings("[bytes]\ncompress = \"none | topk ratio=0.01\"\n").size(), 1U);
  EXPECT_EQ(warnings("[bytes]\ndownlink = \"none | topk ratio=0.01\"\n").size(), 1U);
  EXPECT_EQ(warnings("[bytes]\ncompress = \"none | dense | bf16\"\n").size(), 0U);
  const std::string dgc = "[bytes]\ncompress = \"dgc_momentum | topk ratio=0.01\"\n";
  EXPECT_EQ(warnings(dgc + "[train]\noptimizer = \"sgd\"\n").size(), 0U);
  ASSERT_EQ(warnings(dgc + "[train]\noptimizer = \"sgd momentum=0.9\"\n").size(), 1U);
  EXPECT_NE(warnings(dgc + "[train]\noptimizer = \"sgd momentum=0.9\"\n")[0].find("twice"), std::string::npos);
}

TEST(Validate, WhatIsHardlyMeantIsAWarning) {
  EXPECT_EQ(completed("[train]\nstaleness = 0\n").warnings.size(), 1U);
  EXPECT_EQ(completed("[train]\nstaleness = 0\noutstanding = 1\n").warnings.size(), 0U);
  EXPECT_EQ(completed("[train]\nsamples = 10\n").warnings.size(), 1U);
  EXPECT_EQ(completed("[train]\nbatch = 512\n").warnings.size(), 1U);
  EXPECT_EQ(completed("[bytes]\nboundary = \"u8\"\n[cluster]\nfc_workers = 0\n").warnings.size(), 1U);
  EXPECT_EQ(completed("[bytes]\ncompress = \"topk ratio=0.01\"\nflush_residual = false\n").warnings.size(), 1U);
}

TEST(Validate, ThreadsFollowTheProcessors) {
  const Resolved resolved = completed("[process]\nthreads = \"auto\"\n");
  EXPECT_GE(resolved.settings.job.threads, 1U);
}

TEST(Validate, AMissingDatasetIsMissingDataAndNamesTheFolder) {
  Resolved resolved = completed("[data]\ndir = \"/nonexistent\"\n");
  EXPECT_EQ(require_dataset(resolved), ExitCode::missing_data);
  ASSERT_EQ(resolved.problems.size(), 1U);
  EXPECT_EQ(resolved.problems[0].text.rfind("run.toml:2:7: data.dir = \"/nonexistent\": ", 0), 0U) << resolved.problems[0].text;
}

TEST(Validate, ABatchLargerThanTheDatasetIsAWarning) {
  Resolved resolved = completed("[data]\nset = \"synthetic\"\n[train]\nbatch = 4096\n[cluster]\nconv_workers = 1000\n");
  EXPECT_EQ(require_dataset(resolved), ExitCode::ok);
  ASSERT_FALSE(resolved.warnings.empty());
  EXPECT_NE(resolved.warnings.back().find("more than the dataset's"), std::string::npos);
}

/// Every family of policies is checked by its own rules, at its own key, with what to set instead.
TEST(Validate, PoliciesThatDoNotGoTogether) {
  const auto first = [](const std::string& text) { return joined(completed(text).problems); };
  EXPECT_EQ(first("[train]\nbound_policy = \"dynamic range=2\"\nlocal_policy = \"speed\"\nstale_policy = \"inverse\"\napply_policy = "
                  "\"buffer\"\n"),
            "");
  EXPECT_NE(first("[train]\nstaleness = \"unlimited\"\nbound_policy = \"dynamic\"\n").find("train.bound_policy = \"dynamic\": "),
            std::string::npos);
  EXPECT_NE(first("[train]\nlocal_policy = \"speed\"\n[cluster]\ntree_arity = 2\n").find("cluster.tree_arity = 0"), std::string::npos);
  EXPECT_NE(first("[train]\nstale_policy = \"dc_asgd\"\n").find("train.stale_policy = \"dc_asgd\": "), std::string::npos);
  EXPECT_NE(first("[train]\napply_policy = \"buffer\"\n[bytes]\npublish_every = 3\n").find("bytes.publish_every"), std::string::npos);
  EXPECT_NE(first("[train]\ntake_policy = \"mix\"\n").find("train.staleness = 0"), std::string::npos);
}

TEST(Validate, CompressorsThatWantRounds) {
  const char* cyclic = "[bytes]\ncompress = \"clt_k ratio=0.01\"\n[cluster]\nfc_workers = 0\n[train]\nstaleness = ";
  EXPECT_TRUE(completed(std::string(cyclic) + "0\n").problems.empty());
  EXPECT_TRUE(completed(std::string(cyclic) + "2\n").problems.empty());
  EXPECT_FALSE(completed(std::string(cyclic) + "2\n").warnings.empty());
  EXPECT_NE(joined(completed(std::string(cyclic) + "\"unlimited\"\n").problems).find("set train.staleness"), std::string::npos);
}

TEST(Validate, StaleAndSparseIsTooMuch) {
  const auto warned = [](const std::string& text) {
    for (const auto& warning : completed(text).warnings) {
      if (warning.find("train.local_steps") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(warned("[bytes]\ncompress = \"topk ratio=0.001\"\n"));
  EXPECT_FALSE(warned("[bytes]\ncompress = \"topk ratio=0.01\"\n"));
  EXPECT_FALSE(warned("[bytes]\ncompress = \"topk ratio=0.001\"\n[train]\nlocal_steps = 8\n"));
  EXPECT_FALSE(warned("[bytes]\ncompress = \"topk ratio=0.001\"\n[train]\nstaleness = 0\n"));
}

TEST(Validate, A10_AMissingOptimizerIsTheDefaultAndAnEmptyOneIsRefused) {
  const Resolved missing = completed("[train]\nstaleness = \"unlimited\"\n");
  EXPECT_TRUE(missing.problems.empty()) << joined(missing.problems);
  EXPECT_EQ(missing.settings.job.optimizer, Job{}.optimizer);
  const std::string refused = joined(completed("[train]\nstaleness = \"unlimited\"\noptimizer = \"\"\n").problems);
  EXPECT_NE(refused.find("train.optimizer"), std::string::npos) << refused;
}

TEST(Validate, SlowWorkersExist) {
  Resolved resolved = resolve({parse_job_text("[simulate]\nslow = \"conv-2:10\"\n", "run.toml")});
  complete(resolved);
  EXPECT_NE(joined(resolved.problems).find("counted from 0, and there are 2"), std::string::npos) << joined(resolved.problems);
}

}  // namespace
}  // namespace hourglass
