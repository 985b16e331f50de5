// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/count_sketch.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "learning/compress/kernels.h"
#include "learning/compress/sketch_blob.h"
#include "learning/compress/sketch_table.h"
#include "learning/compress/whole.h"

namespace hourglass::compress {
namespace {

constexpr double kEstimateShare = 0.005;  // sparsity 0.02 times rank 0.25, the source's choice for embeddings
constexpr std::uint32_t kEstimateCellsMin = 16;
constexpr double kPeelShares[] = {1.3, 1.45, 1.7};
constexpr std::size_t kPeelCellsMore = 12;
constexpr int kNoExponent = 1000;

/// 2^exponent for -1022 <= exponent <= 1023.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52); }

std::uint32_t in_threes(double cells) { return 3 * static_cast<std::uint32_t>(std::max(1.0, std::ceil(cells / 3))); }

struct Options {
  bool exact = true;
  double share = 0;
  std::uint8_t cell_bytes = 4;
  int exponent = kNoExponent;
  std::uint32_t unit = 1;
};

class CountSketch final : public Transform {
 public:
  explicit CountSketch(Options options) : options_(options) {}

  void encode(std::span<const float> values, std::uint64_t key, GradientBlock& block) override {
    Sketch sketch;
    sketch.key = key;
    sketch.unit = options_.unit;
    sketch.length = values.size();
    if (options_.exact) {
      encode_exact(values, sketch);
    } else {
      encode_estimate(values, sketch);
    }
    write_sketch(sketch, block);
  }

 private:
  void encode_estimate(std::span<const float> values, Sketch& sketch) const {
    sketch.form = SketchForm::estimate;
    const double share = options_.share == 0 ? kEstimateShare : options_.share;
    sketch.cells = std::max(kEstimateCellsMin, static_cast<std::uint32_t>(std::ceil(share * static_cast<double>(values.size()))));
    std::vector<double> table(sketch.cells, 0.0);
    for (std::size_t begin = 0; begin < values.size(); begin += sketch.unit) {
      const std::size_t end = std::min(begin + sketch.unit, values.size());
      bool any = false;
      for (std::size_t i = begin; i < end; ++i) {
        if (values[i] == 0) continue;
        any = true;
        const Place place = place_in_one(sketch.key, static_cast<std::uint32_t>(i), sketch.cells);
        table[place.cells[0]] += place.negative ? -static_cast<double>(values[i]) : values[i];
      }
      if (any) sketch.units.push_back(static_cast<std::uint32_t>(begin / sketch.unit));
    }
    sketch.values.reserve(table.size());
    for (const double cell : table) {
      sketch.values.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(std::clamp<double>(cell, -FLT_MAX, FLT_MAX))));
    }
  }

  void encode_exact(std::span<const float> values, Sketch& sketch) const {
    sketch.form = SketchForm::exact;
    sketch.cell_bytes = options_.cell_bytes;
    sketch.exponent = static_cast<std::int16_t>(options_.exponent == kNoExponent ? exponent_for(values) : options_.exponent);
    std::vector<std::uint32_t> integers;
    round_units(values, sketch, integers);
    const std::vector<std::uint32_t> members = sketch.members();
    const bool fixed = options_.share != 0;
    for (const double share : kPeelShares) {
      sketch.cells = in_threes(fixed ? options_.share * static_cast<double>(values.size())
                                     : share * static_cast<double>(members.size()) + static_cast<double>(kPeelCellsMore));
      if (members.empty() || members.size() > sketch.cells) break;
      sketch.values.assign(sketch.cells, 0);
      add_to_cells(members, integers, sketch.key, sketch.values);
      std::vector<std::uint32_t> peeled;
      if (peel(members, sketch.values, sketch.key, 8U * sketch.cell_bytes, peeled)) return;
      if (fixed) break;
    }
    sketch.form = SketchForm::integers;
    sketch.values = std::move(integers);
  }

