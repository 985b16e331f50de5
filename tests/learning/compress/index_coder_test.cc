// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/index_coder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "learning/compress/bits.h"
#include "learning/compress/registry.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

using Indices = std::vector<std::uint32_t>;

std::vector<const IndexCoder*> coders() {
  std::vector<const IndexCoder*> out;
  for (const Stage& stage : stages()) {
    if (stage.index_coder != nullptr) out.push_back(stage.index_coder);
  }
  return out;
}

GradientBlock block_of(const IndexCoder& coder, const Indices& indices, std::size_t length) {
  GradientBlock block;
  block.length = length;
  block.count = indices.size();
  coder.encode(indices, length, block);
  return block;
}

Indices random_set(std::size_t length, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::set<std::uint32_t> out;
  while (out.size() < count) out.insert(static_cast<std::uint32_t>(random.below(length)));
  return {out.begin(), out.end()};
}

Indices run(std::size_t from, std::size_t to, std::size_t step = 1) {
  Indices out;
  for (std::size_t i = from; i < to; i += step) out.push_back(static_cast<std::uint32_t>(i));
  return out;
}

/// What a coder is given: the set, or what it has widened it to.
Indices given(const IndexCoder& coder, const Indices& indices, std::size_t length) {
  if (coder.exact()) return indices;
  Entries entries{indices, std::vector<float>(indices.size(), 1.0F)};
  coder.widen(std::vector<float>(length, 1.0F), entries);
  return entries.indices;
}

bool accepts(const IndexCoder& coder, std::size_t length, std::size_t count, Bytes bytes) {
  GradientBlock block;
  block.length = length;
  block.count = count;
  block.index_codec = coder.wire();
  block.indices = std::move(bytes);
  Indices out;
  return coder.decode(block, out).ok();
}

double log2_choose(double n, double k) { return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(2.0); }

TEST(C21_IndexCoders, RoundTripOfEverySet) {
  std::vector<std::pair<std::size_t, Indices>> sets;
  for (const std::size_t n : {1UL, 2UL, 7UL, 8UL, 9UL, 63UL, 64UL, 65UL, 1000UL, 100003UL}) {
    sets.insert(sets.end(), {{n, {}},
                             {n, {0}},
                             {n, {static_cast<std::uint32_t>(n - 1)}},
                             {n, run(0, n)},
                             {n, run(0, n, 2)},
                             {n, run(n / 2, n)},
                             {n, run(0, n / 3)},
                             {n, random_set(n, n / 10, n)},
                             {n, random_set(n, n / 2, n)}});
  }
  Indices clustered;
  for (std::size_t at = 0; at < 9000000; at += 1000000) {
    for (const std::uint32_t i : run(at, at + 50)) clustered.push_back(i);
  }
  clustered.push_back(9999999);
  sets.emplace_back(10000000, clustered);
  sets.emplace_back(limits::kParameters, Indices{0, static_cast<std::uint32_t>(limits::kParameters - 1)});
  sets.emplace_back(limits::kParameters, Indices{static_cast<std::uint32_t>(limits::kParameters - 1)});
  for (const double density : {0.0001, 0.001, 0.01, 0.1}) {
    sets.emplace_back(1000000, random_set(1000000, static_cast<std::size_t>(density * 1e6), 5));
  }
  for (const auto& [length, set] : sets) {
    for (const IndexCoder* coder : coders()) {
      if (!coder->exact() && length > 10000000) continue;  // needs the values of the whole range
      const Indices indices = given(*coder, set, length);
      SCOPED_TRACE(std::to_string(length) + " with " + std::to_string(indices.size()) + " codec " +
                   std::to_string(static_cast<int>(coder->wire())));
      const GradientBlock block = block_of(*coder, indices, length);
      EXPECT_EQ(block.indices.size(), coder->bytes(indices, length));
      Indices out;
      const Status status = coder->decode(block, out);
      ASSERT_TRUE(status.ok()) << status.error().text;
      ASSERT_EQ(out, indices);
    }
  }
}

