// SPDX-License-Identifier: Apache-2.0
// Random numbers whose bits are ours: the standard library does not specify its distributions bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hourglass {

/// xoshiro256** (Blackman, Vigna 2018), seeded through splitmix64. The same seed gives the same sequence everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed);
  std::uint64_t next();                                                          ///< uniform over 64 bits
  std::uint64_t below(std::uint64_t limit);                                      ///< uniform in [0, limit), unbiased; limit > 0
  double uniform();                                                              ///< [0, 1), 53 bits
  float uniform_float() { return static_cast<float>(next() >> 40) * 0x1p-24F; }  ///< [0, 1), 24 bits
  double normal();                                                               ///< mean 0, variance 1 (polar method)
  /// An independent generator for a named purpose; does not advance this one.
  [[nodiscard]] Random fork(std::string_view purpose) const;

  /// All there is to it: a generator with the same state gives the same numbers.
  struct State {
    std::array<std::uint64_t, 4> words{};
    double spare = 0.0;
    bool has_spare = false;
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] State state() const { return {{state_[0], state_[1], state_[2], state_[3]}, spare_, has_spare_}; }
  void resume(const State& state);

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_[4];
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace hourglass
