// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <bit>
#include <cmath>

#include "base/bytes.h"
#include "base/check.h"

namespace hourglass {
namespace {
std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}
}  // namespace

Random::Random(std::uint64_t seed) {
  for (auto& word : state_) word = splitmix(seed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t limit) {
  HG_CHECK(limit > 0, "below() needs a positive limit");
  const std::uint64_t rejected = (0 - limit) % limit;  // 2^64 mod limit
  for (;;) {
    const std::uint64_t draw = next();
    if (draw >= rejected) return draw % limit;
  }
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double x = 2.0 * uniform() - 1.0;
    const double y = 2.0 * uniform() - 1.0;
    const double square = x * x + y * y;
    if (square >= 1.0 || square == 0.0) continue;
    const double scale = std::sqrt(-2.0 * std::log(square) / square);
    spare_ = y * scale;
    has_spare_ = true;
    return x * scale;
  }
}

void Random::resume(const State& state) {
  for (std::size_t i = 0; i < state.words.size(); ++i) state_[i] = state.words[i];
  spare_ = state.spare;
  has_spare_ = state.has_spare;
}

Random Random::fork(std::string_view purpose) const { return Random(state_[0] ^ std::rotl(state_[2], 29) ^ fingerprint(as_span(purpose))); }

}  // namespace hourglass
