// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/layers.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace hourglass {
namespace {
constexpr std::string_view kPrefix = "layer.";

struct Figure {
  std::string_view name;
  double LayerState::*place;
  double most;  ///< reports come from the network
};
constexpr std::array<Figure, 4> kFigures = {{{"density", &LayerState::density, 1},
                                             {"bits", &LayerState::bits, 1024},
                                             {"residual", &LayerState::residual, 1e18},
                                             {"entropy", &LayerState::entropy, 1}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// conv2 before conv10.
struct Naturally {
  bool operator()(std::string_view a, std::string_view b) const {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      if (is_digit(a[i]) && is_digit(b[j])) {
        const auto number = [](std::string_view text, std::size_t& at) {
          while (at + 1 < text.size() && text[at] == '0' && is_digit(text[at + 1])) ++at;
          const std::size_t from = at;
          while (at < text.size() && is_digit(text[at])) ++at;
          return text.substr(from, at - from);
        };
        const std::string_view x = number(a, i), y = number(b, j);
        if (x.size() != y.size()) return x.size() < y.size();
        if (x != y) return x < y;
      } else if (a[i] != b[j]) {
        return a[i] < b[j];
      } else {
        ++i;
        ++j;
      }
    }
    if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
    return a < b;  // "conv01" and "conv1" are two
  }
};

struct Sums {
  std::array<double, kFigures.size()> sums{};
  std::array<std::uint32_t, kFigures.size()> counts{};
};
using Table = std::map<std::string_view, Sums, Naturally>;

void add(Table& table, const MetricValue& value) {
  std::string_view name = value.name;
  if (!name.starts_with(kPrefix)) return;
  name.remove_prefix(kPrefix.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return;
  for (std::size_t i = 0; i < kFigures.size(); ++i) {
    if (name.substr(dot + 1) != kFigures[i].name) continue;
    Sums& row = table[name.substr(0, dot)];
    row.sums[i] += std::clamp(value.value, 0.0, kFigures[i].most);
    ++row.counts[i];
  }
}

/// At the end of a run everybody leaves, and then all count.
bool counts(const DashboardState& state, const ActorState& actor) {
  const bool pushes = actor.id.role == Role::conv_worker || actor.id.role == Role::fc_worker;
  return pushes && actor.metrics && (actor.presence != Presence::gone || state.closed);
}
}  // namespace

std::vector<LayerState> layers_of(const DashboardState& state) {
  Table table;
  for (const ActorState& actor : state.actors) {
    if (!counts(state, actor)) continue;
    for (const MetricValue& value : *actor.metrics) add(table, value);
  }
  std::vector<LayerState> out;
  for (const auto& [name, row] : table) {
    if (out.size() >= kLayersShown) break;
    LayerState& layer = out.emplace_back();
    layer.name = name;
    for (std::size_t i = 0; i < kFigures.size(); ++i) {
      layer.workers = std::max(layer.workers, row.counts[i]);
      if (row.counts[i] > 0) layer.*kFigures[i].place = row.sums[i] / row.counts[i];
    }
  }
  return out;
}

std::uint64_t layers_left_out(const DashboardState& state) {
  double most = 0;
  for (const ActorState& actor : state.actors) {
    if (!counts(state, actor)) continue;
    for (const MetricValue& value : *actor.metrics) {
      if (value.name == "layers_left_out") most = std::max(most, std::min(value.value, 1e6));
    }
  }
  return static_cast<std::uint64_t>(most);
}

}  // namespace hourglass
