// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/chunk12.h"

#include <algorithm>
#include <cstring>

#include "learning/compress/bits.h"

namespace hourglass::compress {
namespace {

constexpr unsigned kChunkBits = 12;
constexpr std::uint64_t kChunk = 1U << kChunkBits;

std::size_t chunks_of(std::uint64_t length) { return (length + kChunk - 1) / kChunk; }

std::size_t bytes_of(std::uint64_t count, std::uint64_t length) { return 2 * chunks_of(length) + (count * kChunkBits + 7) / 8; }

class Chunk12 final : public IndexCoder {
 public:
  [[nodiscard]] IndexCodec wire() const override { return IndexCodec::chunk12; }
  [[nodiscard]] std::size_t bytes(std::span<const std::uint32_t> indices, std::size_t length) const override {
    return bytes_of(indices.size(), length);
  }

  void encode(std::span<const std::uint32_t> indices, std::size_t length, GradientBlock& block) const override {
    const std::size_t size = bytes_of(indices.size(), length);
    block.index_codec = wire();
    block.rice_bits = 0;
    block.indices.resize(size + 8);
    std::byte* counts = block.indices.data();
    BitWriter writer(counts + 2 * chunks_of(length));
    auto next = indices.begin();
    for (std::uint64_t end = kChunk; end < length + kChunk; end += kChunk, counts += 2) {
      std::uint16_t count = 0;
      for (; next != indices.end() && *next < end; ++next, ++count) writer.put(*next % kChunk, kChunkBits);
      std::memcpy(counts, &count, sizeof count);
    }
    block.indices.resize(size);
  }

  [[nodiscard]] Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const override {
    if (block.indices.size() != bytes_of(block.count, block.length)) {
      return {Errc::malformed, "chunked indices that do not fit their count and range"};
    }
    const std::size_t chunks = chunks_of(block.length);
    const std::span<const std::byte> local = std::span(block.indices).subspan(2 * chunks);
    if (!zeros_behind(local, block.count * kChunkBits)) return {Errc::malformed, "chunked indices with ones behind the last"};
    indices.resize(block.count);
    BitReader reader(local);
    auto out = indices.begin();
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      std::uint16_t count;
      std::memcpy(&count, block.indices.data() + 2 * chunk, sizeof count);
      if (count > indices.end() - out) return {Errc::malformed, "chunks with more indices than the block"};
      const std::uint64_t first = chunk * kChunk;
      const std::uint64_t end = std::min<std::uint64_t>(kChunk, block.length - first);
      std::uint64_t least = 0;
      bool ascending = true;
      for (const auto last = out + count; out != last; ++out) {
        const std::uint64_t within = reader.window() % kChunk;
        reader.skip(kChunkBits);
        ascending = ascending && within >= least;
        least = within + 1;
        *out = static_cast<std::uint32_t>(first + within);
      }
      if (!ascending || least > end) return {Errc::malformed, "indices of a chunk that do not ascend within it"};
    }
    if (out != indices.end()) return {Errc::malformed, "chunks with fewer indices than the block"};
    return {};
  }
};

}  // namespace

const IndexCoder& chunk12_coder() {
  static const Chunk12 coder;
  return coder;
}

}  // namespace hourglass::compress
