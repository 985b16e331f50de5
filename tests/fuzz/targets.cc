// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.h"

#include <cstring>

#include "base/check.h"
#include "base/spec.h"
#include "messages/all_messages.h"
#include "messages/codec.h"
#include "messages/envelope.h"

namespace hourglass::fuzz {
namespace {

template <WireMessage M>
void decode_one(std::span<const std::byte> body) {
  const auto once = decode<M>(body);
  if (!once.ok()) {
    HG_CHECK(once.error().code == Errc::malformed || once.error().code == Errc::over_limit, "an error of another kind");
    HG_CHECK(once.error().text.size() < 300, "an error text that grows");
    return;
  }
  const Bytes canonical = encode(*once);
  HG_CHECK(canonical.size() <= body.size(), "our encoding is the shortest");
  const auto twice = decode<M>(canonical);
  HG_CHECK(twice.ok(), "what was accepted is accepted again");
  HG_CHECK(encode(*twice) == canonical, "what was accepted comes back equal");
}

}  // namespace

void decode_message(std::span<const std::byte> input) {
  if (input.empty()) return;
  using Decode = void (*)(std::span<const std::byte>);
#define HOURGLASS_DECODE(Struct, name) decode_one<Struct>,
  static constexpr Decode kDecoders[] = {HOURGLASS_MESSAGES(HOURGLASS_DECODE)};
#undef HOURGLASS_DECODE
  kDecoders[static_cast<std::size_t>(input[0]) % std::size(kDecoders)](input.subspan(1));
}

void decode_envelope_header(std::span<const std::byte> input) {
  std::uint16_t body_bytes = 0;
  if (input.size() < sizeof body_bytes) return;
  std::memcpy(&body_bytes, input.data(), sizeof body_bytes);
  // The checksum is made right, or nothing behind it would ever be reached; the plain bytes are tried too.
  Bytes header(input.begin() + sizeof body_bytes, input.end());
  for (const bool repaired : {false, true}) {
    if (repaired) {
      if (header.size() != kHeaderBytes) return;
      std::memcpy(header.data(), "HGLS", 4);
      const std::uint32_t sum = checksum(std::span(header).first(kHeaderBytes - sizeof sum));
      std::memcpy(header.data() + kHeaderBytes - sizeof sum, &sum, sizeof sum);
    }
    auto envelope = decode_header(header, body_bytes);
    if (!envelope.ok()) continue;
    envelope->body = share(Bytes(body_bytes));
    HG_CHECK(encode_header(*envelope) == header, "an accepted header comes back equal");
  }
}

void parse_spec_text(std::span<const std::byte> input) {
  const auto once = parse_spec(as_text(input));
  if (!once.ok()) return;
  const std::string canonical = to_string(*once);
  if (canonical.size() > kSpecBytesMax) return;  // blanks around bars may lengthen it
  const auto twice = parse_spec(canonical);
  HG_CHECK(twice.ok(), "what was accepted is accepted again");
  HG_CHECK(to_string(*twice) == canonical, "what was accepted means the same");
  for (const SpecStage& stage : *once) {
    (void)stage.only({"ratio"}, 1);
    (void)stage.whole_word(0, "size", -1000, 1000);
    for (const auto& [key, value] : stage.options) {
      const auto number = stage.number(key, 0, -1e6, 1e6);
      HG_CHECK(!number.ok() || (*number >= -1e6 && *number <= 1e6), "a number in its range");
      const auto whole = stage.whole(key, 0, -1000, 1000);
      HG_CHECK(!whole.ok() || (*whole >= -1000 && *whole <= 1000), "a whole number in its range");
    }
  }
}

}  // namespace hourglass::fuzz
