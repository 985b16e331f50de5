// SPDX-License-Identifier: Apache-2.0
// Sign and level in units of a scale per bucket, as u8 and qsgd write them. Blob, empty for no values:
//   u32 bucket | u8 levels | f32 scale of each bucket | codes of 1 + bit_width(levels) bits, the sign highest
// value = scale * (+-level / levels); "minus 0" reads as 0.
#pragma once

#include "learning/compress/value_coder.h"
#include "learning/compress/value_kernels.h"

namespace hourglass::compress {

inline constexpr std::size_t kBucketLeast = 64;
inline constexpr std::size_t kBucketMost = 1U << 24;
inline constexpr unsigned kLevelsMost = 127;

/// The part of a block that is one bucket.
struct Buckets {
  std::size_t bucket = 0;  ///< values; a multiple of 8, so that each begins on a byte
  unsigned levels = 0;

  [[nodiscard]] unsigned bits() const;
  [[nodiscard]] unsigned sign_bit() const { return 1U << (bits() - 1); }
  [[nodiscard]] std::size_t codes_at(std::size_t count) const;
  [[nodiscard]] std::size_t bytes(std::size_t count) const { return codes_at(count) + (count * bits() + 7) / 8; }
};

using ScaleOf = float (*)(std::span<const float> values);
float largest_of(std::span<const float> values);
float norm_of(std::span<const float> values);

/// Factors that take [0, scale] to [0, levels].
ToLevels to_levels_of(float scale, unsigned levels);

/// `stochastic`: random rounding, unbiased; else to nearest.
void encode_buckets(std::span<const float> values, const Buckets& form, ScaleOf scale_of, bool stochastic, std::uint64_t key, Bytes& blob);
/// `levels`: the only number of levels allowed, 0: any.
Status check_buckets(const GradientBlock& block, unsigned levels);
void add_buckets(const GradientBlock& block, float weight, std::span<float> target);
void scatter_buckets(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices, std::span<float> target);

/// The option `bucket` or `chunk` of a stage. Errors: bad_config.
Result<std::size_t> bucket_option(const SpecStage& stage, std::string_view key, std::size_t fallback);

}  // namespace hourglass::compress
