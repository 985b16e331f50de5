// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sketch_blob.h"

#include <algorithm>
#include <limits>

#include "learning/compress/bitmap.h"
#include "learning/compress/kernels.h"
#include "learning/compress/rice.h"
#include "learning/compress/sketch_table.h"
#include "learning/compress/whole.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kHeaderBytes = 30;

std::size_t units_in(std::size_t length, std::size_t unit) { return (length + unit - 1) / unit; }

/// The units' indices as a block of their own.
GradientBlock encode_units(const Sketch& sketch) {
  GradientBlock units;
  units.length = units_in(sketch.length, sketch.unit);
  units.count = sketch.units.size();
  if (units.count == units.length) return units;
  const bool small = rice_coder().bytes(sketch.units, units.length) < bitmap_coder().bytes(sketch.units, units.length);
  (small ? rice_coder() : bitmap_coder()).encode(sketch.units, units.length, units);
  return units;
}

Status decode_units(const GradientBlock& units, std::vector<std::uint32_t>& out) {
  if (units.index_codec != IndexCodec::rice && units.rice_bits != 0)
    return {Errc::malformed, "sketch with a Rice parameter it has no use for"};
  if (units.index_codec == IndexCodec::rice) return rice_coder().decode(units, out);
  if (units.index_codec == IndexCodec::bitmap) return bitmap_coder().decode(units, out);
  if (units.index_codec != IndexCodec::none || units.count != units.length || !units.indices.empty()) {
    return {Errc::malformed, "sketch whose units are coded in no way that it may be"};
  }
  out.resize(units.count);
  for (std::uint32_t i = 0; i < units.count; ++i) out[i] = i;
  return {};
}

/// What the header alone tells.
Status check_header(const Sketch& sketch) {
  const bool estimate = sketch.form == SketchForm::estimate;
  if (sketch.form > SketchForm::integers) return {Errc::malformed, "sketch of an unknown form"};
  if (sketch.cell_bytes != 4 && (sketch.cell_bytes != 2 || estimate)) return {Errc::malformed, "sketch with cells of an odd width"};
  if (sketch.exponent < kExponentMin || sketch.exponent > kExponentMax || (estimate && sketch.exponent != 0)) {
    return {Errc::malformed, "sketch whose step is out of range"};
  }
  if (sketch.cells == 0 || sketch.cells > 4 * sketch.length + 64 || (!estimate && sketch.cells % 3 != 0)) {
    return {Errc::malformed, "sketch whose table does not fit its range"};
  }
  if (sketch.unit == 0 || sketch.unit > limits::kParameters) return {Errc::malformed, "sketch whose unit is out of range"};
  return {};
}

Status read_values(std::span<const std::byte> bytes, Sketch& sketch) {
  const std::size_t count = sketch.form == SketchForm::integers ? sketch.member_count() : sketch.cells;
  if (bytes.size() != count * sketch.cell_bytes) return {Errc::malformed, "sketch whose cells do not fit its table"};
  if (sketch.form == SketchForm::estimate && !kernels().finite_f32(bytes.data(), count)) {
    return {Errc::bad_data, "sketch with a non-finite cell"};
  }
  if (sketch.cell_bytes == 4) {
    sketch.values = from_bytes<std::uint32_t>(bytes);
  } else {
    const auto narrow = from_bytes<std::uint16_t>(bytes);
    sketch.values.assign(narrow.begin(), narrow.end());
  }
  return {};
}

}  // namespace

std::size_t Sketch::member_count() const {
  if (units.empty()) return 0;
  const std::size_t last = std::min<std::size_t>(unit, length - static_cast<std::size_t>(units.back()) * unit);
  return (units.size() - 1) * unit + last;
}

