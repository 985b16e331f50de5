// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sketch_table.h"

namespace hourglass::compress {
namespace {

struct Cell {
  std::uint32_t value = 0;
  std::uint32_t unknown = 0;  ///< members not yet solved
  std::uint32_t sum = 0;      ///< of their positions, by exclusive or
};

}  // namespace

void add_to_cells(std::span<const std::uint32_t> members, std::span<const std::uint32_t> values, std::uint64_t key,
                  std::span<std::uint32_t> cells) {
  const auto third = static_cast<std::uint32_t>(cells.size() / 3);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Place place = place_in_thirds(key, members[i], third);
    const std::uint32_t value = place.negative ? 0U - values[i] : values[i];
    for (const std::uint32_t cell : place.cells) cells[cell] += value;
  }
}

bool peel(std::span<const std::uint32_t> members, std::span<const std::uint32_t> cells, std::uint64_t key, unsigned bits,
          std::vector<std::uint32_t>& values) {
  const auto third = static_cast<std::uint32_t>(cells.size() / 3);
  std::vector<Cell> table(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) table[i].value = cells[i];
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    for (const std::uint32_t cell : place_in_thirds(key, members[i], third).cells) {
      ++table[cell].unknown;
      table[cell].sum ^= i;
    }
  }
  std::vector<std::uint32_t> single;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    if (table[i].unknown == 1) single.push_back(i);
  }
  values.assign(members.size(), 0);
  std::size_t solved = 0;
  while (!single.empty()) {
    const Cell found = table[single.back()];
    single.pop_back();
    if (found.unknown != 1) continue;  // solved through another cell since
    const Place place = place_in_thirds(key, members[found.sum], third);
    values[found.sum] = place.negative ? 0U - found.value : found.value;
    ++solved;
    for (const std::uint32_t cell : place.cells) {
      table[cell].value -= found.value;
      --table[cell].unknown;
      table[cell].sum ^= found.sum;
      if (table[cell].unknown == 1) single.push_back(cell);
    }
  }
  if (solved != members.size()) return false;
  std::uint32_t rest = 0;
  for (const Cell& cell : table) rest |= cell.value;
  return rest << (32 - bits) == 0;
}

}  // namespace hourglass::compress