  [[nodiscard]] int exponent_for(std::span<const float> values) const {
    const float largest = kernels().largest_magnitude(values.data(), values.size());
    if (largest == 0) return 0;
    return std::clamp(std::ilogb(largest) - (options_.cell_bytes == 4 ? 20 : 12), kExponentMin, kExponentMax);
  }

  /// The units that are not all zero, in steps of 2^exponent, and the integers of all their members.
  static void round_units(std::span<const float> values, Sketch& sketch, std::vector<std::uint32_t>& integers) {
    const double steps = power_of_two(-sketch.exponent);
    const double largest = std::min(sketch.cell_bytes == 4 ? 0x1p30 : 0x1p14, std::floor(FLT_MAX * steps));
    for (std::size_t begin = 0; begin < values.size(); begin += sketch.unit) {
      const std::size_t end = std::min(begin + sketch.unit, values.size());
      const std::size_t before = integers.size();
      bool any = false;
      for (std::size_t i = begin; i < end; ++i) {
        const double scaled = std::clamp(values[i] * steps, -largest, largest);
        const auto rounded = static_cast<std::int32_t>(scaled + (scaled < 0 ? -0.5 : 0.5));
        any = any || rounded != 0;
        integers.push_back(static_cast<std::uint32_t>(rounded));
      }
      if (any) {
        sketch.units.push_back(static_cast<std::uint32_t>(begin / sketch.unit));
      } else {
        integers.resize(before);
      }
    }
  }

  Options options_;
};

class CountSketchDecoder final : public WholeDecoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::count_sketch; }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    const Result<Sketch> sketch = read_sketch(block);
    if (!sketch.ok()) return sketch.error();
    if (sketch->form == SketchForm::estimate) return {};
    const auto integers = integers_of(*sketch, sketch->members());
    if (!integers.ok()) return integers.error();
    const double largest = FLT_MAX / power_of_two(sketch->exponent);
    for (const std::uint32_t value : *integers) {
      if (std::abs(static_cast<double>(sketch->integer(value))) > largest) return {Errc::bad_data, "sketch of a value that is no float"};
    }
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    const Sketch sketch = read_sketch(block).value();
    const std::vector<std::uint32_t> members = sketch.members();
    if (sketch.form == SketchForm::estimate) {
      for (const std::uint32_t member : members) {
        const Place place = place_in_one(sketch.key, member, sketch.cells);
        const auto cell = std::bit_cast<float>(sketch.values[place.cells[0]]);
        target[member] += weight * (place.negative ? -cell : cell);
      }
      return;
    }
    const std::vector<std::uint32_t> integers = integers_of(sketch, members).value();
    const double step = power_of_two(sketch.exponent);
    for (std::size_t i = 0; i < members.size(); ++i) {
      target[members[i]] += weight * static_cast<float>(step * sketch.integer(integers[i]));
    }
  }
};

/// The table, where the integers themselves were sent, too.
std::vector<std::uint32_t> table_of(const Sketch& sketch) {
  if (sketch.form == SketchForm::exact) return sketch.values;
  std::vector<std::uint32_t> table(sketch.cells, 0);
  add_to_cells(sketch.members(), sketch.values, sketch.key, table);
  return table;
}

Status add_integers(const Sketch& part, const std::vector<std::uint32_t>& members, std::vector<std::uint32_t>& sums) {
  const std::vector<std::uint32_t> own = part.members();
  const auto integers = integers_of(part, own);
  if (!integers.ok()) return integers.error();
  std::size_t at = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    while (members[at] != own[i]) ++at;
    sums[at] += (*integers)[i];
  }
  return {};
}

Status merge_exact(const Sketch& a, const Sketch& b, Sketch& sum) {
  const std::vector<std::uint32_t> members = sum.members();
  sum.form = SketchForm::exact;
  if (!members.empty() && members.size() <= sum.cells) {
    sum.values = table_of(a);
    const std::vector<std::uint32_t> other = table_of(b);
    for (std::size_t i = 0; i < other.size(); ++i) sum.values[i] += other[i];
    std::vector<std::uint32_t> peeled;
    if (peel(members, sum.values, sum.key, 8U * sum.cell_bytes, peeled)) return {};
  }
  sum.form = SketchForm::integers;
  sum.values.assign(members.size(), 0);
  for (const Sketch* part : {&a, &b}) {
    if (Status added = add_integers(*part, members, sum.values); !added.ok()) return added;
  }
  return {};
}

