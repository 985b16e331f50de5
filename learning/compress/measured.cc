// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/measured.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <optional>
#include <vector>

#include "learning/compress/bits.h"
#include "learning/compress/sensing.h"
#include "learning/compress/whole.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kHeaderBytes = 14;
constexpr unsigned kBlockBitsMin = 8;
constexpr unsigned kBlockBitsMax = 10;
constexpr std::size_t kLastBlockMin = 16;

/// The optimal levels for the standard normal distribution (Max 1960), those above zero.
constexpr std::array<std::array<float, 8>, 4> kLevels = {
    {{0.7978846F},
     {0.4527800F, 1.5104176F},
     {0.2450942F, 0.7560053F, 1.3439093F, 2.1519457F},
     {0.1283950F, 0.3880483F, 0.6567591F, 0.9423405F, 1.2562312F, 1.6180640F, 2.0690172F, 2.7326364F}}};

struct Layout {
  std::uint64_t key = 0;
  std::size_t block = 512;
  std::size_t measurements = 128;
  std::size_t sparsity = 16;
  unsigned bits = 3;
};

/// One block of a range.
struct Part {
  std::size_t begin = 0, length = 0, padded = 0, measurements = 0, sparsity = 0, bytes = 0;
};

std::size_t in_proportion(std::size_t part, std::size_t padded, std::size_t block) { return (part * padded + block - 1) / block; }

Part part_at(const Layout& layout, std::size_t begin, std::size_t end) {
  Part part;
  part.begin = begin;
  part.length = std::min(layout.block, end - begin);
  part.padded = std::max(kLastBlockMin, std::bit_ceil(part.length));
  part.measurements = in_proportion(layout.measurements, part.padded, layout.block);
  part.sparsity = in_proportion(layout.sparsity, part.padded, layout.block);
  part.bytes = sizeof(float) + (part.measurements * layout.bits + 7) / 8;
  return part;
}

/// What measures the parts: all but the last alike.
class Senses {
 public:
  explicit Senses(const Layout& layout) : layout_(layout) {}
  Sensing& of(const Part& part) {
    auto& slot = part.padded == layout_.block ? whole_ : last_;
    if (!slot) slot.emplace(layout_.key, part.padded, part.measurements);
    return *slot;
  }

 private:
  Layout layout_;
  std::optional<Sensing> whole_, last_;
};

std::uint64_t code_of(float value, unsigned bits) {
  const auto& levels = kLevels[bits - 1];
  const unsigned count = 1U << (bits - 1);
  const float magnitude = std::abs(value);
  std::uint64_t code = 0;
  while (code + 1 < count && magnitude > (levels[code] + levels[code + 1]) / 2) ++code;
  return code | (std::signbit(value) ? count : 0U);
}

float value_of(std::uint64_t code, unsigned bits) {
  const std::uint64_t count = 1U << (bits - 1);
  const float magnitude = kLevels[bits - 1][code & (count - 1)];
  return (code & count) != 0 ? -magnitude : magnitude;
}

class Measured final : public Transform {
 public:
  explicit Measured(const Layout& layout) : layout_(layout) {}

  void encode(std::span<const float> values, std::uint64_t key, GradientBlock& block) override {
    layout_.key = key;
    block.value_codec = ValueCodec::measured;
    block.values.clear();
    put(block.values, key);
    put(block.values, static_cast<std::uint8_t>(std::countr_zero(layout_.block)));
    put(block.values, static_cast<std::uint16_t>(layout_.measurements));
    put(block.values, static_cast<std::uint16_t>(layout_.sparsity));
    put(block.values, static_cast<std::uint8_t>(layout_.bits));
    Senses senses(layout_);
    for (std::size_t begin = 0; begin < values.size(); begin += layout_.block) {
      const Part part = part_at(layout_, begin, values.size());
      encode_part(values.subspan(part.begin, part.length), part, senses.of(part), block.values);
    }
  }

 private:
  void encode_part(std::span<const float> values, const Part& part, Sensing& sensing, Bytes& out) {
    const std::vector<std::uint32_t> kept = largest_of(values, part.sparsity);
    double energy = 0;
    for (const std::uint32_t i : kept) energy += static_cast<double>(values[i]) * values[i];
    const double root = std::sqrt(static_cast<double>(part.measurements));
    const auto scale = static_cast<float>(std::min(std::sqrt(energy) / root, FLT_MAX / root * (1 - 1e-6)));
    put(out, scale);
    const std::size_t begin = out.size();
    out.resize(begin + part.bytes - sizeof(float) + 8);  // what the writer may touch
    if (scale > 0) {
      kept_.assign(part.padded, 0.0F);
      for (const std::uint32_t i : kept) kept_[i] = static_cast<float>(values[i] / static_cast<double>(scale));
      measured_.resize(part.measurements);
      sensing.measure(kept_, measured_);
      BitWriter writer(out.data() + begin);
      for (const float value : measured_) writer.put(code_of(value, layout_.bits), layout_.bits);
    }
    out.resize(begin + part.bytes - sizeof(float));
  }

