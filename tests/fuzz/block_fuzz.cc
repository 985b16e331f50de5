// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "learning/compress/boundary.h"
#include "learning/compress/compressor.h"
#include "learning/compress/registry.h"
#include "tests/fuzz/targets.h"

namespace hourglass::fuzz {
namespace {

constexpr std::size_t kGroup = 2048;
constexpr float kBefore = 0.5F;

/// Takes fields off the front; zeros where the input is too short.
class Source {
 public:
  explicit Source(std::span<const std::byte> input) : rest_(input) {}
  template <class T>
  T take() {
    T value{};
    const std::size_t size = std::min(sizeof value, rest_.size());
    if (size > 0) std::memcpy(&value, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return value;
  }
  Bytes take_bytes(std::size_t size) {
    size = std::min(size, rest_.size());
    Bytes out(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(size));
    rest_ = rest_.subspan(size);
    return out;
  }
  Bytes take_rest() { return take_bytes(rest_.size()); }

 private:
  std::span<const std::byte> rest_;
};

GradientBlock block_of(Source source) {
  GradientBlock block;
  const auto kinds = source.take<std::uint8_t>();
  block.index_codec = static_cast<IndexCodec>(kinds & 7U);
  block.value_codec = static_cast<ValueCodec>(kinds >> 3 & 3U);
  block.rice_bits = source.take<std::uint8_t>();
  block.offset = source.take<std::uint16_t>();
  block.length = source.take<std::uint16_t>();
  block.count = source.take<std::uint16_t>();
  block.low = source.take<float>();
  block.high = source.take<float>();
  block.indices = source.take_bytes(source.take<std::uint16_t>());
  block.values = source.take_rest();
  // The highest bit makes the values fit the count, or mutations of the indices would seldom get behind the check of sizes.
  if ((kinds & 0x80U) != 0) {
    block.count = std::min<std::uint64_t>(block.count, kGroup);
    const std::size_t bits = block.value_codec == ValueCodec::f32 ? 32 : block.value_codec == ValueCodec::bf16 ? 16 : 2;
    block.values.assign((block.count * bits + 7) / 8, std::byte{0});
  }
  return block;
}

/// There is one way to write what was accepted.
void check_canonical(const GradientBlock& block) {
  if (block.index_codec == IndexCodec::none) return;
  const compress::IndexCoder& coder = *compress::find_index_coder(block.index_codec);
  std::vector<std::uint32_t> indices;
  HG_CHECK(coder.decode(block, indices).ok(), "accepted indices decode");
  HG_CHECK(indices.size() == block.count, "as many indices as entries");
  for (std::size_t i = 0; i < indices.size(); ++i) {
    HG_CHECK(indices[i] < block.length && (i == 0 || indices[i - 1] < indices[i]), "indices ascend within the range");
  }
  GradientBlock again = block;
  coder.encode(indices, block.length, again);
  if (block.index_codec != IndexCodec::rice || again.rice_bits == block.rice_bits) {
    HG_CHECK(again.indices == block.indices, "accepted indices come back equal");
  } else {
    HG_CHECK(again.indices.size() <= block.indices.size(), "our Rice parameter is the cheapest");
  }
}

}  // namespace

void apply_gradient_block(std::span<const std::byte> input) {
  const GradientBlock block = block_of(Source(input));
  const Status valid = compress::validate(block, kGroup);
  std::vector<float> sum(kGroup, kBefore);
  HG_CHECK(compress::accumulate(block, sum).ok() == valid.ok(), "validate and accumulate agree");
  for (std::size_t i = 0; i < kGroup; ++i) {
    const bool inside = valid.ok() && i >= block.offset && i - block.offset < block.length;
    HG_CHECK(std::isfinite(sum[i]) && (inside || sum[i] == kBefore), "only accepted and finite values reach the sum");
  }
  if (valid.ok()) return check_canonical(block);
  HG_CHECK(valid.error().code == Errc::malformed || valid.error().code == Errc::bad_data, "an error of another kind");
}

void decode_boundary_tensor(std::span<const std::byte> input) {
  Source source(input);
  BoundaryTensor tensor;
  const auto kind = source.take<std::uint8_t>();
  tensor.codec = static_cast<BoundaryCodec>(kind & 7U);
  tensor.kept = static_cast<BoundaryPlaces>(kind >> 3U & 3U);
  tensor.rows = source.take<std::uint8_t>();
  tensor.columns = source.take<std::uint8_t>();
  const std::size_t receiver = source.take<std::uint16_t>();
  tensor.scales = source.take_bytes(source.take<std::uint16_t>());
  tensor.count = static_cast<std::uint32_t>(tensor.rows) * tensor.columns;
  if (tensor.kept != BoundaryPlaces::all) {
    tensor.count = source.take<std::uint16_t>();
    tensor.places = source.take_bytes(source.take<std::uint16_t>());
  }
  tensor.values = source.take_rest();
  std::vector<float> out(receiver, kBefore);
  const bool decoded = compress::decode_boundary(tensor, out).ok();
  HG_CHECK(!decoded || receiver == static_cast<std::size_t>(tensor.rows) * tensor.columns, "a tensor of another size passed");
  for (const float value : out)
    HG_CHECK(std::isfinite(value) && (decoded || value == kBefore), "only accepted and finite values are written");
}

}  // namespace hourglass::fuzz
