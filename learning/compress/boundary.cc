// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/boundary.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/spec.h"
#include "learning/compress/boundary_places.h"
#include "learning/compress/kernels.h"
#include "learning/compress/row_codes.h"

namespace hourglass::compress {
namespace {

constexpr double kRatioDefault = 0.1;
constexpr double kRatioLeast = 1e-6;
constexpr std::int64_t kColumnsMax = 1 << 24;
constexpr std::string_view kAllowed = "f32, bf16, u8, u6, u4, or one of them behind 'zeros |', 'topk ratio=0.1 |' or 'sampled ratio=0.1 |'";

unsigned bits_of(BoundaryCodec codec) {
  switch (codec) {
    case BoundaryCodec::f32: return 32;
    case BoundaryCodec::bf16: return 16;
    case BoundaryCodec::u8: return 8;
    case BoundaryCodec::u6: return 6;
    case BoundaryCodec::u4: return 4;
  }
  return 0;
}

bool is_scaled(BoundaryCodec codec) { return bits_of(codec) <= 8; }

std::optional<BoundaryCodec> codec_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"f32", "bf16", "u8", "u6", "u4"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<BoundaryCodec>(found - std::begin(kNames));
}

Error unknown(std::string_view name) {
  return {Errc::bad_config, "boundary codec '" + std::string(name) + "' is unknown; there are " + std::string(kAllowed)};
}

/// The first stage, where it says what is kept.
Result<BoundarySpec> keeping(const SpecStage& stage) {
  BoundarySpec spec;
  if (stage.name == "zeros") {
    spec.keep = BoundaryKeep::zeros;
    if (const Status known = stage.only({}); !known.ok()) return known.error();
    return spec;
  }
  if (stage.name != "topk" && stage.name != "sampled") return unknown(stage.name);
  spec.keep = stage.name == "topk" ? BoundaryKeep::topk : BoundaryKeep::sampled;
  spec.codec = BoundaryCodec::bf16;
  if (const Status known = stage.only({"ratio", "k"}); !known.ok()) return known.error();
  if (stage.options.size() > 1) return {Errc::bad_config, stage.name + ": give ratio or k, not both"};
  const Result<double> ratio = stage.number("ratio", kRatioDefault, kRatioLeast, 1);
  if (!ratio.ok()) return ratio.error();
  const Result<std::int64_t> k = stage.whole("k", 0, 1, kColumnsMax);
  if (!k.ok()) return k.error();
  spec.ratio = *ratio;
  spec.k = static_cast<std::size_t>(*k);
  return spec;
}

/// Values of the rows, one after the other; `ends[r]` is where row r ends.
void write_values(std::span<const float> values, std::span<const std::size_t> ends, BoundaryCodec codec, Random& random,
                  BoundaryTensor& tensor) {
  if (codec == BoundaryCodec::f32) {
    const auto bytes = std::as_bytes(values);
    tensor.values.assign(bytes.begin(), bytes.end());
    return;
  }
  if (codec == BoundaryCodec::bf16) {
    tensor.values.resize(values.size() * 2);
    kernels().to_bf16(values.data(), tensor.values.data(), values.size());
    return;
  }
  const unsigned bits = bits_of(codec);
  tensor.scales.resize(ends.size() * kRowScaleBytes);
  Bytes codes(values.size());
  std::size_t begin = 0;
  for (std::size_t r = 0; r < ends.size(); ++r) {
    const RowScale scale = quantize_row(values.subspan(begin, ends[r] - begin), bits, random.next(), codes.data() + begin);
    std::memcpy(tensor.scales.data() + r * kRowScaleBytes, &scale, sizeof scale);
    begin = ends[r];
  }
  tensor.values = pack_codes(std::move(codes), bits);
}

RowScale scale_at(const BoundaryTensor& tensor, std::size_t row) {
  RowScale scale;
  std::memcpy(&scale, tensor.scales.data() + row * kRowScaleBytes, sizeof scale);
  return scale;
}

/// After this, read_values() cannot fail.
Status check_values(const BoundaryTensor& tensor) {
  if (tensor.codec == BoundaryCodec::f32 && !kernels().finite_f32(tensor.values.data(), tensor.count)) {
    return {Errc::bad_data, "boundary tensor with a non-finite value"};
  }
  if (tensor.codec == BoundaryCodec::bf16 && !kernels().finite_bf16(tensor.values.data(), tensor.count)) {
    return {Errc::bad_data, "boundary tensor with a non-finite value"};
  }
  if (!is_scaled(tensor.codec)) return {};
  if (!padding_is_zero(tensor.values, bits_of(tensor.codec), tensor.count)) {
    return {Errc::malformed, "boundary tensor with ones behind its last value"};
  }
  for (std::size_t r = 0; r < tensor.rows; ++r) {
    if (Status good = check_scale(scale_at(tensor, r)); !good.ok()) return good;
  }
  return {};
}

void read_values(const BoundaryTensor& tensor, std::span<const std::size_t> ends, std::span<float> out) {
  if (out.empty()) return;
  if (tensor.codec == BoundaryCodec::f32) {
    std::memcpy(out.data(), tensor.values.data(), tensor.values.size());
    return;
  }
  if (tensor.codec == BoundaryCodec::bf16) return kernels().from_bf16(tensor.values.data(), out.data(), out.size());
  const unsigned bits = bits_of(tensor.codec);
  Bytes unpacked;
  const std::byte* codes = tensor.values.data();
  if (bits < 8) {
    unpacked.resize(out.size());
    unpack_codes(tensor.values, bits, out.size(), unpacked.data());
    codes = unpacked.data();
  }
  std::size_t begin = 0;
  for (std::size_t r = 0; r < ends.size(); ++r) {
    dequantize_row(codes + begin, scale_at(tensor, r), bits, out.subspan(begin, ends[r] - begin));
    begin = ends[r];
  }
}

std::vector<std::size_t> all_ends(std::size_t rows, std::size_t columns) {
  std::vector<std::size_t> ends(rows);
  for (std::size_t r = 0; r < rows; ++r) ends[r] = (r + 1) * columns;
  return ends;
}

std::vector<std::size_t> ends_of(std::span<const std::uint32_t> positions, std::size_t rows, std::size_t columns) {
  std::vector<std::size_t> ends(rows);
  auto next = positions.begin();
  for (std::size_t r = 0; r < rows; ++r) {
    next = std::lower_bound(next, positions.end(), (r + 1) * columns);
    ends[r] = static_cast<std::size_t>(next - positions.begin());
  }
  return ends;
}

Status check_sizes(const BoundaryTensor& tensor, std::size_t receiver) {
  const unsigned bits = bits_of(tensor.codec);
  if (bits == 0 || tensor.kept > kLastBoundaryPlaces) return {Errc::malformed, "boundary tensor with an unknown codec"};
  const std::size_t size = static_cast<std::size_t>(tensor.rows) * tensor.columns;
  const bool all = tensor.kept == BoundaryPlaces::all;
  const std::size_t scale_bytes = is_scaled(tensor.codec) ? tensor.rows * kRowScaleBytes : 0;
  const bool counted = all ? tensor.count == size && tensor.places.empty() : tensor.count <= size;
  if (receiver == size && size <= limits::kParameters && counted && tensor.values.size() == packed_bytes(tensor.count, bits) &&
      tensor.scales.size() == scale_bytes) {
    return {};
  }
  return {Errc::malformed, "boundary tensor of " + std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns) +
                               " whose blobs or receiver have another size"};
}

}  // namespace