std::vector<std::uint32_t> Sketch::members() const {
  std::vector<std::uint32_t> out;
  out.reserve(member_count());
  for (const std::uint32_t each : units) {
    const std::size_t begin = static_cast<std::size_t>(each) * unit;
    const std::size_t end = std::min(begin + unit, length);
    for (std::size_t i = begin; i < end; ++i) out.push_back(static_cast<std::uint32_t>(i));
  }
  return out;
}

void write_sketch(const Sketch& sketch, GradientBlock& block) {
  const GradientBlock units = encode_units(sketch);
  block.value_codec = ValueCodec::count_sketch;
  block.values.clear();
  put(block.values, sketch.form);
  put(block.values, sketch.cell_bytes);
  put(block.values, sketch.exponent);
  put(block.values, sketch.cells);
  put(block.values, sketch.key);
  put(block.values, sketch.unit);
  put(block.values, units.index_codec);
  put(block.values, units.rice_bits);
  put(block.values, static_cast<std::uint32_t>(units.count));
  put(block.values, static_cast<std::uint32_t>(units.indices.size()));
  block.values.insert(block.values.end(), units.indices.begin(), units.indices.end());
  std::size_t end = block.values.size();
  block.values.resize(end + sketch.values.size() * sketch.cell_bytes);
  for (const std::uint32_t value : sketch.values) {
    std::memcpy(block.values.data() + end, &value, sketch.cell_bytes);
    end += sketch.cell_bytes;
  }
}

Result<Sketch> read_sketch(const GradientBlock& block) {
  if (Status whole = check_whole(block); !whole.ok()) return whole.error();
  const std::span<const std::byte> blob = block.values;
  if (blob.size() < kHeaderBytes) return {Errc::malformed, "sketch without its header"};
  Sketch sketch;
  sketch.form = get<SketchForm>(blob, 0);
  sketch.cell_bytes = get<std::uint8_t>(blob, 1);
  sketch.exponent = get<std::int16_t>(blob, 2);
  sketch.cells = get<std::uint32_t>(blob, 4);
  sketch.key = get<std::uint64_t>(blob, 8);
  sketch.unit = get<std::uint32_t>(blob, 16);
  sketch.length = block.length;
  if (Status header = check_header(sketch); !header.ok()) return header.error();
  GradientBlock units;
  units.index_codec = get<IndexCodec>(blob, 20);
  units.rice_bits = get<std::uint8_t>(blob, 21);
  units.count = get<std::uint32_t>(blob, 22);
  units.length = units_in(block.length, sketch.unit);
  const std::size_t index_bytes = get<std::uint32_t>(blob, 26);
  if (units.count > units.length || index_bytes > blob.size() - kHeaderBytes || units.rice_bits > 31) {
    return {Errc::malformed, "sketch whose units do not fit its range"};
  }
  // Before memory is taken for units: a table, or integers, of their own size must be there.
  const std::size_t value_bytes = blob.size() - kHeaderBytes - index_bytes;
  if (sketch.form == SketchForm::integers && units.count > value_bytes / sketch.cell_bytes) {
    return {Errc::malformed, "sketch with more units than integers"};
  }
  units.indices.assign(blob.begin() + kHeaderBytes, blob.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + index_bytes));
  if (Status known = decode_units(units, sketch.units); !known.ok()) return known.error();
  if (sketch.form == SketchForm::exact && sketch.member_count() > sketch.cells) {
    return {Errc::malformed, "sketch with more members than cells"};
  }
  if (Status values = read_values(blob.subspan(kHeaderBytes + index_bytes), sketch); !values.ok()) return values.error();
  return sketch;
}

Result<std::vector<std::uint32_t>> integers_of(const Sketch& sketch, const std::vector<std::uint32_t>& members) {
  if (sketch.form == SketchForm::integers) return sketch.values;
  std::vector<std::uint32_t> values;
  if (!peel(members, sketch.values, sketch.key, 8U * sketch.cell_bytes, values)) return {Errc::malformed, "sketch that does not peel"};
  return values;
}

}  // namespace hourglass::compress
