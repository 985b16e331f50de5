// SPDX-License-Identifier: Apache-2.0
// A whole group's compressor: a memory (default: error feedback), a ratio policy if any, and one compressor per range, from one spec:
//   [memory |] [ratio policy |] selector [| value codec] [| index codec]      or      [memory |] transform
// What a block leaves out stays with the memory, and is added to the next one as the memory says.
// Source: Seide et al. 2014; Karimireddy et al. 2019.   p = delta + e;  q = decode(encode(C(p)));  e = p - q.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learning/compress/compressor.h"
#include "learning/compress/memory.h"
#include "learning/compress/ratio_policy.h"

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

  /// Blocks for `delta` + what the memory holds, one per segment that has anything to say (block offsets are group offsets). The memory is
  /// updated against what the receiver will decode, so under error feedback transmitted + residual == delta + old residual, element-wise
  /// and exactly for sparsifiers. Errors: bad_data for input that is not finite, or does not fit what is held; then nothing changes.
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
  /// From the next compress() on, another spec. The memory goes on where the spec's memory stage is the same; else the new one starts from
  /// what the old one held (momentum ends). Ranges' compressors and the ratio policy start afresh. Errors: bad_config for the spec, or
  /// where what is held would be lost ("none", "ef21 of=update"); then nothing changes.
  Status change(std::string_view spec);

  /// Goes on from what another one of the same group held. Errors: bad_config where it would be lost; then nothing changes.
  Status adopt(std::span<const float> held) { return memory_->adopt(held); }
  /// What flush() would send.
  [[nodiscard]] std::span<const float> residual() const { return memory_->held(); }
  [[nodiscard]] double residual_norm() const;
  [[nodiscard]] bool lossless() const { return reach_.lossless; }
  /// True where all that was sent and the residual add up to all updates.
  [[nodiscard]] bool conserves() const { return memory_->conserves(); }

 private:
  ErrorFeedback() = default;
  /// Lets the ratio policy look at the step's sums, which are then added already.
  void set_ratios(std::uint64_t step, std::vector<Addends>& addends);

  std::vector<Segment> segments_;
  std::vector<Range> ranges_;  ///< of the segments
  std::vector<std::unique_ptr<Compressor>> compressors_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<RatioPolicy> policy_;  ///< null: ratios stay
  std::vector<std::size_t> governed_;    ///< segments whose ratio it sets
  std::vector<double> ratios_;           ///< of these
  std::string memory_spec_;
  Reach reach_;
  std::size_t group_size_ = 0;
  bool observes_ = false;
};

}  // namespace hourglass::compress
