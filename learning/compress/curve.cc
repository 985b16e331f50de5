// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/curve.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "learning/compress/bits.h"
#include "learning/compress/blob.h"
#include "learning/compress/value_kernels.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kPlainBelow = 64;
constexpr std::size_t kTerms = 6;
constexpr std::size_t kPieceBytes = sizeof(float) * (2 + kTerms);
constexpr std::size_t kFitPoints = 4096;  ///< of a piece, evenly spread
constexpr std::size_t kRadixLeast = 4096;
constexpr std::uint32_t kMagnitude = 0x7fffffffU;

/// Ranks [begin, end) of each piece, from the one with the smallest magnitudes on; what is before the last is the head.
struct Pieces {
  std::vector<std::pair<std::size_t, std::size_t>> ranks;
  std::size_t head = 0;

  explicit Pieces(std::size_t count) : head(count) {
    for (; head >= kPlainBelow; head /= 2) ranks.emplace_back(head / 2, head);
    std::reverse(ranks.begin(), ranks.end());
  }
};

unsigned code_bits(std::size_t count) { return 1 + static_cast<unsigned>(std::bit_width(count - 1)); }

std::size_t codes_at(const Pieces& pieces) { return sizeof(float) * pieces.head + kPieceBytes * pieces.ranks.size(); }

std::size_t bytes_of(std::size_t count) {
  if (count < kPlainBelow) return sizeof(float) * count;
  return codes_at(Pieces(count)) + packed_bytes(count, code_bits(count));
}

/// Positions by falling magnitude; equal magnitudes by position. The magnitude's complement is above, the position below.
std::vector<std::uint64_t> sorted_of(std::span<const float> values) {
  std::vector<std::uint64_t> keys(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    keys[i] = static_cast<std::uint64_t>(kMagnitude - (std::bit_cast<std::uint32_t>(values[i]) & kMagnitude)) << 32 | i;
  }
  if (keys.size() < kRadixLeast) {
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  constexpr unsigned kDigit = 11;
  std::vector<std::uint64_t> other(keys.size());
  for (unsigned shift = 32; shift < 63; shift += kDigit) {
    std::vector<std::size_t> begins((1U << kDigit) + 1, 0);
    const auto digit = [shift](std::uint64_t key) { return key >> shift & ((1U << kDigit) - 1); };
    for (const std::uint64_t key : keys) ++begins[digit(key) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    for (const std::uint64_t key : keys) other[begins[digit(key)]++] = key;
    keys.swap(other);
  }
  return keys;
}

float magnitude_of(std::uint64_t key) { return std::bit_cast<float>(kMagnitude - static_cast<std::uint32_t>(key >> 32)); }

/// Solves a symmetric positive definite system by Cholesky's factors.
std::array<double, kTerms> solved(std::array<std::array<double, kTerms>, kTerms> a, std::array<double, kTerms> b) {
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a[i][j];
      for (std::size_t k = 0; k < j; ++k) rest -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(rest) : rest / a[j][j];
    }
  }
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = kTerms; i-- > 0;) {
    for (std::size_t k = i + 1; k < kTerms; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

/// Least squares over [-1, 1].
std::array<double, kTerms> fit(std::span<const std::uint64_t> sorted, double last, double width) {
  std::array<double, 2 * kTerms - 1> powers{};
  std::array<double, kTerms> right{};
  const std::size_t stride = 1 + (sorted.size() - 1) / kFitPoints;
  const double step = 2.0 / static_cast<double>(sorted.size() - 1);
  for (std::size_t i = 0; i < sorted.size(); i += stride) {
    const double t = step * static_cast<double>(i) - 1.0;
    const double y = (magnitude_of(sorted[i]) - last) / width;
    double power = 1;
    for (std::size_t j = 0; j < powers.size(); ++j) {
      powers[j] += power;
      if (j < kTerms) right[j] += power * y;
      power *= t;
    }
  }
  std::array<std::array<double, kTerms>, kTerms> left{};
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j < kTerms; ++j) left[i][j] = powers[i + j];
  }
  return solved(left, right);
}

/// The magnitude of each rank.
std::vector<float> curve_of(const GradientBlock& block) {
  const Pieces pieces(block.count);
  std::vector<float> curve(block.count);
  std::memcpy(curve.data(), block.values.data(), sizeof(float) * pieces.head);
  std::size_t at = sizeof(float) * pieces.head;
  for (const auto& [begin, end] : pieces.ranks) {
    Piece piece;
    piece.low = read_at<float>(block.values, at + sizeof(float));
    piece.width = read_at<float>(block.values, at) - piece.low;
    for (std::size_t j = 0; j < kTerms; ++j) piece.coefficients[j] = read_at<float>(block.values, at + sizeof(float) * (2 + j));
    value_kernels().evaluate(piece, curve.data() + begin, end - begin);
    at += kPieceBytes;
  }
  return curve;
}

