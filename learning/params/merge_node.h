// SPDX-License-Identifier: Apache-2.0
// What a tree node does with its children's pushes: adds them index by index, forwards the largest, holds the rest.
//   M = E + sum of children's pushes;  K = min(ceil(keep k), |M|);  forwarded = decode(encode(the K largest of M));  E = M - forwarded
// per segment, k being the largest number of entries that one child pushed of it since the last forward.
// keep = 1 gives gTop-k's numbers of entries (Shi et al., ICDCS 2019, 1901.04359); keep = the number of children forwards everything.
//
// gTop-k drops at each inner node what is not among the k largest, and workers take back only those of their entries whose index did not
// reach the root: an entry dropped in one subtree whose index arrives through another is lost. Here the node owns what it does not forward,
// so sum of workers' residuals + sum of nodes' E + applied == sum of gradients, and workers need not learn which indices arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learning/compress/error_feedback.h"

namespace hourglass::params {

class MergeNode {
 public:
  static constexpr double kKeepMin = 0.01;
  static constexpr double kKeepMax = 1024;
  /// No magnitude that a push could give the residual is larger: sums of what is held stay finite.
  static constexpr double kMagnitudeMax = 1e30;

  /// `spec`: of the children's pushes. Its codecs are used again, what they round off stays in E; its selector, unless it is dense, becomes
  /// the K largest; memory and ratio policy are the workers' own. Small segments go out whole, in bf16, as workers
  /// send them. Errors: bad_config.
  static Result<MergeNode> make(std::string_view spec, double keep, std::vector<compress::Segment> segments, std::size_t group_size);

  /// A child's push; `counts`: it decides about k, which a final flush, being dense, should not. Errors: as compress::validate(); bad_data
  /// where E could pass kMagnitudeMax. Then nothing changes.
  Status add(std::span<const GradientBlock> blocks, bool counts = true);
  /// What goes to the parent now: one block for each segment of which a child has pushed something since the last time.
  std::vector<GradientBlock> take(std::uint64_t step);
  /// Takes back what was forwarded but not applied. The blocks are this node's own.
  void restore(std::span<const GradientBlock> blocks);
  /// All of E as dense f32 blocks; empties it.
  std::vector<GradientBlock> flush();

  [[nodiscard]] std::span<const float> residual() const { return residual_; }
  [[nodiscard]] double residual_norm() const;
  [[nodiscard]] bool empty() const;  ///< E is zero everywhere

 private:
  MergeNode() = default;
  void note_entries(std::span<const GradientBlock> blocks);

  double keep_ = 1;
  std::vector<compress::Segment> segments_;
  std::vector<std::unique_ptr<compress::Compressor>> compressors_;
  std::vector<std::uint64_t> largest_;  ///< k of each segment
  std::vector<float> residual_;         ///< E, and what was added since the last take()
  double bound_ = 0;                    ///< no magnitude in the residual is larger
  bool keeps_range_ = true;
};

}  // namespace hourglass::params
