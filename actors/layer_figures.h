// SPDX-License-Identifier: Apache-2.0
// What compression makes of each layer, as gauges of the worker that pushes: "layer.<tensor>.<figure>".
//   density    entries sent / entries, over the pushes since the last report
//   bits       8 * bytes of indices and values / entries, over the same pushes: without a block's header and a message's
//   residual   Euclidean norm of what compression holds back after the newest push
//   entropy    normalised entropy in [0, 1] of the magnitudes of local steps + residual, by blocks as the ratio policy `entropy` has them
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/job_model.h"
#include "learning/params/replica.h"
#include "runtime/context.h"

namespace hourglass {

/// Rows of a group: a layer is a range that is compressed by itself. One of several small tensors is called by its first one: "conv1.bias
/// +2".
std::vector<std::string> layer_names(const std::vector<nn::Parameter>& parameters, const std::vector<compress::Segment>& segments);

/// Counts each push, looks at values at most once a second. Says nothing where compression is lossless.
class LayerFigures {
 public:
  static constexpr std::size_t kLayersMax = 32;        ///< reported; "layers_left_out" counts the others
  static constexpr std::size_t kSampleMax = 1U << 15;  ///< values of a layer that entropy is taken of
  static constexpr Duration kEvery = std::chrono::seconds(1);

  LayerFigures(const std::vector<nn::Parameter>& parameters, std::vector<compress::Segment> segments);

  /// Before a push: of what it will compress.
  void look(Context& context, const params::Replica& replica);
  /// After it was made.
  void pushed(Context& context, const params::Replica& replica);

 private:
  struct Layer {
    compress::Segment segment;
    std::string prefix;
    std::uint64_t entries = 0, bytes = 0;  ///< since the last report
    double entropy = -1;                   ///< below 0: not known
  };
  void count(std::span<const GradientBlock> blocks);
  void report(Context& context, Layer& layer, std::span<const float> residual) const;

  std::vector<Layer> layers_;
  std::size_t left_out_ = 0;
  std::uint64_t pushes_ = 0;  ///< since the last report
  bool due_ = false;
  std::optional<Instant> reported_;
  std::vector<float> sample_;
};

}  // namespace hourglass
