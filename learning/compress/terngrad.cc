// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/terngrad.h"

#include <array>
#include <cmath>

#include "learning/compress/blob.h"
#include "learning/compress/buckets.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kDigits = 5;
constexpr std::size_t kTritsAt = 4;
constexpr std::size_t kSlice = 4000;  ///< a multiple of kDigits

class TernGrad final : public ValueCoder {
 public:
  explicit TernGrad(double clip) : clip_(clip) {}

  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::terngrad; }

  void encode(std::span<const float> values, std::uint64_t key, GradientBlock& block) const override {
    block.value_codec = wire();
    block.values.resize(bytes_of(values.size()));
    if (values.empty()) return;
    const float scale = scale_of(values);
    write_at(block.values, 0, scale);
    const ToLevels how = to_levels_of(scale, 1);
    const std::uint64_t mixed = rounding_key(key, values);
    std::array<std::uint8_t, kSlice> slice{};
    for (std::size_t at = 0; at < values.size(); at += kSlice) {
      const std::size_t count = std::min(kSlice, values.size() - at);
      value_kernels().to_levels(values.data() + at, count, how, 2, mixed, static_cast<std::uint32_t>(at), slice.data());
      value_kernels().pack_trits(slice.data(), count, block.values.data() + kTritsAt + at / kDigits);
    }
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (Status plain = check_plain(block, bytes_of(block.count)); !plain.ok() || block.count == 0) return plain;
    const auto scale = read_at<float>(block.values, 0);
    if (!std::isfinite(scale)) return {Errc::bad_data, "gradient block with a non-finite scale"};
    if (std::signbit(scale)) return {Errc::malformed, "gradient block with a negative scale"};
    constexpr std::array<unsigned, kDigits> kEnds = {243, 3, 9, 27, 81};
    const std::byte* trits = block.values.data() + kTritsAt;
    const std::size_t bytes = block.values.size() - kTritsAt;
    if (!value_kernels().codes_within(trits, 8, 255, kEnds[0] - 1, bytes) ||
        static_cast<unsigned>(trits[bytes - 1]) >= kEnds[block.count % kDigits]) {
      return {Errc::malformed, "gradient block with digits that mean nothing"};
    }
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    if (block.count == 0) return;
    const auto table = table_of(block, weight);
    value_kernels().add_trits(block.values.data() + kTritsAt, table.data(), target.data(), target.size());
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    if (block.count == 0) return;
    const auto table = table_of(block, weight);
    value_kernels().scatter_trits(block.values.data() + kTritsAt, table.data(), indices.data(), target.data(), indices.size());
  }

 private:
  static std::size_t bytes_of(std::size_t count) { return count == 0 ? 0 : kTritsAt + (count + kDigits - 1) / kDigits; }
  static std::array<float, 3> table_of(const GradientBlock& block, float weight) {
    const auto scale = read_at<float>(block.values, 0);
    return {0, weight * scale, weight * -scale};
  }
  [[nodiscard]] float scale_of(std::span<const float> values) const {
    const float largest = largest_of(values);
    if (clip_ == 0) return largest;
    const double limit = clip_ * norm_of(values) / std::sqrt(static_cast<double>(values.size()));
    return limit < largest ? static_cast<float>(limit) : largest;
  }

  double clip_;
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_terngrad(const SpecStage& stage) {
  if (Status known = stage.only({"clip"}); !known.ok()) return known.error();
  const auto clip = stage.number("clip", 0, 0, 1000);
  if (!clip.ok()) return clip.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<TernGrad>(*clip));
}

const ValueCoder& terngrad_coder() {
  static const TernGrad coder(0);
  return coder;
}

}  // namespace hourglass::compress
