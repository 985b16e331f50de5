// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor_metrics.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr ActorId kConv{Role::conv_worker, 11};

MetricReport report(std::uint64_t sequence, double uptime, std::vector<MetricValue> values) {
  return {sequence, uptime, false, std::move(values), {}, 0};
}

TEST(MetricBook, ActorsAreBoundedAndTotalsExact) {
  MetricBook book;
  const std::size_t actors = MetricBook::kActorsMax + MetricBook::kRetiredMax + 500;
  for (std::uint32_t i = 0; i < actors; ++i) {
    book.report({Role::conv_worker, i}, report(1, 1, {{"sent.control.socket", 2}}), Instant(std::chrono::milliseconds(i)));
  }
  EXPECT_EQ(book.actors().size(), MetricBook::kActorsMax);
  EXPECT_DOUBLE_EQ(book.totals().socket[static_cast<std::size_t>(Traffic::control)], 2.0 * static_cast<double>(actors));
}

TEST(MetricBook, ACounterThatFellMakesNoNegativeRate) {
  MetricBook book;
  book.report(kConv, report(1, 1, {{"samples", 100}}), Instant(1s));
  book.report(kConv, report(2, 2, {{"samples", 10}}), Instant(2s));
  EXPECT_EQ(book.find(kConv)->samples_per_second, 0);
}

TEST(MetricBook, TwoReportsOfOneMomentKeepTheEarlierRate) {
  MetricBook book;
  book.report(kConv, report(1, 1, {{"samples", 100}}), Instant(1s));
  book.report(kConv, report(2, 2, {{"samples", 150}}), Instant(2s));
  book.report(kConv, report(3, 2.01, {{"samples", 151}}), Instant(2s));
  EXPECT_EQ(book.find(kConv)->samples_per_second, 50);
  EXPECT_EQ(book.find(kConv)->samples, 151);
}

}  // namespace
}  // namespace hourglass