std::size_t BoundarySpec::kept_of(std::size_t columns) const {
  if (k > 0) return std::min(k, columns);
  const double wanted = std::ceil(ratio * static_cast<double>(columns) * (1 - 1e-12));  // 7 % of 100 is 7, not 8
  return std::min(columns, std::max<std::size_t>(1, static_cast<std::size_t>(wanted)));
}

const std::vector<BoundaryRow>& boundary_rows() {
  static const std::vector<BoundaryRow> rows = {
      {"f32", "values as they are (default)", "32", "none", "f32"},
      {"bf16", "values rounded to the upper half of a float", "16", "none", "bf16"},
      {"u8, u6, u4", "stochastic rounding in each row's range; unbiased", "8, 6, 4", "Alistarh et al. 2017, arXiv 1610.02132", "u6"},
      {"zeros | CODEC", "only what is not 0, as after a ReLU; zeros stay exact", "a bitmap or Rice codes, and the others' values", "none",
       "zeros | u6"},
      {"topk | CODEC", "the largest of each row, ratio=0.1 or k=N; biased", "an index and a value for each kept", "none",
       "topk ratio=0.1 | u8"},
      {"sampled | CODEC", "as many of each row at random, by magnitude and rescaled; unbiased", "an index and a value for each kept",
       "Wangni et al. 2018, arXiv 1710.09854", "sampled ratio=0.1 | u8"},
  };
  return rows;
}

