// SPDX-License-Identifier: Apache-2.0
#include "services/tensorboard/crc32c.h"

#include <array>

namespace hourglass {
namespace {
constexpr std::uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41 with its bits reversed

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1U) != 0 ? rest >> 1 ^ kPolynomial : rest >> 1;
    table[i] = rest;
  }
  return table;
}
}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_table();
  std::uint32_t rest = ~std::uint32_t{0};
  for (const char byte : bytes) rest = kTable[(rest ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ rest >> 8;
  return ~rest;
}

}  // namespace hourglass