/// use(i, value) for each entry.
template <class F>
void for_each_value(const GradientBlock& block, F&& use) {
  if (block.count < kPlainBelow) {
    for (std::size_t i = 0; i < block.count; ++i) use(i, read_at<float>(block.values, sizeof(float) * i));
    return;
  }
  const std::vector<float> curve = curve_of(block);
  const unsigned bits = code_bits(block.count);
  const std::uint64_t mask = (1ULL << bits) - 1;
  BitReader codes(std::span(block.values).subspan(codes_at(Pieces(block.count))));
  for (std::size_t i = 0; i < block.count; ++i) {
    const std::uint64_t code = codes.window() & mask;
    codes.skip(bits);
    use(i, std::bit_cast<float>(std::bit_cast<std::uint32_t>(curve[code >> 1]) | static_cast<std::uint32_t>(code & 1) << 31));
  }
}

class Curve final : public ValueCoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::curve; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    block.value_codec = wire();
    if (values.size() < kPlainBelow) {
      const auto bytes = std::as_bytes(values);
      block.values.assign(bytes.begin(), bytes.end());
      return;
    }
    const Pieces pieces(values.size());
    const std::vector<std::uint64_t> sorted = sorted_of(values);
    block.values.assign(bytes_of(values.size()) + sizeof(std::uint64_t), std::byte{0});
    for (std::size_t i = 0; i < pieces.head; ++i) write_at(block.values, sizeof(float) * i, magnitude_of(sorted[i]));
    std::size_t at = sizeof(float) * pieces.head;
    for (const auto& [begin, end] : pieces.ranks) {
      const float first = magnitude_of(sorted[begin]);
      const float last = magnitude_of(sorted[end - 1]);
      const double width = static_cast<double>(first) - last;
      write_at(block.values, at, first);
      write_at(block.values, at + sizeof(float), last);
      const auto terms = width == 0 ? std::array<double, kTerms>{} : fit(std::span(sorted).subspan(begin, end - begin), last, width);
      for (std::size_t j = 0; j < kTerms; ++j) write_at(block.values, at + sizeof(float) * (2 + j), static_cast<float>(terms[j]));
      at += kPieceBytes;
    }
    std::vector<std::uint32_t> ranks(values.size());
    for (std::size_t rank = 0; rank < sorted.size(); ++rank)
      ranks[static_cast<std::uint32_t>(sorted[rank])] = static_cast<std::uint32_t>(rank);
    BitWriter codes(block.values.data() + at);
    for (std::size_t i = 0; i < values.size(); ++i) {
      codes.put(static_cast<std::uint64_t>(ranks[i]) << 1 | static_cast<std::uint64_t>(std::signbit(values[i])), code_bits(values.size()));
    }
    block.values.resize(bytes_of(values.size()));
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (Status plain = check_plain(block, bytes_of(block.count)); !plain.ok()) return plain;
    const Pieces pieces(block.count);
    const std::size_t floats = block.count < kPlainBelow ? block.count : codes_at(pieces) / sizeof(float);
    for (std::size_t i = 0; i < floats; ++i) {
      if (!std::isfinite(read_at<float>(block.values, sizeof(float) * i)))
        return {Errc::bad_data, "gradient block with a non-finite value"};
    }
    if (block.count < kPlainBelow) return {};
    for (std::size_t i = 0; i < pieces.head; ++i) {
      if (std::signbit(read_at<float>(block.values, sizeof(float) * i)))
        return {Errc::malformed, "gradient block with a negative magnitude"};
    }
    for (std::size_t i = 0; i < pieces.ranks.size(); ++i) {
      const auto first = read_at<float>(block.values, sizeof(float) * pieces.head + kPieceBytes * i);
      const auto last = read_at<float>(block.values, sizeof(float) * pieces.head + kPieceBytes * i + sizeof(float));
      if (std::signbit(last) || first < last) return {Errc::malformed, "gradient block with a curve that does not fall"};
    }
    return check_codes(block, codes_at(pieces));
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    for_each_value(block, [&](std::size_t i, float value) { target[i] += weight * value; });
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    for_each_value(block, [&](std::size_t i, float value) { target[indices[i]] += weight * value; });
  }

 private:
  static Status check_codes(const GradientBlock& block, std::size_t at) {
    const unsigned bits = code_bits(block.count);
    if (!is_padded_with_zeros(block.values, block.count, bits)) return {Errc::malformed, "gradient block with bits behind its last value"};
    const std::uint64_t mask = (1ULL << bits) - 1;
    BitReader codes(std::span(block.values).subspan(at));
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < block.count; ++i) {
      largest = std::max(largest, codes.window() & mask);
      codes.skip(bits);
    }
    if (largest >> 1 >= block.count) return {Errc::malformed, "gradient block with a rank beyond its count"};
    return {};
  }
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_curve(const SpecStage& stage) {
  if (Status plain = stage.only({}); !plain.ok()) return plain.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<Curve>());
}

const ValueCoder& curve_coder() {
  static const Curve coder;
  return coder;
}

}  // namespace hourglass::compress
