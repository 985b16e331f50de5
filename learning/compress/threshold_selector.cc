// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/threshold_selector.h"

namespace hourglass::compress {

bool ThresholdSelector::select(std::span<const float> values, std::uint64_t step, Entries& chosen) {
  const std::size_t k = begin(values.size(), chosen);
  if (k == 0) return true;
  if (gathers_all(values.size(), k)) {
    select_largest(values, k, chosen);
    return true;
  }
  const std::uint32_t known = reused_.bits();
  if (known == 0 || !reuse(collect(values, known, room(values.size(), k), chosen), values.size(), k, chosen))
    search(values, k, step, chosen);
  return true;
}

Result<bool> ThresholdSelector::add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t step,
                                           Entries& chosen) {
  const std::size_t k = begin(sum.size(), chosen);
  const std::uint32_t known = reused_.bits();
  if (k == 0 || known == 0 || gathers_all(sum.size(), k)) return Selector::add_select(a, b, sum, step, chosen);
  const Result<std::size_t> found = add_collect(a, b, sum, known, room(sum.size(), k), chosen);
  if (!found.ok()) return found.error();
  if (!reuse(*found, sum.size(), k, chosen)) search(sum, k, step, chosen);
  return true;
}

void ThresholdSelector::set_ratio(double ratio) {
  if (ratio != ratio_) reused_.forget();
  ratio_ = ratio;
}

std::size_t ThresholdSelector::begin(std::size_t length, Entries& chosen) {
  chosen.indices.clear();
  chosen.values.clear();
  if (length != length_) reused_.forget();
  length_ = length;
  return entries_at(ratio_, length);
}

bool ThresholdSelector::reuse(std::size_t found, std::size_t length, std::size_t k, Entries& chosen) {
  if (!accept(found, length, k, chosen)) {
    reused_.forget();
    return false;
  }
  reused_.use();
  return true;
}

}  // namespace hourglass::compress
