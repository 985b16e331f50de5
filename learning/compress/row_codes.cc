// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/row_codes.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr float kOrdinaryStepLeast = 1e-30F;  ///< its reciprocal, times a row's range, is far from the ends of f32

constexpr unsigned levels_of(unsigned bits) { return (1U << bits) - 1; }

/// Whether low + step * levels and (value - low) / step stay within f32. Both sides decide by this.
bool is_ordinary(RowScale scale, unsigned bits) {
  const double width = levels_of(bits) * static_cast<double>(scale.step);
  return scale.step >= kOrdinaryStepLeast && std::abs(static_cast<double>(scale.low)) + width < FLT_MAX / 4;
}

/// The step is rounded up, so that the largest value is within reach.
RowScale scale_of(const RowRange& range, unsigned bits) {
  if (!range.finite) return {std::numeric_limits<float>::quiet_NaN(), 0};
  const double levels = levels_of(bits);
  const double width = static_cast<double>(range.high) - range.low;
  if (width == 0) return {range.low, 0};
  auto step = static_cast<float>(width / levels);
  if (levels * step < width) step = std::nextafter(step, FLT_MAX);
  return {range.low, step};
}

/// Eight codes of one byte each, in a word, to eight codes of 6 bits in its low 48 bits, and back.
std::uint64_t narrow_to_6(std::uint64_t x) {
  x = (x & 0x003f003f003f003fULL) | (x & 0x3f003f003f003f00ULL) >> 2;
  x = (x & 0x00000fff00000fffULL) | (x & 0x0fff00000fff0000ULL) >> 4;
  return (x & 0x0000000000ffffffULL) | (x & 0x00ffffff00000000ULL) >> 8;
}
std::uint64_t widen_from_6(std::uint64_t x) {
  x = (x & 0x0000000000ffffffULL) | (x & 0x0000ffffff000000ULL) << 8;
  x = (x & 0x00000fff00000fffULL) | (x & 0x00fff00000fff000ULL) << 4;
  return (x & 0x003f003f003f003fULL) | (x & 0x0fc00fc00fc00fc0ULL) << 2;
}
std::uint64_t narrow_to_4(std::uint64_t x) {
  x = (x & 0x000f000f000f000fULL) | (x & 0x0f000f000f000f00ULL) >> 4;
  x = (x & 0x000000ff000000ffULL) | (x & 0x00ff000000ff0000ULL) >> 8;
  return (x & 0x000000000000ffffULL) | (x & 0x0000ffff00000000ULL) >> 16;
}
std::uint64_t widen_from_4(std::uint64_t x) {
  x = (x & 0x000000000000ffffULL) | (x & 0x00000000ffff0000ULL) << 16;
  x = (x & 0x000000ff000000ffULL) | (x & 0x0000ff000000ff00ULL) << 8;
  return (x & 0x000f000f000f000fULL) | (x & 0x00f000f000f000f0ULL) << 4;
}

}  // namespace

RowScale quantize_row(std::span<const float> row, unsigned bits, std::uint64_t key, std::byte* codes) {
  if (row.empty()) return {};
  const RowScale scale = scale_of(kernels().row_range(row.data(), row.size()), bits);
  if (!(scale.step > 0)) {
    std::fill_n(codes, row.size(), std::byte{0});
    return scale;
  }
  const auto most = static_cast<std::byte>(levels_of(bits));
  if (is_ordinary(scale, bits)) {
    kernels().quantize_row(row.data(), row.size(), scale.low, 1.0F / scale.step, key, codes);
    if (bits < 8) std::transform(codes, codes + row.size(), codes, [most](std::byte code) { return std::min(code, most); });
    return scale;
  }
  Random random(key);
  for (const float value : row) {  // the arithmetic leaves f32
    const double code = std::floor((static_cast<double>(value) - scale.low) / scale.step + random.uniform());
    *codes++ = static_cast<std::byte>(static_cast<unsigned>(std::clamp<double>(code, 0, levels_of(bits))));
  }
  return scale;
}

void dequantize_row(const std::byte* codes, RowScale scale, unsigned bits, std::span<float> row) {
  if (is_ordinary(scale, bits)) return kernels().dequantize_row(codes, row.size(), scale.low, scale.step, row.data());
  for (float& value : row) {
    const double wide = scale.low + static_cast<double>(scale.step) * static_cast<unsigned>(*codes++);
    value = static_cast<float>(std::clamp<double>(wide, -FLT_MAX, FLT_MAX));
  }
}

Status check_scale(RowScale scale) {
  if (!std::isfinite(scale.low) || !std::isfinite(scale.step)) return {Errc::bad_data, "boundary tensor with a non-finite scale"};
  if (scale.step < 0) return {Errc::malformed, "boundary tensor with a negative step"};
  return {};
}

Bytes pack_codes(Bytes codes, unsigned bits) {
  if (bits == 8) return codes;
  const std::size_t count = codes.size();
  codes.resize((count + 7) / 8 * 8);
  for (std::size_t i = 0; i < codes.size(); i += 8) {  // in place: what is written lies before what is read next
    std::uint64_t word;
    std::memcpy(&word, codes.data() + i, 8);
    word = bits == 6 ? narrow_to_6(word) : narrow_to_4(word);
    std::memcpy(codes.data() + i / 8 * bits, &word, bits);
  }
  codes.resize(packed_bytes(count, bits));
  return codes;
}

void unpack_codes(std::span<const std::byte> packed, unsigned bits, std::size_t count, std::byte* out) {
  if (bits == 8) {
    std::copy_n(packed.begin(), count, out);
    return;
  }
  for (std::size_t i = 0; i < count; i += 8) {
    const std::size_t at = i / 8 * bits;
    std::uint64_t word = 0;
    std::memcpy(&word, packed.data() + at, std::min<std::size_t>(bits, packed.size() - at));
    word = bits == 6 ? widen_from_6(word) : widen_from_4(word);
    std::memcpy(out + i, &word, std::min<std::size_t>(8, count - i));
  }
}

bool padding_is_zero(std::span<const std::byte> packed, unsigned bits, std::size_t count) {
  const std::size_t used = count * bits % 8;
  return used == 0 || static_cast<unsigned>(packed.back()) >> used == 0;
}

}  // namespace hourglass::compress