TEST(C5_IndexCoders, LastPositionOfALongRange) {
  for (const std::uint32_t length : {70000U, 5000000U}) {
    for (const IndexCoder* coder : coders()) {
      const Indices indices = given(*coder, {3, 65535, 65536, length - 1}, length);
      Indices out;
      ASSERT_TRUE(coder->decode(block_of(*coder, indices, length), out).ok());
      EXPECT_EQ(out, indices);
      EXPECT_EQ(out.back(), length - 1);
    }
  }
}

/// The most that an index of a uniformly random set may cost, as a share of log2 C(n, k) / k.
TEST(C21_IndexCoders, SizeOfRandomSetsAgainstTheInformationBound) {
  const std::size_t n = 1000000;
  struct Row {
    IndexCodec codec;
    std::size_t count;
    double share;
  };
  const std::vector<Row> rows = {
      {IndexCodec::rice, 10000, 1.015},       {IndexCodec::rice, 1000, 1.015},      {IndexCodec::rice, 100000, 1.025},
      {IndexCodec::elias_fano, 10000, 1.065}, {IndexCodec::elias_fano, 1000, 1.06}, {IndexCodec::elias_fano, 100000, 1.13},
      {IndexCodec::varint, 10000, 1.28},      {IndexCodec::varint, 1000, 1.34},     {IndexCodec::varint, 100000, 1.71},
      {IndexCodec::chunk12, 10000, 1.55},     {IndexCodec::bloom, 10000, 2.5}};
  for (const Row& row : rows) {
    const IndexCoder& coder = *find_index_coder(row.codec);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const GradientBlock block = block_of(coder, given(coder, random_set(n, row.count, seed), n), n);
      const auto k = static_cast<double>(row.count);
      const double bits = 8.0 * static_cast<double>(block.indices.size());
      EXPECT_LE(bits, row.share * log2_choose(static_cast<double>(n), k)) << static_cast<int>(row.codec) << " at " << k << ": " << bits / k;
    }
  }
}

TEST(C21_Rice, ParameterIsTheCheapest) {
  const IndexCoder& rice = *find_index_coder(IndexCodec::rice);
  for (const auto& indices :
       {random_set(100000, 1000, 1), run(500, 900), run(0, 100000, 17), random_set(100000, 60000, 2), Indices{99999}}) {
    std::uint64_t best = UINT64_MAX;
    for (unsigned b = 0; b <= 31; ++b) {
      std::uint64_t bits = 0;
      std::uint32_t expected = 0;
      for (const std::uint32_t index : indices) {
        bits += ((index - expected) >> b) + 1 + b;
        expected = index + 1;
      }
      best = std::min(best, bits);
    }
    EXPECT_EQ(rice.bytes(indices, 100000), (best + 7) / 8);
  }
}

TEST(Rice, LayoutIsThatOfTheWire) {
  // Gaps 2, 0, 5 with parameter 1, from the low bit: "1 0 0", "0 0", "1 1 0 1".
  GradientBlock block;
  block.length = 20;
  block.count = 3;
  block.index_codec = IndexCodec::rice;
  block.rice_bits = 1;
  block.indices = {std::byte{0b01100001}, std::byte{0b1}};
  Indices out;
  ASSERT_TRUE(find_index_coder(IndexCodec::rice)->decode(block, out).ok());
  EXPECT_EQ(out, (Indices{2, 3, 9}));
}

class StrictRice : public ::testing::Test {
 protected:
  static bool accepts(std::size_t length, std::size_t count, unsigned b, Bytes bytes) {
    GradientBlock block;
    block.length = length;
    block.count = count;
    block.index_codec = IndexCodec::rice;
    block.rice_bits = static_cast<std::uint8_t>(b);
    block.indices = std::move(bytes);
    Indices out;
    return find_index_coder(IndexCodec::rice)->decode(block, out).ok();
  }
};

