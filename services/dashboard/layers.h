// SPDX-License-Identifier: Apache-2.0
// What compression makes of each layer, over all workers: gathered from their metrics "layer.<tensor>.<figure>" (actors/layer_figures.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/monitor_state.h"

namespace hourglass {

/// Means over the workers that report it; kUnknown where none does.
struct LayerState {
  std::string name;  ///< untrusted text
  std::uint32_t workers = 0;
  double density = kUnknown;   ///< entries sent / entries, in [0, 1]
  double bits = kUnknown;      ///< a parameter and push
  double residual = kUnknown;  ///< norm
  double entropy = kUnknown;   ///< normalised, in [0, 1]
};

inline constexpr std::size_t kLayersShown = 64;  ///< whatever is reported: the first ones by name

/// Of the workers that are there, by name: numbers in it count as numbers. Empty where nobody reports any, as without compression.
std::vector<LayerState> layers_of(const DashboardState& state);
/// Layers beyond the number that a worker reports.
std::uint64_t layers_left_out(const DashboardState& state);

}  // namespace hourglass
