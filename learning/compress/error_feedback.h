// SPDX-License-Identifier: Apache-2.0
// A whole group's compressor with error feedback: what a block leaves out stays in a residual and is added to the next one.
// Source: Seide et al. 2014; Karimireddy et al. 2019.   p = delta + e;  q = decode(encode(C(p)));  e = p - q.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "learning/compress/compressor.h"

namespace hourglass::compress {

/// A contiguous range of a group that is compressed by itself.
struct Segment {
  std::size_t offset = 0;
  std::size_t length = 0;
  bool small = false;       ///< biases and the like: sent dense in bf16 where the spec is sparse
  std::size_t columns = 0;  ///< of a matrix, row-major; 0: a vector

  [[nodiscard]] Shape shape() const { return {length, columns == 0 ? length : columns}; }
};

class ErrorFeedback {
 public:
  /// The segments lie side by side, in order, and cover the group. Errors: bad_config.
  static Result<ErrorFeedback> make(std::string_view spec, std::vector<Segment> segments, std::size_t group_size);

  /// Blocks for `delta` + residual, one per segment that has anything to say (block offsets are group offsets). The residual is updated
  /// against what the receiver will decode, so transmitted + residual == delta + old residual, element-wise and exactly for sparsifiers.
  /// Errors: bad_data for non-finite input; then nothing changes.
  Result<std::vector<GradientBlock>> compress(std::span<const float> delta, std::uint64_t step);
  /// Takes back what was transmitted but not applied; of a lossless spec it goes out whole with the next compress(). Errors: as validate();
  /// bad_data where the residual would not stay finite. Then nothing changes.
  Status restore(std::span<const GradientBlock> blocks);
  /// What the aggregator published: selectors that care take their part. Blocks that are not valid are ignored.
  void observe(std::span<const GradientBlock> published);
  /// Which worker this is. Without it: the only one.
  void take_seat(const Seat& seat);
  /// The residual as dense f32 blocks; empties it. For the final flush.
  std::vector<GradientBlock> flush();
  [[nodiscard]] std::span<const float> residual() const { return residual_; }
  [[nodiscard]] double residual_norm() const;
  [[nodiscard]] bool lossless() const { return lossless_; }

 private:
  ErrorFeedback() = default;
  std::vector<Segment> segments_;
  std::vector<std::unique_ptr<Compressor>> compressors_;
  /// Whether delta + residual is finite; `residual_bound_` spares the look at every element.
  [[nodiscard]] bool sum_is_finite(std::span<const float> delta);

  std::vector<float> residual_;  ///< empty where lossless, but between restore() and the next compress()
  double residual_bound_ = 0;    ///< no magnitude in the residual is larger
  std::size_t group_size_ = 0;
  bool lossless_ = false;
  bool observes_ = false;
  bool keeps_range_ = true;
};

}  // namespace hourglass::compress
