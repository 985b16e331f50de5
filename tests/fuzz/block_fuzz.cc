// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "learning/compress/boundary.h"
#include "learning/compress/compressor.h"
#include "learning/compress/plan.h"
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

/// Values that the codec's own encoder writes for `count` entries, with the options of its example. As they were where it has no encoder.
void fit_values(GradientBlock& block) {
  block.count = std::min<std::uint64_t>(block.count, kGroup);
  std::vector<float> values(block.count);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? -1.0F : 0.25F;
  for (const compress::Stage& stage : compress::stages()) {
    if (stage.decoder == nullptr || stage.decoder->wire() != block.value_codec) continue;
    const compress::Plan plan = compress::plan_of(stage.row.example).value();
    GradientBlock made;
    if (stage.make_value_coder != nullptr) {
      const auto coder = stage.make_value_coder(plan.value->spec);
      if (coder.ok()) (*coder)->encode(values, 0, made);
    } else if (stage.make_transform != nullptr) {
      const auto transform = stage.make_transform(plan.transform->spec, compress::Shape::vector(values.size()));
      if (transform.ok()) (*transform)->encode(values, 0, made);
    }
    if (made.value_codec != block.value_codec) continue;
    block.values = made.values;
    block.low = made.low;
    block.high = made.high;
    return;
  }
}

GradientBlock block_of(Source source) {
  GradientBlock block;
  const auto kinds = source.take<std::uint8_t>();
  block.index_codec = static_cast<IndexCodec>(kinds & 7U);
  block.value_codec = static_cast<ValueCodec>(kinds >> 3);
  const auto rice = source.take<std::uint8_t>();
  block.rice_bits = rice & 0x7fU;
  block.offset = source.take<std::uint16_t>();
  block.length = source.take<std::uint16_t>();
  block.count = source.take<std::uint16_t>();
  block.low = source.take<float>();
  block.high = source.take<float>();
  block.indices = source.take_bytes(source.take<std::uint16_t>());
  block.values = source.take_rest();
  // The highest bit makes the values fit the count, or mutations of the indices would seldom get behind their check.
  if ((rice & 0x80U) != 0) fit_values(block);
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

bool apply_gradient_block(std::span<const std::byte> input) {
  const GradientBlock block = block_of(Source(input));
  const Status valid = compress::validate(block, kGroup);
  std::vector<float> sum(kGroup, kBefore);
  HG_CHECK(compress::accumulate(block, sum).ok() == valid.ok(), "validate and accumulate agree");
  for (std::size_t i = 0; i < kGroup; ++i) {
    const bool inside = valid.ok() && i >= block.offset && i - block.offset < block.length;
    HG_CHECK(std::isfinite(sum[i]) && (inside || sum[i] == kBefore), "only accepted and finite values reach the sum");
  }
  if (valid.ok()) {
    check_canonical(block);
  } else {
    HG_CHECK(valid.error().code == Errc::malformed || valid.error().code == Errc::bad_data, "an error of another kind");
  }
  return valid.ok();
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
