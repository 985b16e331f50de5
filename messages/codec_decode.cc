// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "messages/all_messages.h"
#include "messages/codec.h"
#include "messages/elements.h"
#include "messages/wire_reader.h"

namespace hourglass {
namespace {

template <class L>
bool not_below(WireInteger value, L low) {
  return value.negative ? std::cmp_less_equal(low, static_cast<std::int64_t>(value.bits)) : std::cmp_less_equal(low, value.bits);
}
template <class H>
bool not_above(WireInteger value, H high) {
  return value.negative ? std::cmp_less_equal(static_cast<std::int64_t>(value.bits), high) : std::cmp_less_equal(value.bits, high);
}

/// Fills a struct field by field. After the first failure every verb does nothing; the error's text grows a position at each
/// level it leaves: "field 8: item 2: field 10: wrong checksum". Fields and items are counted from 1.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> body) : reader_(body) {}

  [[nodiscard]] bool failed() const { return failed_; }
  Error& error() { return error_; }
  [[nodiscard]] std::size_t remaining() const { return reader_.remaining(); }
  void refuse(Errc code, std::string text) {
    failed_ = true;
    error_ = {code, std::move(text)};
  }

  template <Described S>
  void structure(S& out) {
    const auto count = reader_.array();
    const std::uint32_t expected = elements_of(out);
    if (!count) return refuse(Errc::malformed, "not an array");
    if (*count != expected) {
      return refuse(Errc::malformed, std::to_string(*count) + " elements instead of " + std::to_string(expected));
    }
    const std::uint32_t outer = std::exchange(position_, 0);
    S::fields(out, *this);
    position_ = outer;
  }

