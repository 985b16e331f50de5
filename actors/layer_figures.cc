// SPDX-License-Identifier: Apache-2.0
#include "actors/layer_figures.h"

#include <algorithm>
#include <cmath>

#include "learning/compress/entropy_ratio.h"

namespace hourglass {
namespace {
/// Room for the longest figure's name and for " +N".
constexpr std::size_t kNameMax = 96;

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// Of the blocks that the ratio policy would look at.
std::size_t intervals(std::size_t length) { return std::min<std::size_t>(256, std::max<std::size_t>(8, (length + 63) / 64)); }
}  // namespace

std::vector<std::string> layer_names(const std::vector<nn::Parameter>& parameters, const std::vector<compress::Segment>& segments) {
  std::vector<std::string> out;
  for (const compress::Segment& segment : segments) {
    std::string name;
    std::size_t more = 0;
    for (const nn::Parameter& parameter : parameters) {
      if (parameter.offset < segment.offset || parameter.offset >= segment.offset + segment.length) continue;
      if (name.empty()) {
        name = parameter.name.substr(0, kNameMax);
      } else {
        ++more;
      }
    }
    out.push_back(more == 0 ? name : name + " +" + std::to_string(more));
  }
  return out;
}

LayerFigures::LayerFigures(const std::vector<nn::Parameter>& parameters, std::vector<compress::Segment> segments)
    : left_out_(segments.size() - std::min(segments.size(), kLayersMax)) {
  const std::vector<std::string> names = layer_names(parameters, segments);
  for (std::size_t i = 0; i + left_out_ < segments.size(); ++i) {
    if (segments[i].length > 0) layers_.push_back({segments[i], "layer." + names[i] + "."});
  }
}

void LayerFigures::look(Context& context, const params::Replica& replica) {
  if (replica.lossless()) return;
  due_ = !reported_ || context.now() - *reported_ >= kEvery;
  if (!due_) return;
  const std::span<const float> steps = replica.local(), residual = replica.residual();
  for (Layer& layer : layers_) {
    const std::size_t stride = (layer.segment.length + kSampleMax - 1) / kSampleMax;
    sample_.clear();
    for (std::size_t i = layer.segment.offset; i < layer.segment.offset + layer.segment.length; i += stride) {
      sample_.push_back(steps[i] + (residual.empty() ? 0.0F : residual[i]));
    }
    const compress::Entropy entropy = compress::entropy_of_blocks(sample_, intervals(layer.segment.length));
    layer.entropy = entropy.known ? entropy.normalised() : -1;
  }
}

void LayerFigures::pushed(Context& context, const params::Replica& replica) {
  if (replica.lossless()) return;
  ++pushes_;
  count(replica.newest_push());
  if (!due_) return;
  for (Layer& layer : layers_) report(context, layer, replica.residual());
  if (left_out_ > 0) context.gauge("layers_left_out", static_cast<double>(left_out_));
  pushes_ = 0;
  due_ = false;
  reported_ = context.now();
}

/// A block belongs to the layer that it begins in; there may be several, or none.
void LayerFigures::count(std::span<const GradientBlock> blocks) {
  for (const GradientBlock& block : blocks) {
    const auto after = std::upper_bound(layers_.begin(), layers_.end(), block.offset,
                                        [](std::uint64_t offset, const Layer& layer) { return offset < layer.segment.offset; });
    if (after == layers_.begin()) continue;
    Layer& layer = *std::prev(after);
    if (block.offset >= layer.segment.offset + layer.segment.length) continue;
    layer.entries += block.count;
    layer.bytes += block.indices.size() + block.values.size();
  }
}

void LayerFigures::report(Context& context, Layer& layer, std::span<const float> residual) const {
  const double could = static_cast<double>(pushes_) * static_cast<double>(layer.segment.length);
  context.gauge(layer.prefix + "density", static_cast<double>(layer.entries) / could);
  context.gauge(layer.prefix + "bits", 8 * static_cast<double>(layer.bytes) / could);
  if (!residual.empty()) context.gauge(layer.prefix + "residual", norm(residual.subspan(layer.segment.offset, layer.segment.length)));
  if (layer.entropy >= 0) context.gauge(layer.prefix + "entropy", layer.entropy);
  layer.entries = layer.bytes = 0;
}

}  // namespace hourglass
