// SPDX-License-Identifier: Apache-2.0
// Vectors and specs that the tests of this folder share.
#pragma once

#include <cfloat>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "learning/compress/compressor.h"
#include "learning/compress/plan.h"

namespace hourglass::compress::testing {

inline std::vector<float> normal_vector(std::size_t length, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> out(length);
  for (auto& value : out) value = static_cast<float>(random.normal());
  return out;
}

inline Result<std::unique_ptr<Compressor>> try_compressor(std::string_view spec, std::size_t length = 0) {
  return make_compressor(spec, Shape::vector(length));
}
/// `columns`: of a matrix; 0: a vector.
inline std::unique_ptr<Compressor> compressor_of(std::string_view spec, std::size_t length, std::size_t columns = 0) {
  auto made = make_compressor(spec, {length, columns == 0 ? length : columns});
  HG_CHECK(made.ok(), made.ok() ? "" : made.error().text);
  return std::move(made).value();
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

/// Every row's example; topk with every value codec, and with every index codec under those that are used most; every selector with the
/// codecs that are used most.
inline std::vector<std::string> all_specs() {
  std::vector<std::string> values = {""};
  std::vector<std::string> indices = {""};
  std::set<std::string> out;
  for (const CompressRow& row : registry()) {
    const std::string name(row.name);
    if (row.kind == StageKind::value_codec) values.push_back(" | " + name);
    if (row.kind == StageKind::index_codec) indices.push_back(" | " + name);
  }
#ifndef __SANITIZE_ADDRESS__  // what reads past its memory does so in a row's own example; the crossings take ten minutes there
  for (const auto& value : values) {
    out.insert("dense" + value);
    for (const auto& index : indices) {
      if (index.empty() || index == " | rice" || value.empty() || value == " | two_level") out.insert("topk ratio=0.01" + value + index);
      if (value.empty() || value == " | two_level") {
        out.insert("topk ratio=0.001" + value + index);
        out.insert("topk ratio=1" + value + index);
      }
    }
  }
#endif
  for (const CompressRow& row : registry()) {
    if (row.kind == StageKind::memory || row.kind == StageKind::ratio) continue;  // a group's, not a range's
    out.insert(std::string(row.example));
    if (row.kind == StageKind::selector && row.name != "dense") out.insert(std::string(row.example) + " | two_level | rice");
  }
  return {out.begin(), out.end()};
}

/// What the stages of a spec promise together.
struct Promise {
  Traits traits;
  bool dense = false;
  bool exact_values = true;  ///< what is sent is sent as it is
};
inline Promise promise_of(const std::string& spec) {
  Promise out;
  const Plan plan = plan_of(spec).value();
  out.traits.counts = plan.selector && plan.selector->row->row.traits.counts &&
                      (!plan.index || plan.index->row->index_coder == nullptr || plan.index->row->index_coder->exact());
  out.dense = plan.selector && plan.selector->spec.name == "dense";
  out.exact_values = !plan.transform && (!plan.value || plan.value->spec.name == "f32");
  for (const auto& stage : {plan.selector, plan.transform, plan.value, plan.index}) {
    if (!stage) continue;
    const Traits& traits = stage->row->row.traits;
    out.traits.remembers = out.traits.remembers || traits.remembers;
    out.traits.always_sends = out.traits.always_sends && traits.always_sends;
    out.traits.keeps_sign = out.traits.keeps_sign && traits.keeps_sign;
    // Among chosen entries there are no zeros.
    out.traits.keeps_zero = out.traits.keeps_zero && (traits.keeps_zero || (plan.selector && !out.dense && out.traits.counts));
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