TEST_F(StrictRice, RefusesWhatEncodeWouldNotWrite) {
  EXPECT_TRUE(accepts(8, 1, 0, {std::byte{0b01111111}}));        // index 7
  EXPECT_FALSE(accepts(7, 1, 0, {std::byte{0b01111111}}));       // beyond the range
  EXPECT_FALSE(accepts(8, 1, 0, {std::byte{0b11111111}}));       // a run without end
  EXPECT_FALSE(accepts(8, 1, 0, {std::byte{0b10111111}}));       // index 6 and a one behind it
  EXPECT_FALSE(accepts(8, 1, 0, {std::byte{0}, std::byte{0}}));  // a byte too many
  EXPECT_FALSE(accepts(8, 1, 0, {}));
  EXPECT_FALSE(accepts(8, 0, 0, {std::byte{0}}));
  EXPECT_TRUE(accepts(8, 0, 0, {}));
  EXPECT_FALSE(accepts(8, 1, 8, {std::byte{0}}));           // nine bits needed
  EXPECT_FALSE(accepts(1 << 20, 1 << 20, 0, Bytes(1000)));  // claims more than its bits
  EXPECT_FALSE(accepts(8, 1, 32, Bytes(5)));
  EXPECT_FALSE(accepts(1 << 28, 1, 0, Bytes(1 << 20, std::byte{0xff})));  // a long run without end
  EXPECT_FALSE(accepts(100, 1, 31, Bytes(5000, std::byte{0xff})));
}

TEST(StrictRaw, RefusesUnsortedRepeatedAndBeyond) {
  const IndexCoder& raw = *find_index_coder(IndexCodec::raw);
  const auto accepts = [&](const Indices& indices) {
    GradientBlock block = block_of(raw, indices, 10);
    Indices out;
    return raw.decode(block, out).ok();
  };
  EXPECT_TRUE(accepts({0, 5, 9}));
  EXPECT_FALSE(accepts({0, 5, 10}));
  EXPECT_FALSE(accepts({5, 0, 9}));
  EXPECT_FALSE(accepts({5, 5}));
  EXPECT_FALSE(accepts({0xffffffffU}));
}

TEST(StrictBitmap, RefusesAnotherNumberOfOnesOrOnesInThePadding) {
  const IndexCoder& bitmap = *find_index_coder(IndexCodec::bitmap);
  GradientBlock block = block_of(bitmap, {1, 9}, 10);
  Indices out;
  ASSERT_TRUE(bitmap.decode(block, out).ok());
  block.count = 3;
  EXPECT_FALSE(bitmap.decode(block, out).ok());
  block.indices[1] |= std::byte{4};
  EXPECT_FALSE(bitmap.decode(block, out).ok());
}

TEST(EliasFano, LayoutIsThatOfItsHeader) {
  // n = 20, k = 3: l = 2. Upper parts 0, 0, 2 at bits 0, 1, 4 of 7; lower parts 2, 3, 1.
  const GradientBlock block = block_of(*find_index_coder(IndexCodec::elias_fano), {2, 3, 9}, 20);
  EXPECT_EQ(block.indices, (Bytes{std::byte{0b10011}, std::byte{0b011110}}));
}

TEST(StrictEliasFano, RefusesWhatEncodeWouldNotWrite) {
  const IndexCoder& coder = *find_index_coder(IndexCodec::elias_fano);
  const auto with = [&](unsigned high, unsigned low) { return accepts(coder, 20, 3, {std::byte(high), std::byte(low)}); };
  EXPECT_TRUE(with(0b10011, 0b011110));
  EXPECT_FALSE(with(0b10011, 0b011010));     // 2, 2
  EXPECT_FALSE(with(0b10011, 0b011011));     // 3, 2
  EXPECT_FALSE(with(0b10001, 0b011110));     // two of three
  EXPECT_FALSE(with(0b11011, 0b011110));     // four of three
  EXPECT_FALSE(with(0b10010011, 0b011110));  // a one in the padding
  EXPECT_FALSE(with(0b10011, 0b1011110));
  EXPECT_TRUE(with(0b1000011, 0b111110));  // 19
  EXPECT_FALSE(accepts(coder, 18, 3, {std::byte{0b1000011}, std::byte{0b111110}}));
  EXPECT_FALSE(accepts(coder, 20, 3, {std::byte{0b10011}}));
  EXPECT_FALSE(accepts(coder, 20, 0, {std::byte{0}}));
  EXPECT_FALSE(accepts(coder, 0, 0, {std::byte{0}}));
  EXPECT_FALSE(accepts(coder, limits::kParameters, limits::kParameters, Bytes(100)));
}

