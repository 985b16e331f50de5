// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/natural.h"

#include <array>
#include <bit>
#include <cmath>

#include "learning/compress/blob.h"
#include "learning/compress/kernels.h"
#include "learning/compress/value_kernels.h"

namespace hourglass::compress {
namespace {

constexpr unsigned kFieldMost = 254;   ///< exponent field of the largest finite powers
constexpr std::uint8_t kPlaces = 127;  ///< powers of the short form
constexpr unsigned kBaseMost = kFieldMost - kPlaces + 1;
constexpr std::size_t kSlice = 4096;

/// The short form's place p stands for the exponent field base - 1 + p; the highest place is at or above the largest magnitude.
unsigned base_of(float largest) {
  const unsigned top = std::min((std::bit_cast<std::uint32_t>(largest) + 0x7fffffU) >> 23, kFieldMost);
  return 1 + (top > kPlaces ? top - kPlaces : 0);
}

std::array<float, 256> table_of(unsigned base) {
  std::array<float, 256> table{};
  for (unsigned place = 1; place <= kPlaces; ++place) {
    table[place] = std::bit_cast<float>((base - 1 + place) << 23);
    table[place | 128U] = -table[place];
  }
  return table;
}

class Natural final : public ValueCoder {
 public:
  explicit Natural(bool whole_exponents) : whole_exponents_(whole_exponents) {}

  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::natural; }

  void encode(std::span<const float> values, std::uint64_t key, GradientBlock& block) const override {
    block.value_codec = wire();
    block.values.clear();
    if (values.empty()) return;
    const std::uint64_t mixed = rounding_key(key, values);
    block.values.resize(1 + values.size() + (whole_exponents_ ? packed_bytes(values.size(), 1) : 0));
    if (!whole_exponents_) return encode_short(values, mixed, block.values);
    auto* exponents = reinterpret_cast<std::uint8_t*>(block.values.data() + 1);
    value_kernels().to_exponents(values.data(), values.size(), mixed, 0, exponents);
    value_kernels().pack_signs(values.data(), values.size(), block.values.data() + 1 + values.size());
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (block.count == 0) return check_plain(block, 0);
    if (block.values.empty()) return {Errc::malformed, "gradient block without its exponents"};
    const unsigned base = base_in(block);
    if (base > kBaseMost) return {Errc::malformed, "gradient block with exponents that no float has"};
    const std::size_t signs = base == 0 ? packed_bytes(block.count, 1) : 0;
    if (Status plain = check_plain(block, 1 + block.count + signs); !plain.ok()) return plain;
    if (base != 0) return {};
    if (!is_padded_with_zeros(block.values, block.count, 1)) return {Errc::malformed, "gradient block with bits behind its last value"};
    if (!value_kernels().codes_within(block.values.data() + 1, 8, 255, kFieldMost, block.count)) {
      return {Errc::bad_data, "gradient block with a non-finite value"};
    }
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    if (block.count == 0) return;
    const std::byte* codes = block.values.data() + 1;
    if (base_in(block) == 0) {
      value_kernels().add_exponents(codes, codes + block.count, target.data(), target.size(), weight);
    } else {
      const auto table = table_of(base_in(block));
      value_kernels().add_codes(codes, 8, {table.data(), 1.0F, weight}, target.data(), target.size());
    }
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    if (block.count == 0) return;
    const std::byte* codes = block.values.data() + 1;
    if (base_in(block) == 0) {
      value_kernels().scatter_exponents(codes, codes + block.count, indices.data(), target.data(), indices.size(), weight);
    } else {
      const auto table = table_of(base_in(block));
      value_kernels().scatter_codes(codes, 8, {table.data(), 1.0F, weight}, indices.data(), target.data(), indices.size());
    }
  }

 private:
  static unsigned base_in(const GradientBlock& block) { return static_cast<unsigned>(block.values[0]); }

  /// In units of base - 1 binades, places are exponent fields, and what is below the first is rounded as what is below 2^-126 is.
  static void encode_short(std::span<const float> values, std::uint64_t key, Bytes& blob) {
    const unsigned base = base_of(kernels().largest_magnitude(values.data(), values.size()));
    blob[0] = static_cast<std::byte>(base);
    auto* codes = reinterpret_cast<std::uint8_t*>(blob.data() + 1);
    const float unit = std::ldexp(1.0F, 1 - static_cast<int>(base));
    std::array<float, kSlice> scaled{};
    for (std::size_t at = 0; at < values.size(); at += kSlice) {
      const std::size_t count = std::min(kSlice, values.size() - at);
      for (std::size_t i = 0; i < count; ++i) scaled[i] = values[at + i] * unit;
      value_kernels().to_exponents(scaled.data(), count, key, static_cast<std::uint32_t>(at), codes + at);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t place = codes[at + i] < kPlaces ? codes[at + i] : kPlaces;
        const unsigned sign = place != 0 && std::signbit(values[at + i]) ? 128 : 0;
        codes[at + i] = static_cast<std::uint8_t>(place | sign);
      }
    }
  }

  bool whole_exponents_;
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_natural(const SpecStage& stage) {
  if (Status known = stage.only({"bits"}); !known.ok()) return known.error();
  const auto bits = stage.whole("bits", 9, 8, 9);
  if (!bits.ok()) return bits.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<Natural>(*bits == 9));
}

const ValueCoder& natural_coder() {
  static const Natural coder(true);
  return coder;
}

}  // namespace hourglass::compress
