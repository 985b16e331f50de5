// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <msgpack.hpp>
#include <utility>

#include "base/check.h"
#include "messages/all_messages.h"
#include "messages/codec.h"
#include "messages/elements.h"

namespace hourglass {
namespace {

/// An upper bound of the encoded size, so that the body is allocated once.
struct SizeBound {
  std::size_t bytes = 5;  // the outermost array's header

  template <class... A>
  void number(A&&...) {
    bytes += 9;
  }
  template <class... A>
  void flag(A&&...) {
    bytes += 1;
  }
  template <class... A>
  void choice(A&&...) {
    bytes += 9;
  }
  template <class... A>
  void real(A&&...) {
    bytes += 9;
  }
  void text(const std::string& value, std::size_t) { bytes += 5 + value.size(); }
  template <class T>
  void packed(const std::vector<T>& values, std::size_t) {
    bytes += 10 + values.size() * sizeof(T);
  }
  void blob(const Bytes& value, std::size_t) { bytes += 10 + value.size(); }
  template <Described S>
  void items(const std::vector<S>& values, std::size_t) {
    bytes += 5;
    for (const S& each : values) group(each);
  }
  template <Described S>
  void group(const S& value) {
    bytes += 5;
    S::fields(value, *this);
  }
};

/// Where msgpack-cxx writes to.
struct Body {
  Bytes bytes;
  void write(const char* data, std::size_t size) {
    const auto* from = reinterpret_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + size);
  }
};

/// Whoever fills a message keeps its limits: a receiver would refuse it, and the sender would never learn why.
class Encoder {
 public:
  explicit Encoder(Body& body) : body_(body), packer_(body) {}

  template <Described S>
  void group(const S& value) {
    packer_.pack_array(elements_of(value));
    S::fields(value, *this);
  }
  template <class T>
  void number(T value) {
    pack_integer(value);
  }
  template <class T, class L, class H>
  void number(T value, L low, H high) {
    HG_CHECK(std::cmp_less_equal(low, value) && std::cmp_less_equal(value, high), "encode: a number is out of its range");
    pack_integer(value);
  }
  void flag(bool value) { value ? packer_.pack_true() : packer_.pack_false(); }
  template <class E>
  void choice(E value, E last) {
    choice(value, E{}, last);
  }
  template <class E>
  void choice(E value, E first, E last) {
    HG_CHECK(first <= value && value <= last, "encode: not a value of this enum");
    packer_.pack_uint64(static_cast<std::uint64_t>(value));
  }
  void real(float value) { write_real(0xca, value, std::bit_cast<std::uint32_t>(value)); }
  void real(double value) { write_real(0xcb, value, std::bit_cast<std::uint64_t>(value)); }
  void text(const std::string& value, std::size_t bytes_max) {
    HG_CHECK(value.size() <= bytes_max && is_clean_text(value), "encode: a text is too long or not clean UTF-8: " + value.substr(0, 80));
    packer_.pack_str(static_cast<std::uint32_t>(value.size()));
    packer_.pack_str_body(value.data(), static_cast<std::uint32_t>(value.size()));
  }
  template <class T>
  void packed(const std::vector<T>& values, std::size_t count_max) {
    HG_CHECK(values.size() <= count_max, "encode: a packed field is above its limit");
    if constexpr (std::is_floating_point_v<T>) {
      for (const T value : values) HG_CHECK(std::isfinite(value), "encode: a packed real is not finite");
    }
    pack_bin(std::as_bytes(std::span(values)));
  }
  void blob(const Bytes& value, std::size_t bytes_max) {
    HG_CHECK(value.size() <= bytes_max, "encode: a blob is above its limit");
    pack_bin(value);
  }
  template <Described S>
  void items(const std::vector<S>& values, std::size_t count_max) {
    HG_CHECK(values.size() <= count_max, "encode: a list is above its limit");
    packer_.pack_array(static_cast<std::uint32_t>(values.size()));
    for (const S& each : values) group(each);
  }

 private:
  template <std::integral T>
  void pack_integer(T value) {
    if constexpr (std::is_signed_v<T>) {
      packer_.pack_int64(value);
    } else {
      packer_.pack_uint64(value);
    }
  }
  /// msgpack-cxx would send 2.0 as the integer 2, and -0.0 as 0; a real here stays a real.
  template <class U>
  void write_real(std::uint8_t tag, double value, U bits) {
    HG_CHECK(std::isfinite(value), "encode: a real is not finite");
    char out[1 + sizeof(U)] = {static_cast<char>(tag)};
    for (std::size_t i = 0; i < sizeof(U); ++i) out[1 + i] = static_cast<char>(bits >> (8 * (sizeof(U) - 1 - i)));
    body_.write(out, sizeof out);
  }
  void pack_bin(std::span<const std::byte> bytes) {
    packer_.pack_bin(static_cast<std::uint32_t>(bytes.size()));
    packer_.pack_bin_body(reinterpret_cast<const char*>(bytes.data()), static_cast<std::uint32_t>(bytes.size()));
    packer_.pack_uint32(checksum(bytes));
  }
  Body& body_;
  msgpack::packer<Body> packer_;
};

}  // namespace

template <WireMessage M>
Bytes encode(const M& message) {
  SizeBound bound;
  M::fields(message, bound);
  Body body;
  body.bytes.reserve(bound.bytes);
  Encoder(body).group(message);
  HG_CHECK(body.bytes.size() <= limits::kBodyBytes, "encode: a message body is above its limit");
  return std::move(body.bytes);
}

#define HOURGLASS_ENCODE(Struct, name) template Bytes encode(const Struct&);
HOURGLASS_MESSAGES(HOURGLASS_ENCODE)
#undef HOURGLASS_ENCODE

}  // namespace hourglass
