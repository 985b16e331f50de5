// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sketch_table.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"

namespace hourglass::compress {
namespace {

/// Of 20 keys, those whose table of `share` cells a member gives back every integer.
int peeled(std::size_t count, double share) {
  int good = 0;
  for (std::uint64_t key = 0; key < 20; ++key) {
    Random random(key);
    std::vector<std::uint32_t> members(count);
    std::vector<std::uint32_t> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      members[i] = static_cast<std::uint32_t>(i * 7 + random.below(7));
      values[i] = static_cast<std::uint32_t>(random.next());
    }
    std::vector<std::uint32_t> cells(3 * static_cast<std::size_t>(share * static_cast<double>(count) / 3));
    add_to_cells(members, values, key, cells);
    std::vector<std::uint32_t> out;
    if (!peel(members, cells, key, 32, out)) continue;
    EXPECT_EQ(out, values);
    ++good;
  }
  return good;
}

TEST(SketchTable, PeelsWithThirtyPercentMoreCellsThanMembers) {
  EXPECT_EQ(peeled(1000, 1.35), 20);
  EXPECT_EQ(peeled(20000, 1.3), 20);
  EXPECT_EQ(peeled(20000, 1.15), 0);
}

TEST(SketchTable, ACellThatIsNotTheSumIsNoticed) {
  const std::vector<std::uint32_t> members = {1, 5, 9};
  const std::vector<std::uint32_t> values = {7, 8, 9};
  std::vector<std::uint32_t> cells(30);
  add_to_cells(members, values, 2, cells);
  std::vector<std::uint32_t> out;
  ASSERT_TRUE(peel(members, cells, 2, 32, out));
  for (auto& cell : cells) {
    ++cell;
    EXPECT_FALSE(peel(members, cells, 2, 32, out));
    --cell;
    cell += 1U << 16;
    EXPECT_TRUE(peel(members, cells, 2, 16, out));  // narrow cells have no such bit
    EXPECT_FALSE(peel(members, cells, 2, 32, out));
    cell -= 1U << 16;
  }
}

}  // namespace
}  // namespace hourglass::compress
