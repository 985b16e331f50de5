// SPDX-License-Identifier: Apache-2.0
// What holds for every message of the protocol, whatever its fields.
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/random.h"
#include "messages/all_messages.h"
#include "messages/codec.h"
#include "tests/support/message_sample.h"
#include "tests/support/typed_messages.h"
#include "tests/support/wire_walk.h"

namespace hourglass {
namespace {

using testing_support::Kind;
using testing_support::sample;
using testing_support::wire_values;
using testing_support::WireValue;

constexpr std::uint64_t kSeeds = 25;

Bytes hex(std::initializer_list<int> values) {
  Bytes out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

Bytes replaced(const Bytes& bytes, std::size_t begin, std::size_t end, const Bytes& with) {
  Bytes out(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(begin));
  out.insert(out.end(), with.begin(), with.end());
  out.insert(out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(end), bytes.end());
  return out;
}

/// The elements of an array among the values of a message.
std::vector<WireValue> elements_of_array(const std::vector<WireValue>& values, const WireValue& array) {
  std::vector<WireValue> elements;
  std::size_t next = array.content;
  for (const WireValue& each : values) {
    if (each.begin != next || each.begin == array.begin || each.end > array.end) continue;
    elements.push_back(each);
    next = each.end;
  }
  return elements;
}

/// The bytes of each field of a message.
std::vector<Bytes> fields_of(const Bytes& bytes) {
  std::vector<Bytes> fields;
  const auto values = wire_values(bytes);
  for (const WireValue& value : elements_of_array(values, values.front())) {
    fields.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(value.begin), bytes.begin() + static_cast<std::ptrdiff_t>(value.end));
  }
  return fields;
}

template <class M>
void expect_refused(const Bytes& bytes, const std::string& why) {
  const auto result = decode<M>(bytes);
  ASSERT_FALSE(result.ok()) << why;
  EXPECT_TRUE(result.error().code == Errc::malformed || result.error().code == Errc::over_limit) << why;
  EXPECT_EQ(result.error().text.find(std::string(name_of(M::kType)) + ": "), 0U) << why << ": " << result.error().text;
}

template <class M>
class MessageContract : public testing::Test {};
TYPED_TEST_SUITE(MessageContract, testing_support::MessageTypes, testing_support::MessageNames);

TYPED_TEST(MessageContract, ComesBackEqual) {
  const Bytes blank = encode(TypeParam{});
  const auto blank_back = decode<TypeParam>(blank);
  ASSERT_TRUE(blank_back.ok()) << blank_back.error().text;
  EXPECT_EQ(encode(*blank_back), blank);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Bytes bytes = encode(sample<TypeParam>(seed));
    const auto back = decode<TypeParam>(bytes);
    ASSERT_TRUE(back.ok()) << seed << ": " << back.error().text;
    EXPECT_EQ(encode(*back), bytes) << seed;
  }
}

TYPED_TEST(MessageContract, EveryFieldTravels) {
  // A field that did not travel would be the same in every message that comes back.
  const Bytes reference = encode(sample<TypeParam>(1));
  const auto reference_fields = fields_of(reference);
  std::vector<bool> changed(reference_fields.size());
  for (std::uint64_t seed = 2; seed <= 60; ++seed) {
    const auto back = decode<TypeParam>(encode(sample<TypeParam>(seed)));
    ASSERT_TRUE(back.ok()) << back.error().text;
    const auto fields = fields_of(encode(*back));
    ASSERT_EQ(fields.size(), changed.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] != reference_fields[i]) changed[i] = true;
    }
  }
  for (std::size_t i = 0; i < changed.size(); ++i) EXPECT_TRUE(changed[i]) << "element " << i;
}

TYPED_TEST(MessageContract, EveryTruncationIsRefused) {
  const Bytes bytes = encode(sample<TypeParam>());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    expect_refused<TypeParam>(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)), "first " + std::to_string(size));
  }
}

TYPED_TEST(MessageContract, EveryExtraByteIsRefused) {
  Bytes bytes = encode(sample<TypeParam>());
  bytes.emplace_back();
  for (int extra = 0; extra < 256; ++extra) {
    bytes.back() = static_cast<std::byte>(extra);
    expect_refused<TypeParam>(bytes, "extra " + std::to_string(extra));
  }
}