  template <class T>
  void number(T& out) {
    number(out, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }
  template <class T, class L, class H>
  void number(T& out, L low, H high) {
    if (!enter()) return;
    const auto value = reader_.integer();
    if (!value) return refuse_here(Errc::malformed, "not an integer");
    constexpr T kLow = std::numeric_limits<T>::min();
    constexpr T kHigh = std::numeric_limits<T>::max();
    if (!not_below(*value, low) || !not_above(*value, high) || !not_below(*value, kLow) || !not_above(*value, kHigh)) {
      return refuse_here(Errc::malformed, "not in " + std::to_string(low) + ".." + std::to_string(high));
    }
    out = static_cast<T>(value->bits);
  }
  void flag(bool& out) {
    if (!enter()) return;
    const auto value = reader_.boolean();
    if (!value) return refuse_here(Errc::malformed, "not a bool");
    out = *value;
  }
  template <class E>
  void choice(E& out, E last) {
    choice(out, E{}, last);
  }
  template <class E>
  void choice(E& out, E first, E last) {
    auto value = static_cast<std::uint8_t>(out);
    number(value, static_cast<unsigned>(first), static_cast<unsigned>(last));
    if (!failed_) out = static_cast<E>(value);
  }
  void real(float& out) { real_from(reader_, &WireReader::real32, out, "not a float32"); }
  void real(double& out) { real_from(reader_, &WireReader::real64, out, "not a float64"); }
  void text(std::string& out, std::size_t bytes_max) {
    if (!enter()) return;
    const auto size = reader_.text();
    if (!size) return refuse_here(Errc::malformed, "not a string");
    const auto bytes = claimed(*size, bytes_max);
    if (failed_) return;
    if (!is_clean_text(as_text(bytes))) return refuse_here(Errc::malformed, "not clean UTF-8");
    out.assign(as_text(bytes));
  }
  template <class T>
  void packed(std::vector<T>& out, std::size_t count_max) {
    const auto bytes = checked_bin(count_max * sizeof(T));
    if (failed_) return;
    if (bytes.size() % sizeof(T) != 0) return refuse_here(Errc::malformed, "not whole numbers of " + std::to_string(sizeof(T)) + " bytes");
    out = from_bytes<T>(bytes);
    if constexpr (std::is_floating_point_v<T>) {
      for (const T value : out) {
        if (!std::isfinite(value)) return refuse_here(Errc::malformed, "not finite");
      }
    }
  }
  void blob(Bytes& out, std::size_t bytes_max) {
    const auto bytes = checked_bin(bytes_max);
    if (!failed_) out.assign(bytes.begin(), bytes.end());
  }
  template <Described S>
  void items(std::vector<S>& out, std::size_t count_max) {
    if (!enter()) return;
    const auto count = reader_.array();
    if (!count) return refuse_here(Errc::malformed, "not an array");
    if (*count > count_max) return refuse_over(*count, count_max);
    S blank;
    if (*count > reader_.remaining() / (1 + elements_of(blank))) return refuse_here(Errc::malformed, "incomplete");
    out.clear();
    out.reserve(*count);
    while (out.size() < *count && !failed_) structure(out.emplace_back());
    if (failed_) refuse_here(error_.code, "item " + std::to_string(out.size()) + ": " + error_.text);
  }
  template <Described S>
  void group(S& out) {
    if (!enter()) return;
    structure(out);
    if (failed_) refuse_here(error_.code, std::string(error_.text));
  }

 private:
  /// Counts a field; false when an earlier one failed.
  bool enter() {
    if (failed_) return false;
    ++position_;
    return true;
  }
  void refuse_here(Errc code, const std::string& text) { refuse(code, "field " + std::to_string(position_) + ": " + text); }
  void refuse_over(std::size_t claim, std::size_t limit) {
    refuse_here(Errc::over_limit, std::to_string(claim) + " is above the limit of " + std::to_string(limit));
  }

  template <class F>
  void real_from(WireReader& reader, std::optional<F> (WireReader::*read)(), F& out, const char* otherwise) {
    if (!enter()) return;
    const auto value = (reader.*read)();
    if (!value) return refuse_here(Errc::malformed, otherwise);
    if (!std::isfinite(*value)) return refuse_here(Errc::malformed, "not finite");
    out = *value;
  }
  /// The bytes behind a header that claims `size` of them.
  std::span<const std::byte> claimed(std::size_t size, std::size_t bytes_max) {
    if (size > bytes_max) return refuse_over(size, bytes_max), std::span<const std::byte>();
    const auto bytes = reader_.take(size);
    if (!bytes) refuse_here(Errc::malformed, "incomplete");
    return bytes.value_or(std::span<const std::byte>());
  }
  std::span<const std::byte> checked_bin(std::size_t bytes_max) {
    if (!enter()) return {};
    const auto size = reader_.bin();
    if (!size) return refuse_here(Errc::malformed, "not a bin"), std::span<const std::byte>();
    const auto bytes = claimed(*size, bytes_max);
    if (failed_) return {};
    const auto sum = reader_.integer();
    if (!sum || sum->negative || sum->bits != checksum(bytes)) refuse_here(Errc::malformed, "wrong checksum");
    return bytes;
  }

  WireReader reader_;
  Error error_;
  bool failed_ = false;
  std::uint32_t position_ = 0;
};

}  // namespace

template <WireMessage M>
Result<M> decode(std::span<const std::byte> body) {
  Decoder decoder(body);
  M message;
  if (body.size() > limits::kBodyBytes) {
    decoder.refuse(Errc::over_limit, std::to_string(body.size()) + " bytes are above the limit of " + std::to_string(limits::kBodyBytes));
  } else {
    decoder.structure(message);
  }
  if (!decoder.failed() && decoder.remaining() > 0) {
    decoder.refuse(Errc::malformed, std::to_string(decoder.remaining()) + " bytes too many");
  }
  if (decoder.failed()) return {decoder.error().code, std::string(name_of(M::kType)) + ": " + decoder.error().text};
  return message;
}

#define HOURGLASS_DECODE(Struct, name) template Result<Struct> decode(std::span<const std::byte>);
HOURGLASS_MESSAGES(HOURGLASS_DECODE)
#undef HOURGLASS_DECODE

}  // namespace hourglass
