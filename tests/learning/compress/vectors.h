// SPDX-License-Identifier: Apache-2.0
// Vectors and specs that the tests of this folder share.
#pragma once

#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "learning/compress/compressor.h"

namespace hourglass::compress::testing {

inline std::vector<float> normal_vector(std::size_t length, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> out(length);
  for (auto& value : out) value = static_cast<float>(random.normal());
  return out;
}

struct NamedVector {
  std::string name;
  std::vector<float> values;
};

/// Lengths at the edges, and the contents that broke other people's compressors (C5, C7, C8, C23).
inline std::vector<NamedVector> hard_vectors() {
  std::vector<NamedVector> out;
  for (const std::size_t length : {0UL, 1UL, 17UL, 4096UL, 100000UL})
    out.push_back({"normal_" + std::to_string(length), normal_vector(length, length + 1)});
  out.push_back({"C8_all_zero", std::vector<float>(1000, 0.0F)});
  out.push_back({"C7_constant", std::vector<float>(5000, -0.25F)});
  std::vector<float> outlier = normal_vector(5000, 5);
  outlier[4321] = 1e30F;
  out.push_back({"C7_outlier", outlier});
  std::vector<float> largest(300, 1.0F);
  largest[7] = FLT_MAX;
  largest[8] = -FLT_MAX;
  out.push_back({"C7_max_float", largest});
  std::vector<float> tiny(5000);
  for (std::size_t i = 0; i < tiny.size(); ++i) tiny[i] = static_cast<float>(i % 97) * (i % 2 == 0 ? FLT_TRUE_MIN : -FLT_TRUE_MIN);
  out.push_back({"C7_denormal", tiny});
  std::vector<float> negative = normal_vector(6000, 23);
  for (auto& value : negative) value = -std::abs(value);
  out.push_back({"C23_all_negative", negative});
  std::vector<float> zeros(9000, -0.0F);
  zeros[0] = 1.0F;
  zeros[8999] = -2.0F;
  out.push_back({"signed_zeros", zeros});
  out.push_back({"no_zero", std::vector<float>(64, 3.0F)});
  return out;
}

/// Every composition that the registry allows; topk at three ratios.
inline std::vector<std::string> all_specs() {
  std::vector<std::string> selectors;
  std::vector<std::string> values = {""};
  std::vector<std::string> indices = {""};
  for (const CompressRow& row : registry()) {
    const std::string name(row.name);
    if (row.kind == StageKind::value_codec) values.push_back(" | " + name);
    if (row.kind == StageKind::index_codec) indices.push_back(" | " + name);
    if (row.kind != StageKind::selector) continue;
    if (name == "topk") {
      for (const char* ratio : {"0.001", "0.01", "1"}) selectors.push_back(name + " ratio=" + ratio);
    } else {
      selectors.push_back(name);
    }
  }
  std::vector<std::string> out;
  for (const auto& selector : selectors) {
    for (const auto& value : values) {
      for (const auto& index : indices) {
        if (selector == "dense" && !index.empty()) continue;
        out.push_back(selector + value + index);
      }
    }
  }
  return out;
}

inline std::vector<float> decoded(const GradientBlock& block, std::size_t length) {
  std::vector<float> out(length, 0.0F);
  const Status status = accumulate(block, out);
  HG_CHECK(status.ok(), status.ok() ? "" : status.error().text);
  return out;
}

inline bool equal(const GradientBlock& a, const GradientBlock& b) {
  return a.offset == b.offset && a.length == b.length && a.count == b.count && a.index_codec == b.index_codec &&
         a.value_codec == b.value_codec && a.rice_bits == b.rice_bits && a.low == b.low && a.high == b.high && a.indices == b.indices &&
         a.values == b.values;
}

inline std::size_t payload(const GradientBlock& block) { return block.indices.size() + block.values.size(); }

}  // namespace hourglass::compress::testing
