// SPDX-License-Identifier: Apache-2.0
// What the tests of selectors share.
#pragma once

#include <algorithm>
#include <numeric>

#include "learning/compress/selection.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {

inline Result<std::unique_ptr<Selector>> try_selector(const std::string& spec, const Shape& shape = {}) {
  const auto stages = parse_spec(spec);
  HG_CHECK(stages.ok(), "spec");
  const Stage* row = find_stage(stages->front().name);
  HG_CHECK(row != nullptr && row->make_selector != nullptr, "a selector");
  return row->make_selector(stages->front(), shape);
}
inline std::unique_ptr<Selector> selector_of(const std::string& spec) {
  auto made = try_selector(spec);
  HG_CHECK(made.ok(), made.ok() ? "" : made.error().text);
  return std::move(made).value();
}
inline Entries selected(Selector& selector, std::span<const float> values, std::uint64_t step = 0) {
  Entries out;
  HG_CHECK(selector.select(values, step, out), "a sparse selector");
  HG_CHECK(out.indices.size() == out.values.size(), "an index for each value");
  return out;
}
/// The same by add_select() of two halves that add up exactly.
inline Entries selected_of_sum(Selector& selector, std::span<const float> values, std::uint64_t step = 0) {
  std::vector<float> half(values.begin(), values.end());
  for (float& value : half) value *= 0.5F;
  std::vector<float> sum(values.size());
  Entries out;
  const auto done = selector.add_select(half, half, sum, step, out);
  HG_CHECK(done.ok() && *done, "a sparse selector");
  return out;
}

/// The k largest by the definition (|x| descending, index ascending, no zeros), ascending.
inline std::vector<std::uint32_t> largest_of(std::span<const float> values, std::size_t k) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return std::abs(values[a]) > std::abs(values[b]); });
  order.resize(std::min(k, order.size()));
  std::erase_if(order, [&](std::uint32_t index) { return values[index] == 0; });
  std::sort(order.begin(), order.end());
  return order;
}

/// Indices ascending and within the range, values those of the range, none 0.
inline bool are_entries_of(const Entries& entries, std::span<const float> values) {
  for (std::size_t i = 0; i < entries.indices.size(); ++i) {
    if (i > 0 && entries.indices[i] <= entries.indices[i - 1]) return false;
    if (entries.indices[i] >= values.size() || entries.values[i] != values[entries.indices[i]] || entries.values[i] == 0) return false;
  }
  return true;
}

enum class Tail { exponential, gamma, gpareto, normal };
/// Magnitudes of that distribution with random signs: gamma of shape 0.5, gpareto of shape 0.25.
inline std::vector<float> tail_vector(Tail tail, std::size_t length, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> out(length);
  for (float& value : out) {
    const double uniform = 1 - random.uniform();
    const double normal = random.normal();
    double magnitude = std::abs(normal);
    if (tail == Tail::exponential) magnitude = -std::log(uniform);
    if (tail == Tail::gamma) magnitude = normal * normal / 2;  // chi-squared of one degree, halved
    if (tail == Tail::gpareto) magnitude = (std::pow(uniform, -0.25) - 1) / 0.25;
    value = static_cast<float>(random.below(2) == 0 ? magnitude : -magnitude);
  }
  return out;
}

/// Whether the largest entry at the last place is sent with its index, at lengths beyond 16 bits and beyond 2^22.
inline bool sends_the_last(const std::string& spec) {
  for (const std::size_t length : {70000UL, 5000000UL}) {
    std::vector<float> values(length);
    for (std::size_t i = 0; i < length; ++i) values[i] = 1e-3F * static_cast<float>(1 + i * 7919 % 1000);
    values.back() = -9.0F;
    const auto selector = selector_of(spec);
    const Entries sent = selected(*selector, values);
    if (sent.indices.empty() || sent.indices.back() != length - 1 || sent.values.back() != -9.0F) return false;
  }
  return true;
}

inline bool refuses(std::initializer_list<const char*> specs) {
  return std::all_of(specs.begin(), specs.end(), [](const char* spec) {
    const auto made = try_selector(spec);
    return !made.ok() && made.error().code == Errc::bad_config;
  });
}

}  // namespace hourglass::compress::testing
