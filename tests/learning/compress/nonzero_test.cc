// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

TEST(Nonzero, IsEverythingThatIsNotZero) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    const auto block = compressor_of("nonzero", values.size())->compress(values, 0);
    EXPECT_EQ(block.count, static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](float v) { return v != 0; })));
    const auto out = decoded(block, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(out[i], values[i]);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
