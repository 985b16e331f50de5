// SPDX-License-Identifier: Apache-2.0
// The only decoder of gradient blocks. Counts are held against the receiver's own group and the blob sizes before memory is taken for them.
#include <numeric>

#include "learning/compress/compressor.h"
#include "learning/compress/registry.h"

namespace hourglass::compress {
namespace {

/// Checks all of a block and decodes its indices (none where the block has every entry).
Status open_block(const GradientBlock& block, std::size_t group_size, std::vector<std::uint32_t>& indices) {
  if (block.offset > group_size || block.length > group_size - block.offset || block.length > limits::kParameters) {
    return {Errc::malformed, "gradient block beyond its group: offset " + std::to_string(block.offset) + ", length " +
                                 std::to_string(block.length) + ", group " + std::to_string(group_size)};
  }
  if (block.count > block.length) return {Errc::malformed, "gradient block with more entries than its range"};
  const ValueDecoder* value_decoder = find_value_decoder(block.value_codec);
  if (value_decoder == nullptr) return {Errc::malformed, "gradient block with an unknown value codec"};
  if (Status values = value_decoder->check(block); !values.ok()) return values;
  if (block.index_codec != IndexCodec::rice && block.rice_bits != 0)
    return {Errc::malformed, "gradient block with a Rice parameter but other indices"};
  if (block.index_codec == IndexCodec::none) {
    if (block.count != block.length || !block.indices.empty()) return {Errc::malformed, "gradient block without indices that is not whole"};
    return {};
  }
  const IndexCoder* index_coder = find_index_coder(block.index_codec);
  if (index_coder == nullptr) return {Errc::malformed, "gradient block with an unknown index codec"};
  return index_coder->decode(block, indices);
}

}  // namespace

Status validate(const GradientBlock& block, std::size_t group_size) {
  std::vector<std::uint32_t> indices;
  return open_block(block, group_size, indices);
}

Status accumulate(const GradientBlock& block, std::span<float> sum, float weight) {
  std::vector<std::uint32_t> indices;
  if (Status good = open_block(block, sum.size(), indices); !good.ok()) return good;
  const std::span<float> range = sum.subspan(block.offset, block.length);
  const ValueDecoder& value_decoder = *find_value_decoder(block.value_codec);
  if (block.index_codec == IndexCodec::none) {
    value_decoder.add(block, weight, range);
  } else {
    value_decoder.scatter_add(block, weight, indices, range);
  }
  return {};
}

Status entries_of(const GradientBlock& block, std::size_t group_size, Entries& entries) {
  if (Status good = open_block(block, group_size, entries.indices); !good.ok()) return good;
  if (block.index_codec == IndexCodec::none) {
    entries.indices.resize(block.length);
    std::iota(entries.indices.begin(), entries.indices.end(), 0U);
  }
  entries.values.assign(block.count, 0.0F);
  find_value_decoder(block.value_codec)->add(block, 1.0F, entries.values);
  return {};
}

Status validate_values(const GradientBlock& block, std::size_t group_size) {
  if (block.value_codec != ValueCodec::f32) return {Errc::malformed, "only an f32 block has the values themselves"};
  return validate(block, group_size);
}

Status assign(const GradientBlock& block, std::span<float> values) {
  if (block.value_codec != ValueCodec::f32) return {Errc::malformed, "only an f32 block has the values themselves"};
  std::vector<std::uint32_t> indices;
  if (Status good = open_block(block, values.size(), indices); !good.ok()) return good;
  if (block.index_codec == IndexCodec::none) {
    if (block.length > 0) std::memcpy(values.data() + block.offset, block.values.data(), block.values.size());
    return {};
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::memcpy(&values[block.offset + indices[i]], block.values.data() + i * sizeof(float), sizeof(float));
  }
  return {};
}

}  // namespace hourglass::compress
