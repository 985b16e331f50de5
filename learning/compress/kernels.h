// SPDX-License-Identifier: Apache-2.0
// The loops over whole vectors, compiled for any x86-64 and for x86-64-v3. Both give the same bits: sums run in fixed lanes, nothing is
// contracted to fused multiply-adds. Blobs need no alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hourglass::compress {

/// What compact() found; `count` > capacity: it stopped collecting. `finite` speaks of the sum in add_compact().
struct Compacted {
  std::size_t count = 0;
  bool finite = true;
};

/// Magnitudes on either side of a boundary: sums and the number above.
struct LevelSums {
  double low = 0;
  double high = 0;
  std::size_t high_count = 0;
};

struct MagnitudeRange {
  float low = 0;
  float high = 0;
};

/// Of the magnitudes above a boundary.
struct TailMoments {
  double sum = 0;
  double squares = 0;
  std::size_t count = 0;
};

/// The sum of log2 |x| over what is not 0 is `exponents` + log2 `mantissas`; denormals count as the least normal octave.
struct LogSum {
  std::int64_t exponents = 0;
  double mantissas = 1;  ///< in [1, 2)
};

struct RowRange {
  float low = 0;
  float high = 0;
  bool finite = true;
};

/// Slots that compact() may write beyond `capacity`.
inline constexpr std::size_t kCompactSlack = 64;

/// Slots that expand_ones() may write beyond the last.
inline constexpr std::size_t kExpandSlack = 4;

/// Parameters that gap_sums() looks at together.
inline constexpr unsigned kGapSums = 4;

/// What rice_decode() reads: the codes of `count` indices below `length`; parameter <= 31.
struct RiceBlock {
  const std::byte* bytes = nullptr;
  std::size_t size = 0;
  std::size_t count = 0;
  std::uint64_t length = 0;
  unsigned parameter = 0;
};
/// What rice_decode() returns for an index that is not below the length.
inline constexpr std::uint64_t kRiceBeyond = UINT64_MAX;

struct Kernels {
  bool (*finite)(const float* values, std::size_t count);
  float (*largest_magnitude)(const float* values, std::size_t count);  ///< infinity or NaN where there is one; 0 for no values
  /// sum = a + b; false where an element of it is not finite. `sum` may be `a` or `b`.
  bool (*add)(const float* a, const float* b, float* sum, std::size_t count);
  /// Indices and values of the entries whose magnitude has bits >= `at_least` (>= 1), in order. Room for capacity + kCompactSlack.
  Compacted (*compact)(const float* values, std::size_t count, std::uint32_t at_least, std::uint32_t* indices, float* kept,
                       std::size_t capacity);
  /// add() and compact() of the sum in one pass.
  Compacted (*add_compact)(const float* a, const float* b, float* sum, std::size_t count, std::uint32_t at_least, std::uint32_t* indices,
                           float* kept, std::size_t capacity);
  double (*sum_of_squares)(const float* values, std::size_t count);

  /// Round to nearest even; what would round to infinity becomes the largest finite value; infinities and NaN stay such.
  void (*to_bf16)(const float* values, std::byte* out, std::size_t count);
  void (*from_bf16)(const std::byte* values, float* out, std::size_t count);
  bool (*finite_bf16)(const std::byte* values, std::size_t count);
  bool (*finite_f32)(const std::byte* values, std::size_t count);
  /// sum += weight * value.
  void (*add_f32)(const std::byte* values, float* sum, std::size_t count, float weight);
  void (*add_bf16)(const std::byte* values, float* sum, std::size_t count, float weight);
  /// sum += table[code], codes of 2 bits.
  void (*add_two_bits)(const std::byte* codes, const float* table, float* sum, std::size_t count);

  MagnitudeRange (*magnitudes)(const float* values, std::size_t count);  ///< count > 0
  LevelSums (*level_sums)(const float* values, std::size_t count, float boundary);
  /// Code of a value: bit 0 = magnitude > boundary, bit 1 = sign.
  void (*pack_two_bits)(const float* values, std::size_t count, float boundary, std::byte* out);

  std::size_t (*count_ones)(const std::byte* bits, std::size_t bytes);
  /// Positions of the ones, ascending. Room for their number + kExpandSlack.
  void (*expand_ones)(const std::byte* bits, std::size_t bytes, std::uint32_t* positions);

  RowRange (*row_range)(const float* values, std::size_t count);  ///< count > 0
  /// out = floor((value - low) * inverse + u), at most 255, u uniform in [0, 1) from a hash of `key` and the position.
  void (*quantize_row)(const float* values, std::size_t count, float low, float inverse, std::uint64_t key, std::byte* out);
  void (*dequantize_row)(const std::byte* codes, std::size_t count, float low, float step, float* out);

  TailMoments (*tail_moments)(const float* values, std::size_t count, float boundary);
  LogSum (*log_sum)(const float* values, std::size_t count);
  /// sums[j] = sum of gap >> (first + j) over the gaps of ascending indices; first + kGapSums <= 32, count > 0.
  void (*gap_sums)(const std::uint32_t* indices, std::size_t count, unsigned first, std::uint64_t* sums);
  /// Golomb-Rice codes of the gaps. Room for the bytes that they take + 8.
  void (*rice_encode)(const std::uint32_t* indices, std::size_t count, unsigned parameter, std::byte* out);
  /// The bits read (beyond the bytes, zeros are read), or kRiceBeyond.
  std::uint64_t (*rice_decode)(const RiceBlock& block, std::uint32_t* indices);
  /// out = +-scale * value, the signs from `key`. `out` may be `values`.
  void (*flip_signs)(const float* values, std::size_t count, std::uint64_t key, float scale, float* out);
  /// The Walsh-Hadamard transform, in place, without its factor 1 / sqrt(count). `count`: a power of two, at least 8.
  void (*hadamard)(float* values, std::size_t count);
  /// A bit for each: value + dither * u >= 0, u uniform in [-1, 1) from a hash of `key` and the position. `count`: a multiple of 8.
  void (*pack_signs)(const float* values, std::size_t count, float dither, std::uint64_t key, std::byte* out);
  void (*unpack_signs)(const std::byte* bits, std::size_t count, float* out);  ///< +-1

  float (*dot)(const float* a, const float* b, std::size_t count);
  /// target[i][j] += weight * sum over k < rank of left[k][i] * right[k][j], in the order of k; floats of rank x rows and rank x columns.
  void (*add_outer)(const std::byte* left, std::size_t rows, const std::byte* right, std::size_t columns, std::size_t rank, float weight,
                    float* target);
};

/// The fastest that this processor runs.
const Kernels& kernels();
/// The portable ones, for comparison.
const Kernels& baseline_kernels();

}  // namespace hourglass::compress
