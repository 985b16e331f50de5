// SPDX-License-Identifier: Apache-2.0
#include "learning/params/published.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hourglass::params {
namespace {

VersionDelta delta_of(std::uint64_t to, std::vector<float> values) { return whole(to, values); }  // as something to be added

ParameterUpdate update_of(std::uint64_t from, std::vector<VersionDelta> deltas, bool absolute = false) {
  ParameterUpdate update;
  update.from = from;
  update.absolute = absolute;
  update.deltas = std::move(deltas);
  return update;
}

const std::vector<float> kLarge(1000);

TEST(DeltaRing, LeadsFromAnyVersionItReachesBackTo) {
  DeltaRing ring;
  for (std::uint64_t v = 0; v < 5; ++v) ring.push(v, delta_of(v + 1, {1}));
  const auto some = ring.since(3, kLarge);
  ASSERT_TRUE(some.ok());
  ASSERT_EQ(some->size(), 2U);
  EXPECT_EQ(some->front().to, 4U);
  EXPECT_EQ(some->back().to, 5U);
  EXPECT_EQ(ring.since(0, kLarge)->size(), 5U);
  EXPECT_EQ(ring.since(7, kLarge).error().code, Errc::too_stale);
  EXPECT_EQ(ring.since(0, {kLarge.data(), 1}).error().code, Errc::too_stale) << "the values are smaller";
  ring.clear();
  EXPECT_FALSE(ring.since(4, kLarge).ok());
}

TEST(DeltaRing, ForgetsTheOldest) {
  DeltaRing ring;
  for (std::uint64_t v = 0; v <= DeltaRing::kDeltasMax; ++v) ring.push(v, delta_of(v + 1, {1}));
  EXPECT_FALSE(ring.since(0, kLarge).ok());
  EXPECT_TRUE(ring.since(1, kLarge).ok());
}

TEST(PublishedCopy, TakesDeltasAndValuesAndTellsWhichItTook) {
  PublishedCopy copy({1, 2});
  EXPECT_EQ(copy.absorb(update_of(0, {})).value(), Taken::clocks);
  EXPECT_EQ(copy.absorb(update_of(0, {delta_of(1, {1, 1}), delta_of(3, {1, 0})})).value(), Taken::deltas);
  EXPECT_EQ(copy.values(), (std::vector<float>{3, 3}));
  EXPECT_EQ(copy.version(), 3U);
  EXPECT_EQ(copy.absorb(update_of(0, {delta_of(2, {9, 9})})).value(), Taken::late);
  EXPECT_EQ(copy.absorb(update_of(0, {delta_of(2, {9, 9})}, true)).value(), Taken::late);
  EXPECT_EQ(copy.absorb(std::vector<float>{9, 9}, 2).value(), Taken::late);
  EXPECT_EQ(copy.absorb(update_of(0, {delta_of(4, {5, 6})}, true)).value(), Taken::values);
  EXPECT_EQ(copy.values(), (std::vector<float>{5, 6}));
  EXPECT_EQ(copy.absorb(std::vector<float>{7, 8}, 4).value(), Taken::values);
  EXPECT_EQ(copy.values(), (std::vector<float>{7, 8}));
}

TEST(PublishedCopy, WhatDoesNotFitChangesNothing) {
  PublishedCopy copy({1, 2});
  const auto refused = [&](const ParameterUpdate& update) {
    const auto taken = copy.absorb(update);
    EXPECT_EQ(copy.values(), (std::vector<float>{1, 2}));
    EXPECT_EQ(copy.version(), 0U);
    return taken.ok() ? Errc::io : taken.error().code;
  };
  EXPECT_EQ(refused(update_of(2, {delta_of(3, {1, 1})})), Errc::too_stale);
  EXPECT_EQ(refused(update_of(0, {delta_of(2, {1, 1}), delta_of(2, {1, 1})})), Errc::malformed);
  EXPECT_EQ(refused(update_of(0, {delta_of(1, {1, 1}), delta_of(2, {1, 1, 1})})), Errc::malformed);
  EXPECT_EQ(refused(update_of(0, {delta_of(1, {1, 1}), delta_of(2, {1, HUGE_VALF})})), Errc::bad_data);
  EXPECT_EQ(refused(update_of(0, {delta_of(1, {1})}, true)), Errc::malformed);
  EXPECT_EQ(refused(update_of(0, {}, true)), Errc::malformed);
  VersionDelta replacing;
  replacing.to = 1;
  replacing.replaced = whole(1, std::vector<float>{1, HUGE_VALF}).blocks;
  EXPECT_EQ(refused(update_of(0, {replacing})), Errc::bad_data);
  replacing.replaced[0].value_codec = ValueCodec::bf16;
  EXPECT_EQ(refused(update_of(0, {replacing})), Errc::malformed) << "values are f32";
  EXPECT_FALSE(copy.absorb(std::vector<float>{1}, 9).ok());
}

}  // namespace
}  // namespace hourglass::params