Status merge_estimates(const Sketch& a, const Sketch& b, Sketch& sum) {
  sum.values.resize(sum.cells);
  for (std::size_t i = 0; i < sum.values.size(); ++i) {
    const float cell = std::bit_cast<float>(a.values[i]) + std::bit_cast<float>(b.values[i]);
    if (!std::isfinite(cell)) return {Errc::bad_data, "sketches whose sum is not finite"};
    sum.values[i] = std::bit_cast<std::uint32_t>(cell);
  }
  return {};
}

}  // namespace

Status merge(GradientBlock& into, const GradientBlock& other) {
  // A range of zeros is sent as no entries at all, in no form.
  const auto nothing = [](const GradientBlock& block) { return block.count == 0 && block.indices.empty() && block.values.empty(); };
  if (into.offset == other.offset && into.length == other.length && (nothing(into) || nothing(other))) {
    if (!nothing(into)) return {};
    if (!nothing(other)) {
      if (const Result<Sketch> b = read_sketch(other); !b.ok()) return b.error();
    }
    into = other;
    return {};
  }
  const Result<Sketch> a = read_sketch(into);
  if (!a.ok()) return a.error();
  const Result<Sketch> b = read_sketch(other);
  if (!b.ok()) return b.error();
  const bool estimates = a->form == SketchForm::estimate;
  if (into.offset != other.offset || a->length != b->length || estimates != (b->form == SketchForm::estimate) || a->key != b->key ||
      a->exponent != b->exponent || a->cells != b->cells || a->cell_bytes != b->cell_bytes || a->unit != b->unit) {
    return {Errc::bad_config, "sketches that differ in range, form, key, exponent, cells, width or unit cannot be merged"};
  }
  Sketch sum = *a;
  sum.units.clear();
  std::set_union(a->units.begin(), a->units.end(), b->units.begin(), b->units.end(), std::back_inserter(sum.units));
  if (Status merged = estimates ? merge_estimates(*a, *b, sum) : merge_exact(*a, *b, sum); !merged.ok()) return merged;
  write_sketch(sum, into);
  return {};
}

Result<std::unique_ptr<Transform>> make_count_sketch(const SpecStage& stage, const Shape& shape) {
  if (Status known = stage.only({"form", "cells", "width", "exponent", "unit"}); !known.ok()) return known.error();
  const auto form = word_of(stage, "form", {"exact", "float"});
  if (!form.ok()) return form.error();
  const auto share = stage.number("cells", 0, 0, 4);
  if (!share.ok()) return share.error();
  const auto width = stage.whole("width", 32, 16, 32);
  if (!width.ok()) return width.error();
  if (*width != 16 && *width != 32) return {Errc::bad_config, "count_sketch: width must be 16 or 32"};
  const auto exponent = stage.whole("exponent", kNoExponent, kExponentMin, 96);
  if (!exponent.ok()) return exponent.error();
  const auto unit = stage.whole("unit", 0, 0, static_cast<std::int64_t>(limits::kParameters));
  if (!unit.ok()) return unit.error();
  Options options;
  options.exact = *form == 0;
  options.share = *share;
  options.cell_bytes = static_cast<std::uint8_t>(*width / 8);
  options.exponent = static_cast<int>(*exponent);
  options.unit = static_cast<std::uint32_t>(*unit != 0 ? *unit : shape.rows() > 1 ? static_cast<std::int64_t>(shape.columns) : 1);
  return std::unique_ptr<Transform>(std::make_unique<CountSketch>(options));
}

const ValueDecoder& count_sketch_decoder() {
  static const CountSketchDecoder decoder;
  return decoder;
}

}  // namespace hourglass::compress
