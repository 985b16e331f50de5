// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/boundary_places.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

#include "learning/compress/bitmap.h"
#include "learning/compress/kernels.h"
#include "learning/compress/rice.h"
#include "learning/compress/topk.h"

namespace hourglass::compress {
namespace {

constexpr int kThresholdRounds = 32;  ///< more than ever needed; without convergence the draw is as unbiased, only less even

std::uint32_t magnitude_bits(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7fffffffU; }

/// Appends the entries of a range with magnitude bits >= `at_least`; returns how many.
std::size_t append(std::span<const float> values, std::size_t offset, std::uint32_t at_least, BoundaryEntries& out) {
  const std::size_t before = out.positions.size();
  out.positions.resize(before + values.size() + kCompactSlack);
  out.values.resize(before + values.size() + kCompactSlack);
  const std::size_t found =
      kernels()
          .compact(values.data(), values.size(), at_least, out.positions.data() + before, out.values.data() + before, values.size())
          .count;
  out.positions.resize(before + found);
  out.values.resize(before + found);
  for (std::size_t i = before; i < out.positions.size(); ++i) out.positions[i] += static_cast<std::uint32_t>(offset);
  return found;
}

void choose_largest(std::span<const float> row, std::size_t offset, std::size_t k, BoundaryEntries& out) {
  if (row.empty()) return;
  const RankedMagnitude last = find_magnitude(row, k);
  const std::size_t before = out.positions.size();
  if (append(row, offset, std::max(last.bits, 1U), out) <= k) return;
  std::size_t ties = k - last.larger;
  std::size_t end = before;
  for (std::size_t i = before; i < out.positions.size(); ++i) {
    const bool tie = magnitude_bits(out.values[i]) == last.bits;
    if (tie && ties == 0) continue;
    ties -= static_cast<std::size_t>(tie);
    out.positions[end] = out.positions[i];
    out.values[end++] = out.values[i];
  }
  out.positions.resize(end);
  out.values.resize(end);
}

/// t of p = min(1, |x| / t): what reaches t is certain, the rest shares what is left of k. Infinity-free only for finite rows.
double threshold_of(std::span<const float> values, std::size_t k) {
  double threshold = 0;
  for (int round = 0; round < kThresholdRounds; ++round) {
    double sum = 0;
    std::size_t certain = 0;
    for (const float value : values) {
      const double magnitude = std::abs(static_cast<double>(value));
      const bool is_certain = round > 0 && magnitude >= threshold;
      certain += static_cast<std::size_t>(is_certain);
      sum += is_certain ? 0 : magnitude;
    }
    if (certain >= k) return threshold;
    const double next = sum / static_cast<double>(k - certain);
    if (round > 0 && !(next < threshold)) return threshold;
    threshold = next;
  }
  return threshold;
}

void choose_sampled(std::span<const float> row, std::size_t offset, std::size_t k, double uniform, BoundaryEntries& out) {
  const std::size_t before = out.positions.size();
  const std::size_t found = append(row, offset, 1, out);
  const auto kept = std::span<const float>(out.values).subspan(before);
  if (found <= k || !kernels().finite(kept.data(), found)) return;
  const double threshold = threshold_of(kept, k);
  const auto raised = static_cast<float>(std::min<double>(threshold, FLT_MAX));
  double reached = uniform;  // an entry is kept where the running sum of probabilities, begun at `uniform`, passes a whole number
  std::size_t end = before;
  for (std::size_t i = before; i < before + found; ++i) {
    const double share = std::abs(static_cast<double>(out.values[i])) / threshold;
    bool chosen = share >= 1;
    if (!chosen) {
      reached += share;
      chosen = reached >= 1;
      reached -= chosen ? 1 : 0;
    }
    if (!chosen) continue;
    const float value = share >= 1 ? out.values[i] : std::copysign(raised, out.values[i]);
    out.positions[end] = out.positions[i];
    out.values[end++] = value;
  }
  out.positions.resize(end);
  out.values.resize(end);
}

GradientBlock as_block(const BoundaryTensor& tensor, std::size_t size) {
  GradientBlock block;
  block.length = size;
  block.count = tensor.count;
  return block;
}

}  // namespace

BoundaryEntries choose_entries(std::span<const float> values, std::size_t rows, std::size_t columns, const BoundarySpec& spec,
                               Random& random) {
  BoundaryEntries out;
  if (spec.keep == BoundaryKeep::zeros) {
    append(values, 0, 1, out);
    return out;
  }
  const std::size_t k = spec.kept_of(columns);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = values.subspan(r * columns, columns);
    if (spec.keep == BoundaryKeep::topk) {
      choose_largest(row, r * columns, k, out);
    } else {
      choose_sampled(row, r * columns, k, random.uniform(), out);
    }
  }
  return out;
}

void write_places(std::span<const std::uint32_t> positions, std::size_t size, BoundaryTensor& tensor) {
  tensor.count = static_cast<std::uint32_t>(positions.size());
  GradientBlock block = as_block(tensor, size);
  const bool dense = positions.size() > size / 4;  // there Rice codes are hardly smaller, and slower
  if (dense || rice_coder().bytes(positions, size) + 1 >= (size + 7) / 8) {
    tensor.kept = BoundaryPlaces::bitmap;
    bitmap_coder().encode(positions, size, block);
    tensor.places = std::move(block.indices);
    return;
  }
  tensor.kept = BoundaryPlaces::rice;
  rice_coder().encode(positions, size, block);
  tensor.places.reserve(block.indices.size() + 1);
  tensor.places.push_back(static_cast<std::byte>(block.rice_bits));
  tensor.places.insert(tensor.places.end(), block.indices.begin(), block.indices.end());
}

Status read_places(const BoundaryTensor& tensor, std::size_t size, std::vector<std::uint32_t>& positions) {
  GradientBlock block = as_block(tensor, size);
  if (tensor.kept == BoundaryPlaces::bitmap) {
    block.indices = tensor.places;
    return bitmap_coder().decode(block, positions);
  }
  if (tensor.places.empty()) return {Errc::malformed, "boundary tensor without its Rice parameter"};
  block.rice_bits = static_cast<std::uint8_t>(tensor.places.front());
  block.indices.assign(tensor.places.begin() + 1, tensor.places.end());
  return rice_coder().decode(block, positions);
}

}  // namespace hourglass::compress
