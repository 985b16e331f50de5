// SPDX-License-Identifier: Apache-2.0
#include "services/chaos/nemesis.h"

#include <gtest/gtest.h>

#include <set>

namespace hourglass::chaos {
namespace {

NemesisPlan plan(std::uint64_t seed) {
  NemesisPlan out;
  out.seconds = 1000;
  out.pauses = {5, 20};
  out.roles = {Role::conv_worker, Role::fc_worker};
  out.actions = {Action::kill, Action::stop, Action::term};
  out.stop_seconds_max = 15;
  out.seed = seed;
  return out;
}

std::vector<Strike> all(NemesisPlan plan) {
  Nemesis nemesis(std::move(plan));
  std::vector<Strike> out;
  while (const auto strike = nemesis.next()) out.push_back(*strike);
  return out;
}

TEST(Nemesis, KeepsItsPausesAndItsTime) {
  const auto strikes = all(plan(1));
  ASSERT_GE(strikes.size(), 1000U / 20);
  double before = 0;
  std::set<Action> actions;
  for (const Strike& strike : strikes) {
    EXPECT_GE(strike.at - before, 5);
    EXPECT_LE(strike.at - before, 20);
    EXPECT_LE(strike.at, 1000);
    before = strike.at;
    actions.insert(strike.action);
    EXPECT_EQ(strike.stop_seconds > 0, strike.action == Action::stop);
    EXPECT_LE(strike.stop_seconds, 15);
  }
  EXPECT_EQ(actions.size(), 3U);
}

TEST(Nemesis, FollowsFromItsSeed) {
  const auto first = all(plan(1)), again = all(plan(1)), other = all(plan(2));
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].at, again[i].at);
    EXPECT_EQ(first[i].victim, again[i].victim);
    EXPECT_EQ(first[i].action, again[i].action);
  }
  EXPECT_NE(first[0].at, other[0].at);
}

TEST(Nemesis, StrikesNobodyWhereItsTimeIsUpBefore) {
  NemesisPlan brief = plan(1);
  brief.seconds = 4;
  EXPECT_TRUE(all(brief).empty());
}

TEST(Nemesis, ReadsPauses) {
  const auto range = parse_pauses("5-20");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->least, 5);
  EXPECT_EQ(range->most, 20);
  const auto one = parse_pauses("0.5");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->least, one->most);
  for (const char* wrong : {"", "-", "5-", "-5", "20-5", "0", "5-20-30", "a", "5 - 20", "nan", "1e9"})
    EXPECT_FALSE(parse_pauses(wrong)) << wrong;
}

TEST(Nemesis, ReadsRolesAndActions) {
  const auto roles = parse_roles("conv,fc-worker,loader,tree,monitor,aggregator,conv-worker");
  ASSERT_TRUE(roles.has_value());
  EXPECT_EQ(*roles,
            (std::vector<Role>{Role::conv_worker, Role::fc_worker, Role::data_loader, Role::tree_node, Role::monitor, Role::aggregator}));
  for (const char* wrong : {"", ",conv", "convs", "conv fc", "conv,,fc"}) EXPECT_FALSE(parse_roles(wrong)) << wrong;
  EXPECT_EQ(parse_actions("term,kill"), (std::vector<Action>{Action::term, Action::kill}));
  EXPECT_FALSE(parse_actions("kill,pause"));
}

}  // namespace
}  // namespace hourglass::chaos