TEST(StrictVarint, RefusesWhatEncodeWouldNotWrite) {
  const IndexCoder& coder = *find_index_coder(IndexCodec::varint);
  EXPECT_EQ(block_of(coder, {0, 300, 301}, 400).indices, (Bytes{std::byte{0}, std::byte{0xab}, std::byte{2}, std::byte{0}}));
  EXPECT_TRUE(accepts(coder, 129, 1, {std::byte{0x80}, std::byte{1}}));
  EXPECT_FALSE(accepts(coder, 128, 1, {std::byte{0x80}, std::byte{1}}));  // beyond the range
  EXPECT_FALSE(accepts(coder, 129, 1, {std::byte{0x85}, std::byte{0}}));  // 5 in two bytes
  EXPECT_FALSE(accepts(coder, 129, 1, {std::byte{0x85}}));
  EXPECT_FALSE(accepts(coder, 129, 1, {std::byte{5}, std::byte{0}}));
  EXPECT_FALSE(accepts(coder, 129, 2, {std::byte{5}}));
  EXPECT_FALSE(accepts(coder, 129, 0, {std::byte{5}}));
  EXPECT_FALSE(accepts(coder, limits::kParameters, 1, Bytes(5, std::byte{0xff})));
  EXPECT_FALSE(accepts(coder, limits::kParameters, 2, Bytes(7, std::byte{0x80})));
  EXPECT_FALSE(accepts(coder, limits::kParameters, limits::kParameters, Bytes(100)));
}

TEST(StrictChunk12, RefusesWhatEncodeWouldNotWrite) {
  const IndexCoder& coder = *find_index_coder(IndexCodec::chunk12);
  const auto bytes = [](std::initializer_list<unsigned> list) {
    Bytes out;
    for (const unsigned each : list) out.push_back(static_cast<std::byte>(each));
    return out;
  };
  const Bytes good = bytes({2, 0, 1, 0, 0x05, 0xf0, 0xff, 0x02, 0x00});
  EXPECT_EQ(block_of(coder, {5, 4095, 4098}, 4100).indices, good);
  EXPECT_TRUE(accepts(coder, 4100, 3, good));
  EXPECT_FALSE(accepts(coder, 4098, 3, good));                                            // beyond the range
  EXPECT_FALSE(accepts(coder, 4100, 3, bytes({2, 0, 1, 0, 0x05, 0x50, 0x00, 0x02, 0})));  // 5, 5
  EXPECT_FALSE(accepts(coder, 4100, 3, bytes({3, 0, 0, 0, 0x05, 0xf0, 0xff, 0x02, 0})));  // 5, 4095, 2
  EXPECT_FALSE(accepts(coder, 4100, 3, bytes({2, 0, 2, 0, 0x05, 0xf0, 0xff, 0x02, 0})));
  EXPECT_FALSE(accepts(coder, 4100, 3, bytes({2, 0, 0, 0, 0x05, 0xf0, 0xff, 0x02, 0})));
  EXPECT_FALSE(accepts(coder, 4100, 3, bytes({255, 255, 1, 0, 0x05, 0xf0, 0xff, 0x02, 0})));
  EXPECT_FALSE(accepts(coder, 4100, 3, bytes({2, 0, 1, 0, 0x05, 0xf0, 0xff, 0x02, 0x10})));  // a one in the padding
  EXPECT_FALSE(accepts(coder, 4100, 2, good));
  EXPECT_FALSE(accepts(coder, limits::kParameters, limits::kParameters, Bytes(100)));
}

