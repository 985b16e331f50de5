// SPDX-License-Identifier: Apache-2.0
// Golden files: bytes as hex, 32 a line. A change of them is a change of the protocol. With HOURGLASS_UPDATE_GOLDEN=1 in the
// environment the tests write them anew instead of comparing, and fail, so that no such run passes for a test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/bytes.h"

namespace hourglass::testing_support {

inline std::string to_hex(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned>(bytes[i]);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
    if (i % 32 == 31 || i + 1 == bytes.size()) out += '\n';
  }
  return out;
}

inline void expect_golden(const std::string& path, const std::string& content) {
  const char* update = std::getenv("HOURGLASS_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << content;
    FAIL() << "written: " << path;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << "missing: " << path;
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), content) << path << " differs. If the protocol is meant to change, run tools/golden and commit its files.";
}

}  // namespace hourglass::testing_support
