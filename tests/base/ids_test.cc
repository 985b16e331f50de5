// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <gtest/gtest.h>

#include <map>

namespace hourglass {
namespace {

TEST(Role, NamesComeBack) {
  for (std::uint8_t i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    EXPECT_EQ(role_from_name(name_of(role)), role);
  }
  EXPECT_EQ(name_of(Role::conv_worker), "conv-worker");
  EXPECT_EQ(role_from_name("conv_worker"), std::nullopt);
  EXPECT_EQ(role_from_name(""), std::nullopt);
}

TEST(ActorId, IsOrderedByRoleThenIndex) {
  EXPECT_LT((ActorId{Role::data_loader, 9}), (ActorId{Role::conv_worker, 1}));
  EXPECT_LT((ActorId{Role::conv_worker, 1}), (ActorId{Role::conv_worker, 2}));
  EXPECT_EQ((ActorId{Role::aggregator, 0}), kAggregator);
}

TEST(ActorId, HasAName) {
  EXPECT_EQ(to_string({Role::conv_worker, 0x1a2b3c4d}), "conv-worker:1a2b3c4d");
  EXPECT_EQ(to_string({Role::data_loader, 0xffffffff}), "data-loader:ffffffff");
  EXPECT_EQ(to_string(kAggregator), "aggregator");
  EXPECT_EQ(to_string({Role::aggregator, 5}), "aggregator:00000005");
}

}  // namespace
}  // namespace hourglass
