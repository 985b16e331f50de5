// SPDX-License-Identifier: Apache-2.0
// The safetensors file format (huggingface/safetensors, format description in its README): 8 bytes little-endian header length, a JSON
// header {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {string: string}}, then the data without holes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hourglass::nn {

inline constexpr std::size_t kSafetensorsHeaderMax = std::size_t{16} << 20;  ///< bytes; the format itself allows 100 MB
inline constexpr std::size_t kSafetensorsTensorsMax = 65536;
inline constexpr std::size_t kSafetensorsRankMax = 16;

using Metadata = std::map<std::string, std::string>;

/// Row-major f32 values that somebody else owns.
struct TensorView {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::span<const float> values;
};

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<float> values;
};

struct TensorFile {
  std::vector<Tensor> tensors;  ///< in the order of their data
  Metadata metadata;
};

/// In the order given, header padded with blanks so that the data starts at a multiple of 8. Names must be unique, not "__metadata__",
/// valid UTF-8, and each shape's product must be the number of values: we fail.
Bytes write_safetensors(std::span<const TensorView> tensors, const Metadata& metadata);

/// Accepts exactly one valid file: refuses holes, overlaps, duplicate and unknown keys, lengths that do not fit, trailing bytes
/// (malformed), headers or counts beyond the maxima (over_limit), and types other than F32 (unsupported, naming the tensor).
Result<TensorFile> read_safetensors(std::span<const std::byte> file);

}  // namespace hourglass::nn
