// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace hourglass {
namespace {

TEST(Metrics, CountsAddUpAndGaugesReplace) {
  Metrics metrics;
  metrics.count("push_bytes", 10);
  metrics.count("push_bytes", 5.5);
  metrics.gauge("loss", 2);
  metrics.gauge("loss", 1.25);
  EXPECT_EQ(metrics.value("push_bytes"), 15.5);
  EXPECT_EQ(metrics.value("loss"), 1.25);
  EXPECT_EQ(metrics.value("never"), 0.0);
  EXPECT_EQ(metrics.values().size(), 2U);
}

TEST(Metrics, NamesHaveALimitAndTheLossIsCounted) {
  Metrics metrics;
  for (std::size_t i = 0; i < 2000; ++i) metrics.count("name_" + std::to_string(i), 1);
  EXPECT_EQ(metrics.values().size(), Metrics::kNamesMax);
  EXPECT_EQ(metrics.value("metrics_dropped"), 2000.0 - (Metrics::kNamesMax - 1.0));
  metrics.count("name_0", 1);
  EXPECT_EQ(metrics.value("name_0"), 2.0) << "what is known still counts";
  EXPECT_EQ(metrics.value("name_1999"), 0.0);
}

TEST(Metrics, OneDroppedEarlyLeavesTheSameLimit) {
  Metrics metrics;
  metrics.gauge("loss", std::nan(""));
  for (std::size_t i = 0; i < 2000; ++i) metrics.gauge("name_" + std::to_string(i), 1);
  EXPECT_EQ(metrics.values().size(), Metrics::kNamesMax);
}

TEST(Metrics, WhatCouldNotBeSentIsDropped) {
  Metrics metrics;
  metrics.gauge("loss", 3);
  metrics.gauge("loss", std::nan(""));
  metrics.gauge("loss", std::numeric_limits<double>::infinity());
  metrics.count("large", std::numeric_limits<double>::max());
  metrics.count("large", std::numeric_limits<double>::max());
  metrics.gauge(std::string(Metrics::kNameBytesMax + 1, 'a'), 1);
  EXPECT_EQ(metrics.value("loss"), 3.0);
  EXPECT_EQ(metrics.value("large"), std::numeric_limits<double>::max());
  EXPECT_EQ(metrics.value("metrics_dropped"), 4.0);
  for (const auto& [name, value] : metrics.values()) {
    EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_LE(name.size(), Metrics::kNameBytesMax);
  }
}

}  // namespace
}  // namespace hourglass
