// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/buckets.h"

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>

#include "learning/compress/blob.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kBucketAt = 0;
constexpr std::size_t kLevelsAt = 4;
constexpr std::size_t kScalesAt = 5;
constexpr std::size_t kSlice = 4096;  ///< values that are quantized before they are packed
constexpr float kOrdinaryScaleLeast = 1e-30F;

Buckets form_of(const Bytes& blob) { return {read_at<std::uint32_t>(blob, kBucketAt), read_at<std::uint8_t>(blob, kLevelsAt)}; }

std::array<float, 256> table_of(const Buckets& form) {
  std::array<float, 256> table{};
  for (unsigned level = 0; level <= form.levels; ++level) {
    table[level] = static_cast<float>(level) / static_cast<float>(form.levels);
    table[level | form.sign_bit()] = -table[level];
  }
  return table;
}

/// use(first value, values, codes, factors) for each bucket.
template <class F>
void for_each_bucket(const GradientBlock& block, float weight, F&& use) {
  if (block.count == 0) return;
  const Buckets form = form_of(block.values);
  const std::array<float, 256> table = table_of(form);
  const std::byte* codes = block.values.data() + form.codes_at(block.count);
  for (std::size_t first = 0; first < block.count; first += form.bucket) {
    const auto scale = read_at<float>(block.values, kScalesAt + sizeof(float) * (first / form.bucket));
    const std::size_t count = std::min<std::size_t>(form.bucket, block.count - first);
    use(first, count, codes + first / 8 * form.bits(), form.bits(), FromCodes{table.data(), scale, weight});
  }
}

}  // namespace

unsigned Buckets::bits() const { return 1 + static_cast<unsigned>(std::bit_width(levels)); }
std::size_t Buckets::codes_at(std::size_t count) const { return kScalesAt + sizeof(float) * ((count + bucket - 1) / bucket); }

float largest_of(std::span<const float> values) { return kernels().largest_magnitude(values.data(), values.size()); }
float norm_of(std::span<const float> values) {
  return static_cast<float>(std::min<double>(std::sqrt(kernels().sum_of_squares(values.data(), values.size())), FLT_MAX));
}

ToLevels to_levels_of(float scale, unsigned levels) {
  ToLevels how;
  how.up = scale < kOrdinaryScaleLeast ? 0x1p64F : 1.0F;
  how.inverse = scale == 0 ? 0.0F : static_cast<float>(levels) / (scale * how.up);
  how.most = static_cast<float>(levels);
  return how;
}

void encode_buckets(std::span<const float> values, const Buckets& form, ScaleOf scale_of, bool stochastic, std::uint64_t key, Bytes& blob) {
  blob.assign(values.empty() ? 0 : form.bytes(values.size()), std::byte{0});
  if (values.empty()) return;
  write_at(blob, kBucketAt, static_cast<std::uint32_t>(form.bucket));
  write_at(blob, kLevelsAt, static_cast<std::uint8_t>(form.levels));
  std::byte* codes = blob.data() + form.codes_at(values.size());
  const std::uint64_t mixed = rounding_key(key, values);
  std::array<std::uint8_t, kSlice> slice{};
  for (std::size_t first = 0; first < values.size(); first += form.bucket) {
    const auto bucket = values.subspan(first, std::min(form.bucket, values.size() - first));
    const float scale = scale_of(bucket);
    write_at(blob, kScalesAt + sizeof(float) * (first / form.bucket), scale);
    const ToLevels how = to_levels_of(scale, form.levels);
    for (std::size_t at = 0; at < bucket.size(); at += kSlice) {
      const std::size_t count = std::min(kSlice, bucket.size() - at);
      if (stochastic) {
        value_kernels().to_levels(bucket.data() + at, count, how, form.sign_bit(), mixed, static_cast<std::uint32_t>(first + at),
                                  slice.data());
      } else {
        value_kernels().to_nearest(bucket.data() + at, count, how, form.sign_bit(), slice.data());
      }
      value_kernels().pack_codes(slice.data(), count, form.bits(), codes + (first + at) / 8 * form.bits());
    }
  }
}

Status check_buckets(const GradientBlock& block, unsigned levels) {
  if (block.count == 0) return check_plain(block, 0);
  if (block.values.size() < kScalesAt) return {Errc::malformed, "gradient block without its number of levels"};
  const Buckets form = form_of(block.values);
  if (form.bucket < kBucketLeast || form.bucket > kBucketMost || form.bucket % 8 != 0) {
    return {Errc::malformed, "gradient block with buckets of " + std::to_string(form.bucket)};
  }
  if (form.levels < 1 || form.levels > kLevelsMost || (levels != 0 && form.levels != levels)) {
    return {Errc::malformed, "gradient block with " + std::to_string(form.levels) + " levels"};
  }
  if (Status plain = check_plain(block, form.bytes(block.count)); !plain.ok()) return plain;
  const std::size_t scales = (block.count + form.bucket - 1) / form.bucket;
  for (std::size_t i = 0; i < scales; ++i) {
    const auto scale = read_at<float>(block.values, kScalesAt + sizeof(float) * i);
    if (!std::isfinite(scale)) return {Errc::bad_data, "gradient block with a non-finite scale"};
    if (std::signbit(scale)) return {Errc::malformed, "gradient block with a negative scale"};
  }
  if (!is_padded_with_zeros(block.values, block.count, form.bits())) {
    return {Errc::malformed, "gradient block with bits behind its last value"};
  }
  const bool all_codes_are_levels = form.levels == form.sign_bit() - 1;
  const std::byte* codes = block.values.data() + form.codes_at(block.count);
  if (!all_codes_are_levels && !value_kernels().codes_within(codes, form.bits(), form.sign_bit() - 1, form.levels, block.count)) {
    return {Errc::malformed, "gradient block with a level above its highest"};
  }
  return {};
}

void add_buckets(const GradientBlock& block, float weight, std::span<float> target) {
  for_each_bucket(block, weight, [&](std::size_t first, std::size_t count, const std::byte* codes, unsigned bits, const FromCodes& from) {
    value_kernels().add_codes(codes, bits, from, target.data() + first, count);
  });
}

void scatter_buckets(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices, std::span<float> target) {
  for_each_bucket(block, weight, [&](std::size_t first, std::size_t count, const std::byte* codes, unsigned bits, const FromCodes& from) {
    value_kernels().scatter_codes(codes, bits, from, indices.data() + first, target.data(), count);
  });
}

Result<std::size_t> bucket_option(const SpecStage& stage, std::string_view key, std::size_t fallback) {
  const auto bucket = stage.whole(key, static_cast<std::int64_t>(fallback), kBucketLeast, kBucketMost);
  if (!bucket.ok()) return bucket.error();
  if (*bucket % 8 != 0) {
    return {Errc::bad_config, stage.name + ": " + std::string(key) + "=" + std::to_string(*bucket) + " must be a multiple of 8"};
  }
  return static_cast<std::size_t>(*bucket);
}

}  // namespace hourglass::compress