TYPED_TEST(MessageContract, EveryOtherTypeIsRefusedInEveryPlace) {
  struct Other {
    int kind;  ///< a Kind, or -1 for what no field is
    Bytes bytes;
  };
  const std::vector<Other> others = {{-1, hex({0xc0})},                                          // nil
                                     {-1, hex({0xc1})},                                          // never used
                                     {-1, hex({0x80})},                                          // map
                                     {-1, hex({0xdf, 0x7f, 0xff, 0xff, 0xff})},                  // map that claims much
                                     {-1, hex({0xd4, 1, 2})},                                    // ext
                                     {-1, hex({0xc9, 0xff, 0xff, 0xff, 0xff, 1})},               // ext that claims much
                                     {static_cast<int>(Kind::integer), hex({1})},                //
                                     {static_cast<int>(Kind::integer), hex({0xff})},             // -1
                                     {static_cast<int>(Kind::boolean), hex({0xc3})},             //
                                     {static_cast<int>(Kind::real32), hex({0xca, 0, 0, 0, 0})},  //
                                     {static_cast<int>(Kind::real64), hex({0xcb, 0, 0, 0, 0, 0, 0, 0, 0})},
                                     {static_cast<int>(Kind::text), hex({0xa1, 'a'})},
                                     {static_cast<int>(Kind::text), hex({0xdb, 0xff, 0xff, 0xff, 0xff, 'a'})},
                                     {static_cast<int>(Kind::bin), hex({0xc4, 1, 2})},
                                     {static_cast<int>(Kind::bin), hex({0xc6, 0x3f, 0xff, 0xff, 0xff, 1})},
                                     {static_cast<int>(Kind::array), hex({0x90})},
                                     {static_cast<int>(Kind::array), hex({0xdd, 0xff, 0xff, 0xff, 0xff})}};
  const Bytes bytes = encode(sample<TypeParam>());
  for (const WireValue& value : wire_values(bytes)) {
    for (const Other& other : others) {
      if (other.kind == static_cast<int>(value.kind)) continue;
      expect_refused<TypeParam>(replaced(bytes, value.begin, value.end, other.bytes),
                                "at byte " + std::to_string(value.begin) + " type " + std::to_string(static_cast<int>(other.bytes[0])));
    }
  }
}

TYPED_TEST(MessageContract, WrongCountsAreRefused) {
  const Bytes bytes = encode(sample<TypeParam>());
  const auto header = [](std::size_t count) { return hex({0xdc, static_cast<int>(count >> 8), static_cast<int>(count & 0xff)}); };
  const auto values = wire_values(bytes);
  for (const WireValue& array : values) {
    if (array.kind != Kind::array) continue;
    const auto elements = elements_of_array(values, array);
    // A wider header with the true count is the same message; any other count is not.
    const auto same = decode<TypeParam>(replaced(bytes, array.begin, array.content, header(elements.size())));
    ASSERT_TRUE(same.ok()) << same.error().text;
    EXPECT_EQ(encode(*same), bytes);
    for (std::size_t count = 0; count < elements.size() + 3; ++count) {
      if (count == elements.size()) continue;
      expect_refused<TypeParam>(replaced(bytes, array.begin, array.content, header(count)),
                                "array at byte " + std::to_string(array.begin) + " claims " + std::to_string(count));
    }
    if (array.begin == 0) {  // the message itself: one field less, and one more
      expect_refused<TypeParam>(
          replaced(replaced(bytes, elements.back().begin, bytes.size(), {}), 0, array.content, header(elements.size() - 1)),
          "one field less");
      expect_refused<TypeParam>(
          replaced(replaced(bytes, bytes.size(), bytes.size(), hex({0})), 0, array.content, header(elements.size() + 1)), "one field more");
    }
  }
}

TYPED_TEST(MessageContract, AnyBitOfABlobIsGuarded) {
  const Bytes bytes = encode(sample<TypeParam>());
  for (const WireValue& value : wire_values(bytes)) {
    if (value.kind != Kind::bin) continue;
    for (std::size_t at = value.content; at < value.end; ++at) {
      Bytes damaged = bytes;
      damaged[at] ^= static_cast<std::byte>(1U << (at % 8));
      expect_refused<TypeParam>(damaged, "bit in byte " + std::to_string(at));
    }
  }
}

TYPED_TEST(MessageContract, MutationsAreRefusedOrMeanAMessage) {
  Random random(20240229);
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = encode(sample<TypeParam>(1 + random.below(5)));
    for (std::uint64_t edits = 1 + random.below(3); edits > 0 && !bytes.empty(); --edits) {
      const std::size_t at = random.below(bytes.size());
      const auto byte = static_cast<std::byte>(random.next());
      switch (random.below(4)) {
        case 0: bytes[at] = byte; break;
        case 1: bytes[at] ^= static_cast<std::byte>(1U << random.below(8)); break;
        case 2: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), byte); break;
        default: bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at)); break;
      }
    }
    const auto once = decode<TypeParam>(bytes);
    if (!once.ok()) continue;
    // The encoder is canonical: it may choose another width than a foreign encoder did, and then says the same for ever.
    const Bytes canonical = encode(*once);
    EXPECT_LE(canonical.size(), bytes.size());
    const auto twice = decode<TypeParam>(canonical);
    ASSERT_TRUE(twice.ok()) << twice.error().text;
    EXPECT_EQ(encode(*twice), canonical);
  }
}

}  // namespace
}  // namespace hourglass