TEST(Bloom, WidensToWhatItsFilterHasWithTrueValues) {
  const IndexCoder& bloom = *find_index_coder(IndexCodec::bloom);
  for (const std::size_t count : {1UL, 100UL, 2048UL, 3000UL, 4095UL, 20000UL, 60000UL}) {
    const std::size_t length = 100000;
    const auto values = normal_vector(length, count);
    const Indices chosen = random_set(length, count, count);
    Entries entries;
    for (const std::uint32_t index : chosen) {
      entries.indices.push_back(index);
      entries.values.push_back(values[index]);
    }
    bloom.widen(values, entries);
    EXPECT_TRUE(std::ranges::includes(entries.indices, chosen));
    EXPECT_LE(entries.indices.size(), count + count / 4 + 4) << count;
    ASSERT_EQ(entries.values.size(), entries.indices.size());
    for (std::size_t i = 0; i < entries.indices.size(); ++i) ASSERT_EQ(entries.values[i], values[entries.indices[i]]);
    Entries again = entries;
    bloom.widen(values, again);
    EXPECT_EQ(again.indices, entries.indices);
  }
}

TEST(Bloom, RefusesHostileFilters) {
  const IndexCoder& bloom = *find_index_coder(IndexCodec::bloom);
  const std::size_t length = 10000;
  const Indices indices = given(bloom, random_set(length, 100, 1), length);
  const GradientBlock good = block_of(bloom, indices, length);
  ASSERT_TRUE(accepts(bloom, length, indices.size(), good.indices));
  EXPECT_FALSE(accepts(bloom, length, indices.size() - 1, good.indices));
  EXPECT_FALSE(accepts(bloom, length, indices.size() + 1, good.indices));
  EXPECT_FALSE(accepts(bloom, length, indices.size(), {}));
  EXPECT_FALSE(accepts(bloom, length, indices.size(), Bytes(good.indices.size())));
  EXPECT_FALSE(accepts(bloom, length, indices.size(), Bytes(good.indices.size(), std::byte{0xff})));
  EXPECT_FALSE(accepts(bloom, length, 0, {std::byte{0}}));
  EXPECT_TRUE(accepts(bloom, length, 0, {}));
  EXPECT_FALSE(accepts(bloom, limits::kParameters, 1, Bytes(8, std::byte{0xff})));
  EXPECT_FALSE(accepts(bloom, limits::kParameters, limits::kParameters, Bytes(100, std::byte{0xff})));
  int refused = 0;
  for (std::size_t bit = 0; bit < good.indices.size() * 8; ++bit) {  // one that no entry has set, or one less
    Bytes bytes = good.indices;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    refused += accepts(bloom, length, indices.size(), bytes) ? 0 : 1;
  }
  EXPECT_EQ(refused, static_cast<int>(good.indices.size() * 8));
}

TEST(Bits, WriterAndReaderAgree) {
  Random random(2);
  std::vector<std::pair<std::uint64_t, unsigned>> pieces;
  std::size_t total = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto length = static_cast<unsigned>(random.below(57));
    pieces.emplace_back(length == 0 ? 0 : random.next() >> (64 - length), length);
    total += length;
  }
  Bytes bytes((total + 7) / 8 + 8);
  BitWriter writer(bytes.data());
  for (const auto& [bits, length] : pieces) writer.put(bits, length);
  bytes.resize((total + 7) / 8);
  BitReader reader(bytes);
  std::size_t position = 0;
  for (const auto& [bits, length] : pieces) {
    ASSERT_EQ(reader.window() & ((1ULL << length) - 1), bits);
    reader.skip(length);
    position += length;
    ASSERT_EQ(reader.position(), position);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