Result<BoundarySpec> boundary_spec(std::string_view text) {
  const auto stages = parse_spec(text);
  if (!stages.ok()) return stages.error();
  if (stages->size() > 2) return {Errc::bad_config, "a boundary codec has at most two stages: " + std::string(kAllowed)};
  BoundarySpec spec;
  if (stages->size() == 2 || !codec_named(stages->front().name)) {
    const auto kept = keeping(stages->front());
    if (!kept.ok()) return kept.error();
    spec = *kept;
    if (stages->size() == 1) return spec;
  }
  const SpecStage& last = stages->back();
  const auto codec = codec_named(last.name);
  if (!codec) return unknown(last.name);
  if (const Status known = last.only({}); !known.ok()) return known.error();
  spec.codec = *codec;
  return spec;
}

BoundaryTensor encode_boundary(std::span<const float> values, std::size_t rows, std::size_t columns, const BoundarySpec& spec,
                               Random& random) {
  HG_CHECK(values.size() == rows * columns && values.size() <= limits::kParameters, "a boundary tensor has rows x columns values");
  BoundaryTensor tensor;
  tensor.rows = static_cast<std::uint32_t>(rows);
  tensor.columns = static_cast<std::uint32_t>(columns);
  tensor.codec = spec.codec;
  if (spec.keep == BoundaryKeep::all) {
    tensor.count = static_cast<std::uint32_t>(values.size());
    write_values(values, all_ends(rows, columns), spec.codec, random, tensor);
    return tensor;
  }
  const BoundaryEntries entries = choose_entries(values, rows, columns, spec, random);
  write_places(entries.positions, values.size(), tensor);
  write_values(entries.values, ends_of(entries.positions, rows, columns), spec.codec, random, tensor);
  return tensor;
}

Status decode_boundary(const BoundaryTensor& tensor, std::span<float> out) {
  if (Status sized = check_sizes(tensor, out.size()); !sized.ok()) return sized;
  if (Status good = check_values(tensor); !good.ok()) return good;
  if (tensor.kept == BoundaryPlaces::all) {
    read_values(tensor, all_ends(tensor.rows, tensor.columns), out);
    return {};
  }
  std::vector<std::uint32_t> positions;
  if (Status placed = read_places(tensor, out.size(), positions); !placed.ok()) return placed;
  std::vector<float> values(tensor.count);
  read_values(tensor, ends_of(positions, tensor.rows, tensor.columns), values);
  std::fill(out.begin(), out.end(), 0.0F);
  for (std::size_t i = 0; i < positions.size(); ++i) out[positions[i]] = values[i];
  return {};
}

}  // namespace hourglass::compress
