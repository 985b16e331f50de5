// SPDX-License-Identifier: Apache-2.0
// Messages filled by their own field lists: every field set, every limit kept, the same seed gives the same message.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "messages/codec.h"

namespace hourglass::testing_support {

class Filler {
 public:
  explicit Filler(std::uint64_t seed) : random_(seed) {}

  template <class T>
  void number(T& out) {
    out = static_cast<T>(random_.next() >> random_.below(64));
  }
  template <class T, class L, class H>
  void number(T& out, L low, H high) {
    const auto first = static_cast<std::uint64_t>(static_cast<std::int64_t>(low));
    const std::uint64_t span = static_cast<std::uint64_t>(high) - first + 1;
    out = static_cast<T>(first + random_.below(span));
  }
  void flag(bool& out) { out = random_.below(2) == 1; }
  template <class E>
  void choice(E& out, E last) {
    choice(out, E{}, last);
  }
  template <class E>
  void choice(E& out, E first, E last) {
    std::uint8_t value = 0;
    number(value, static_cast<unsigned>(first), static_cast<unsigned>(last));
    out = static_cast<E>(value);
  }
  void real(float& out) { out = static_cast<float>(eighths()); }
  void real(double& out) { out = eighths(); }
  void text(std::string& out, std::size_t bytes_max) {
    static constexpr std::array<std::string_view, 8> kPieces = {"a", "topk ", "=", "0.5", "\n", "é", "時", "\U0001F31F"};
    out.clear();
    for (std::size_t pieces = 1 + random_.below(9); pieces > 0; --pieces) {
      const auto piece = kPieces[random_.below(kPieces.size())];
      if (out.size() + piece.size() <= bytes_max) out += piece;
    }
  }
  template <class T>
  void packed(std::vector<T>& out, std::size_t count_max) {
    out.resize(1 + random_.below(std::min<std::size_t>(count_max, 6)));
    for (T& each : out) {
      if constexpr (std::is_floating_point_v<T>) {
        real(each);
      } else {
        number(each);
      }
    }
  }
  void blob(Bytes& out, std::size_t bytes_max) {
    out.resize(1 + random_.below(std::min<std::size_t>(bytes_max, 24)));
    for (std::byte& each : out) each = static_cast<std::byte>(random_.next());
  }
  template <class S>
  void items(std::vector<S>& out, std::size_t count_max) {
    out.resize(1 + random_.below(std::min<std::size_t>(count_max, 3)));
    for (S& each : out) group(each);
  }
  template <class S>
  void group(S& out) {
    S::fields(out, *this);
  }

 private:
  double eighths() { return (static_cast<double>(random_.below(20001)) - 10000.0) / 8.0; }
  Random random_;
};

template <WireMessage M>
M sample(std::uint64_t seed = 1) {
  M message;
  Filler(seed).group(message);
  return message;
}

}  // namespace hourglass::testing_support