  Layout layout_;
  std::vector<float> kept_, measured_;
};

Result<Layout> read_layout(std::span<const std::byte> blob) {
  if (blob.size() < kHeaderBytes) return {Errc::malformed, "measured block without its header"};
  Layout layout;
  layout.key = get<std::uint64_t>(blob, 0);
  const unsigned block_bits = get<std::uint8_t>(blob, 8);
  layout.measurements = get<std::uint16_t>(blob, 9);
  layout.sparsity = get<std::uint16_t>(blob, 11);
  layout.bits = get<std::uint8_t>(blob, 13);
  if (block_bits < kBlockBitsMin || block_bits > kBlockBitsMax) return {Errc::malformed, "measured block of another size than 256 to 1024"};
  layout.block = std::size_t{1} << block_bits;
  if (layout.bits < 1 || layout.bits > kLevels.size()) return {Errc::malformed, "measured block with codes of another width than 1 to 4"};
  if (layout.sparsity < 1 || layout.sparsity > layout.measurements || layout.measurements > layout.block) {
    return {Errc::malformed, "measured block with more elements than measurements"};
  }
  return layout;
}

class MeasuredDecoder final : public WholeDecoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::measured; }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (Status whole = check_whole(block); !whole.ok()) return whole;
    const Result<Layout> layout = read_layout(block.values);
    if (!layout.ok()) return layout.error();
    std::size_t at = kHeaderBytes;
    for (std::size_t begin = 0; begin < block.length; begin += layout->block) {
      const Part part = part_at(*layout, begin, block.length);
      if (block.values.size() - at < part.bytes) return {Errc::malformed, "measured block whose codes do not fit its range"};
      const auto scale = get<float>(block.values, at);
      if (!std::isfinite(scale)) return {Errc::bad_data, "measured block with a non-finite scale"};
      if (!(scale >= 0 && scale <= FLT_MAX / std::sqrt(static_cast<float>(part.measurements)))) {
        return {Errc::malformed, "measured block whose scale is out of range"};
      }
      at += part.bytes;
      const std::size_t used = part.measurements * layout->bits % 8;
      if (used != 0 && static_cast<unsigned>(block.values[at - 1]) >> used != 0) {
        return {Errc::malformed, "measured block with bits behind its last code"};
      }
    }
    if (at != block.values.size()) return {Errc::malformed, "measured block with bytes behind its last code"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    const Layout layout = read_layout(block.values).value();
    Senses senses(layout);
    std::vector<float> x;
    std::vector<float> y;
    std::size_t at = kHeaderBytes;
    for (std::size_t begin = 0; begin < target.size(); begin += layout.block) {
      const Part part = part_at(layout, begin, target.size());
      const auto scale = get<float>(block.values, at);
      const auto codes = std::span(block.values).subspan(at + sizeof(float), part.bytes - sizeof(float));
      at += part.bytes;
      if (scale == 0) continue;
      y.resize(part.measurements);
      x.resize(part.padded);
      BitReader reader(codes);
      for (float& value : y) {
        value = value_of(reader.window() & ((1U << layout.bits) - 1), layout.bits);
        reader.skip(layout.bits);
      }
      senses.of(part).recover(y, part.sparsity, x);
      for (std::size_t i = 0; i < part.length; ++i) target[begin + i] += weight * (scale * x[i]);
    }
  }
};

}  // namespace

Result<std::unique_ptr<Transform>> make_measured(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"block", "measurements", "keep", "bits"}); !known.ok()) return known.error();
  const auto block = stage.whole("block", 512, 1 << kBlockBitsMin, 1 << kBlockBitsMax);
  if (!block.ok()) return block.error();
  if (!std::has_single_bit(static_cast<std::uint64_t>(*block))) return {Errc::bad_config, "measured: block must be a power of two"};
  const auto share = stage.number("measurements", 0.25, 0.01, 1);
  if (!share.ok()) return share.error();
  const auto keep = stage.number("keep", 0.03, 0.001, 1);
  if (!keep.ok()) return keep.error();
  if (*keep > *share) return {Errc::bad_config, "measured: keep must be at most measurements"};
  const auto bits = stage.whole("bits", 3, 1, static_cast<std::int64_t>(kLevels.size()));
  if (!bits.ok()) return bits.error();
  Layout layout;
  layout.block = static_cast<std::size_t>(*block);
  layout.measurements = static_cast<std::size_t>(std::ceil(*share * static_cast<double>(*block) * (1 - 1e-12)));
  layout.sparsity = static_cast<std::size_t>(std::ceil(*keep * static_cast<double>(*block) * (1 - 1e-12)));
  layout.bits = static_cast<unsigned>(*bits);
  return std::unique_ptr<Transform>(std::make_unique<Measured>(layout));
}

const ValueDecoder& measured_decoder() {
  static const MeasuredDecoder decoder;
  return decoder;
}

}  // namespace hourglass::compress
