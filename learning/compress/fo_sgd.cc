// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/fo_sgd.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <vector>

#include "learning/compress/hash.h"
#include "learning/compress/kernels.h"
#include "learning/compress/whole.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kHeaderBytes = 9;
constexpr unsigned kBlockBitsMin = 6;
constexpr unsigned kBlockBitsMax = 16;
constexpr std::size_t kPaddedMin = 8;  ///< whole bytes
constexpr float kLargeInput = 0x1p100F;
constexpr float kShrink = 0x1p-40F;

struct Part {
  std::size_t begin = 0, length = 0, padded = 0, number = 0;
  [[nodiscard]] std::size_t bytes() const { return sizeof(float) + padded / 8; }
};

std::vector<Part> parts_of(std::size_t length, std::size_t block) {
  std::vector<Part> parts;
  for (std::size_t begin = 0; begin < length; begin += block) {
    const std::size_t here = std::min(block, length - begin);
    parts.push_back({begin, here, std::max(kPaddedMin, std::bit_ceil(here)), parts.size()});
  }
  return parts;
}

std::uint64_t signs_key(std::uint64_t key, std::size_t part) { return mix(mix(key) + 2 * part); }
std::uint64_t dither_key(std::uint64_t key, std::size_t part) { return mix(mix(key) + 2 * part + 1); }

class FoSgd final : public Transform {
 public:
  FoSgd(bool unbiased, double clip, unsigned block_bits) : unbiased_(unbiased), clip_(clip), block_bits_(block_bits) {}

  void encode(std::span<const float> values, std::uint64_t key, GradientBlock& block) override {
    block.value_codec = ValueCodec::hadamard;
    block.values.clear();
    put(block.values, key);
    put(block.values, static_cast<std::uint8_t>(block_bits_));
    std::size_t bytes = kHeaderBytes;
    const std::vector<Part> parts = parts_of(values.size(), std::size_t{1} << block_bits_);
    for (const Part& part : parts) bytes += part.bytes();
    block.values.resize(bytes);
    const float largest = kernels().largest_magnitude(values.data(), values.size());
    const float shrink = largest > kLargeInput ? kShrink : 1.0F;  // sums of up to 65,536 must stay finite
    std::byte* out = block.values.data() + kHeaderBytes;
    for (const Part& part : parts) {
      encode_part(values.subspan(part.begin, part.length), part, key, shrink, out);
      out += part.bytes();
    }
  }

 private:
  void encode_part(std::span<const float> values, const Part& part, std::uint64_t key, float shrink, std::byte* out) {
    const auto n = static_cast<float>(part.padded);
    rotated_.resize(part.padded);
    kernels().flip_signs(values.data(), values.size(), signs_key(key, part.number), shrink, rotated_.data());
    std::fill(rotated_.begin() + static_cast<std::ptrdiff_t>(part.length), rotated_.end(), 0.0F);
    kernels().hadamard(rotated_.data(), part.padded);
    const double lambda = lambda_of(rotated_);
    kernels().pack_signs(rotated_.data(), part.padded, unbiased_ ? static_cast<float>(lambda) : 0.0F, dither_key(key, part.number),
                         out + sizeof(float));
    const double sent = lambda / shrink / std::sqrt(static_cast<double>(n));
    const auto wire = static_cast<float>(std::min(sent, static_cast<double>(FLT_MAX / n)));
    std::memcpy(out, &wire, sizeof wire);
  }

  [[nodiscard]] double lambda_of(std::span<const float> rotated) const {
    const auto n = static_cast<double>(rotated.size());
    if (unbiased_ && clip_ == 0) return kernels().largest_magnitude(rotated.data(), rotated.size());
    if (unbiased_) return clip_ * std::sqrt(kernels().sum_of_squares(rotated.data(), rotated.size()) / n);
    return kernels().level_sums(rotated.data(), rotated.size(), FLT_MAX).low / n;
  }

  bool unbiased_;
  double clip_;
  unsigned block_bits_;
  std::vector<float> rotated_;
};

class HadamardDecoder final : public WholeDecoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::hadamard; }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (Status whole = check_whole(block); !whole.ok()) return whole;
    if (block.values.size() < kHeaderBytes) return {Errc::malformed, "rotated block without its header"};
    const unsigned bits = get<std::uint8_t>(block.values, 8);
    if (bits < kBlockBitsMin || bits > kBlockBitsMax) return {Errc::malformed, "rotated block of another size than 64 to 65536"};
    if (block.values.size() < block.length / 8) return {Errc::malformed, "rotated block whose bits do not fit its range"};
    const std::byte* next = block.values.data() + kHeaderBytes;
    std::size_t left = block.values.size() - kHeaderBytes;
    for (const Part& part : parts_of(block.length, std::size_t{1} << bits)) {
      if (left < part.bytes()) return {Errc::malformed, "rotated block whose bits do not fit its range"};
      float lambda;
      std::memcpy(&lambda, next, sizeof lambda);
      if (!std::isfinite(lambda)) return {Errc::bad_data, "rotated block with a non-finite magnitude"};
      if (!(lambda >= 0 && lambda <= FLT_MAX / static_cast<float>(part.padded))) {
        return {Errc::malformed, "rotated block whose magnitude is out of range"};
      }
      next += part.bytes();
      left -= part.bytes();
    }
    if (left != 0) return {Errc::malformed, "rotated block with bytes behind its last bit"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    const auto key = get<std::uint64_t>(block.values, 0);
    const std::byte* next = block.values.data() + kHeaderBytes;
    std::vector<float> rotated;
    for (const Part& part : parts_of(target.size(), std::size_t{1} << get<std::uint8_t>(block.values, 8))) {
      float lambda;
      std::memcpy(&lambda, next, sizeof lambda);
      rotated.resize(part.padded);
      kernels().unpack_signs(next + sizeof lambda, part.padded, rotated.data());
      kernels().hadamard(rotated.data(), part.padded);  // sums of +-1: exact, in any order
      const float scale = lambda / std::sqrt(static_cast<float>(part.padded));
      kernels().flip_signs(rotated.data(), part.length, signs_key(key, part.number), scale, rotated.data());
      kernels().add_f32(reinterpret_cast<const std::byte*>(rotated.data()), target.data() + part.begin, part.length, weight);
      next += part.bytes();
    }
  }
};

}  // namespace

Result<std::unique_ptr<Transform>> make_fo_sgd(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"form", "block", "clip"}); !known.ok()) return known.error();
  const auto form = word_of(stage, "form", {"unbiased", "sign"});
  if (!form.ok()) return form.error();
  const auto block = stage.whole("block", 4096, 1 << kBlockBitsMin, 1 << kBlockBitsMax);
  if (!block.ok()) return block.error();
  if (!std::has_single_bit(static_cast<std::uint64_t>(*block))) return {Errc::bad_config, "fo_sgd: block must be a power of two"};
  const auto clip = stage.number("clip", 0, 0, 16);
  if (!clip.ok()) return clip.error();
  return std::unique_ptr<Transform>(
      std::make_unique<FoSgd>(*form == 0, *clip, static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(*block)))));
}

const ValueDecoder& hadamard_decoder() {
  static const HadamardDecoder decoder;
  return decoder;
}

}  // namespace hourglass::compress
