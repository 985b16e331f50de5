// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/boundary.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kScaleBytes = 8;
constexpr double kLevels = 255;
constexpr float kOrdinaryStepLeast = 1e-30F;  ///< its reciprocal, times a row's range, is far from the ends of f32

struct Scale {
  float low = 0;
  float step = 0;
};

/// Whether low + step * 255 and (value - low) / step stay within f32. Both sides decide by this.
bool is_ordinary(Scale scale) {
  return scale.step >= kOrdinaryStepLeast && std::abs(static_cast<double>(scale.low)) + kLevels * scale.step < FLT_MAX / 4;
}

/// The step is rounded up, so that the largest value is within reach. A row that is not finite gets a scale that the receiver refuses.
Scale scale_of(const RowRange& range) {
  if (!range.finite) return {std::numeric_limits<float>::quiet_NaN(), 0};
  const double width = static_cast<double>(range.high) - range.low;
  if (width == 0) return {range.low, 0};
  auto step = static_cast<float>(width / kLevels);
  if (kLevels * step < width) step = std::nextafter(step, FLT_MAX);
  return {range.low, step};
}

/// For rows whose arithmetic leaves f32.
void quantize_wide(std::span<const float> row, Scale scale, Random& random, std::byte* out) {
  for (const float value : row) {
    const double code = std::floor((static_cast<double>(value) - scale.low) / scale.step + random.uniform());
    *out++ = static_cast<std::byte>(static_cast<unsigned>(std::clamp(code, 0.0, kLevels)));
  }
}

void dequantize_wide(const std::byte* codes, Scale scale, std::span<float> row) {
  for (float& value : row) {
    const double wide = scale.low + static_cast<double>(scale.step) * static_cast<unsigned>(*codes++);
    value = static_cast<float>(std::clamp<double>(wide, -FLT_MAX, FLT_MAX));
  }
}

void encode_u8(std::span<const float> values, std::size_t rows, std::size_t columns, Random& random, BoundaryTensor& tensor) {
  tensor.scales.resize(rows * kScaleBytes);
  tensor.values.resize(values.size());
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = values.subspan(r * columns, columns);
    std::byte* out = tensor.values.data() + r * columns;
    const Scale scale = columns == 0 ? Scale{} : scale_of(kernels().row_range(row.data(), columns));
    std::memcpy(tensor.scales.data() + r * kScaleBytes, &scale, sizeof scale);
    if (!(scale.step > 0)) continue;  // the codes are 0 already
    if (is_ordinary(scale)) {
      kernels().quantize_row(row.data(), columns, scale.low, 1.0F / scale.step, random.next(), out);
    } else {
      quantize_wide(row, scale, random, out);
    }
  }
}

Status decode_u8(const BoundaryTensor& tensor, std::size_t columns, std::span<float> out) {
  const auto scale_at = [&](std::size_t r) {
    Scale scale;
    std::memcpy(&scale, tensor.scales.data() + r * kScaleBytes, sizeof scale);
    return scale;
  };
  for (std::size_t r = 0; r < tensor.rows; ++r) {
    const Scale scale = scale_at(r);
    if (!std::isfinite(scale.low) || !std::isfinite(scale.step)) return {Errc::bad_data, "boundary tensor with a non-finite scale"};
    if (scale.step < 0) return {Errc::malformed, "boundary tensor with a negative step"};
  }
  for (std::size_t r = 0; r < tensor.rows; ++r) {
    const Scale scale = scale_at(r);
    const std::byte* codes = tensor.values.data() + r * columns;
    const auto row = out.subspan(r * columns, columns);
    if (is_ordinary(scale)) {
      kernels().dequantize_row(codes, columns, scale.low, scale.step, row.data());
    } else {
      dequantize_wide(codes, scale, row);
    }
  }
  return {};
}

std::size_t value_bytes(BoundaryCodec codec) {
  switch (codec) {
    case BoundaryCodec::f32: return 4;
    case BoundaryCodec::bf16: return 2;
    case BoundaryCodec::u8: return 1;
  }
  return 0;
}

}  // namespace

Result<BoundaryCodec> boundary_codec(std::string_view name) {
  if (name == "f32") return BoundaryCodec::f32;
  if (name == "bf16") return BoundaryCodec::bf16;
  if (name == "u8") return BoundaryCodec::u8;
  return {Errc::bad_config, "boundary codec '" + std::string(name) + "' is unknown; there are f32, bf16, u8"};
}

BoundaryTensor encode_boundary(std::span<const float> values, std::size_t rows, std::size_t columns, BoundaryCodec codec, Random& random) {
  HG_CHECK(values.size() == rows * columns, "a boundary tensor has rows x columns values");
  BoundaryTensor tensor;
  tensor.rows = static_cast<std::uint32_t>(rows);
  tensor.columns = static_cast<std::uint32_t>(columns);
  tensor.codec = codec;
  switch (codec) {
    case BoundaryCodec::f32: {
      const auto bytes = std::as_bytes(values);
      tensor.values.assign(bytes.begin(), bytes.end());
      break;
    }
    case BoundaryCodec::bf16:
      tensor.values.resize(values.size() * 2);
      kernels().to_bf16(values.data(), tensor.values.data(), values.size());
      break;
    case BoundaryCodec::u8: encode_u8(values, rows, columns, random, tensor); break;
  }
  return tensor;
}

Status decode_boundary(const BoundaryTensor& tensor, std::span<float> out) {
  const std::size_t count = static_cast<std::size_t>(tensor.rows) * tensor.columns;
  const std::size_t scale_bytes = tensor.codec == BoundaryCodec::u8 ? tensor.rows * kScaleBytes : 0;
  const std::size_t each = value_bytes(tensor.codec);
  if (each == 0) return {Errc::malformed, "boundary tensor with an unknown codec"};
  if (out.size() != count || tensor.values.size() != count * each || tensor.scales.size() != scale_bytes) {
    return {Errc::malformed, "boundary tensor of " + std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns) +
                                 " whose blobs or receiver have another size"};
  }
  switch (tensor.codec) {
    case BoundaryCodec::f32:
      if (!kernels().finite_f32(tensor.values.data(), count)) return {Errc::bad_data, "boundary tensor with a non-finite value"};
      if (count > 0) std::memcpy(out.data(), tensor.values.data(), tensor.values.size());
      return {};
    case BoundaryCodec::bf16:
      if (!kernels().finite_bf16(tensor.values.data(), count)) return {Errc::bad_data, "boundary tensor with a non-finite value"};
      kernels().from_bf16(tensor.values.data(), out.data(), count);
      return {};
    case BoundaryCodec::u8: return decode_u8(tensor, tensor.columns, out);
  }
  return {};
}

}  // namespace hourglass::compress
