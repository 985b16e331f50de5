// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/bloom.h"

#include <algorithm>
#include <bit>

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr std::uint64_t kInverseLn2 = 1549082005;  ///< ceil(2^30 / ln 2)
constexpr std::uint64_t kEntriesPerBitMax = 512;
constexpr unsigned kFirstHashes = 4;  ///< every filter has as many; looked at together, because a branch after each would be guessed wrong

struct Size {
  unsigned hashes = 0;
  std::uint64_t bits = 0;
  bool operator==(const Size&) const = default;
};

/// 0 < count <= length.
Size size_of(std::uint64_t count, std::uint64_t length) {
  const std::uint64_t power = std::bit_ceil(count);
  const std::uint64_t rounded = count <= power / 4 * 3 ? power / 4 * 3 : power;
  Size size{kFirstHashes, 0};
  while ((rounded << size.hashes) < 10 * length) ++size.hashes;
  size.bits = std::max(((rounded * size.hashes * kInverseLn2) >> 30) + 1, length / kEntriesPerBitMax);
  size.bits = (size.bits + 7) / 8 * 8;
  return size;
}

class Hashes {
 public:
  explicit Hashes(std::uint64_t index) {
    std::uint64_t mixed = index * 0x9e3779b97f4a7c15U + 0xd1b54a32d192ed03U;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    state_ = mixed ^ mixed >> 31;
  }
  /// The next bit's number, below `bits` < 2^32.
  std::uint64_t next(std::uint64_t bits) {
    const std::uint64_t at = (state_ >> 32) * bits >> 32;
    state_ = state_ * 0xd1342543de82ef95U + 0x2545f4914f6cdd1dU;
    return at;
  }

 private:
  std::uint64_t state_;
};

Bytes filter_of(std::span<const std::uint32_t> indices, Size size) {
  Bytes filter(size.bits / 8);
  for (const std::uint32_t index : indices) {
    Hashes hashes(index);
    for (unsigned j = 0; j < size.hashes; ++j) {
      const std::uint64_t at = hashes.next(size.bits);
      filter[at / 8] |= static_cast<std::byte>(1U << (at % 8));
    }
  }
  return filter;
}

bool has(const Bytes& filter, Size size, std::uint64_t index) {
  Hashes hashes(index);
  const auto bit = [&] {
    const std::uint64_t at = hashes.next(size.bits);
    return static_cast<unsigned>(filter[at / 8]) >> (at % 8) & 1U;
  };
  unsigned all = 1;
  for (unsigned j = 0; j < kFirstHashes; ++j) all &= bit();
  for (unsigned j = kFirstHashes; j < size.hashes && all != 0; ++j) all &= bit();
  return all != 0;
}

/// The indices below `length` that the filter has; stops where there are more than `most`.
void list_positives(const Bytes& filter, Size size, std::uint64_t length, std::size_t most, std::vector<std::uint32_t>& out) {
  out.clear();
  for (std::uint64_t index = 0; index < length; ++index) {
    if (!has(filter, size, index)) continue;
    out.push_back(static_cast<std::uint32_t>(index));
    if (out.size() > most) return;
  }
}

class Bloom final : public IndexCoder {
 public:
  [[nodiscard]] IndexCodec wire() const override { return IndexCodec::bloom; }
  [[nodiscard]] bool exact() const override { return false; }
  [[nodiscard]] std::size_t bytes(std::span<const std::uint32_t> indices, std::size_t length) const override {
    return indices.empty() ? 0 : size_of(indices.size(), length).bits / 8;
  }

  /// Ends: the set only grows, and the whole range is closed.
  void widen(std::span<const float> values, Entries& chosen) const override {
    if (chosen.indices.empty()) return;
    for (Size size = size_of(chosen.indices.size(), values.size());;) {
      const Bytes filter = filter_of(chosen.indices, size);
      list_positives(filter, size, values.size(), values.size(), chosen.indices);
      const Size fits = size_of(chosen.indices.size(), values.size());
      if (fits == size) break;
      size = fits;
    }
    chosen.values.resize(chosen.indices.size());
    for (std::size_t i = 0; i < chosen.indices.size(); ++i) chosen.values[i] = values[chosen.indices[i]];
  }

  void encode(std::span<const std::uint32_t> indices, std::size_t length, GradientBlock& block) const override {
    block.index_codec = wire();
    block.rice_bits = 0;
    block.indices = indices.empty() ? Bytes() : filter_of(indices, size_of(indices.size(), length));
  }

  [[nodiscard]] Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const override {
    indices.clear();
    if (block.count == 0) return block.indices.empty() ? Status() : Status(Errc::malformed, "a Bloom filter of nothing");
    const Size size = size_of(block.count, block.length);
    if (block.indices.size() != size.bits / 8) return {Errc::malformed, "a Bloom filter that does not fit its count and range"};
    // Bounds the work too: few entries get beyond the first hashes of a filter that is not full.
    if (kernels().count_ones(block.indices.data(), block.indices.size()) > block.count * size.hashes) {
      return {Errc::malformed, "a Bloom filter with more ones than its count can have"};
    }
    list_positives(block.indices, size, block.length, block.count, indices);
    if (indices.size() != block.count) return {Errc::malformed, "a Bloom filter that has another number of entries than the block"};
    if (filter_of(indices, size) != block.indices) return {Errc::malformed, "a Bloom filter with ones that no entry has set"};
    return {};
  }
};

}  // namespace

const IndexCoder& bloom_coder() {
  static const Bloom coder;
  return coder;
}

}  // namespace hourglass::compress
