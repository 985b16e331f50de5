// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/random_k.h"

#include <algorithm>
#include <cfloat>

#include "base/random.h"
#include "learning/compress/kernels.h"
#include "learning/compress/selection.h"

namespace hourglass::compress {
namespace {

constexpr std::int64_t kSeedMax = 1LL << 53;

class RandomK final : public Selector {
 public:
  RandomK(double ratio, std::uint64_t seed, bool rescale) : ratio_(ratio), seed_(seed), rescale_(rescale) {}

  bool select(std::span<const float> values, std::uint64_t step, Entries& chosen) override {
    chosen.indices.clear();
    chosen.values.clear();
    if (values.empty()) return true;
    const std::size_t k = entries_at(ratio_, values.size());
    draw(values.size(), k, step);
    chosen.indices.resize(k + kExpandSlack);
    chosen.values.resize(k);
    kernels().expand_ones(places_.data(), places_.size(), chosen.indices.data());
    const auto factor = static_cast<float>(static_cast<double>(values.size()) / static_cast<double>(k));
    std::size_t out = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const std::uint32_t index = chosen.indices[i];
      const float value = values[index];
      chosen.indices[out] = index;
      chosen.values[out] = rescale_ ? std::clamp(value * factor, -FLT_MAX, FLT_MAX) : value;
      out += static_cast<std::size_t>(value != 0);
    }
    chosen.indices.resize(out);
    chosen.values.resize(out);
    return true;
  }

  [[nodiscard]] bool keeps_range() const override { return !rescale_; }
  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  /// Sets k bits of `places_`, or clears those that are not chosen, whichever is less work.
  void draw(std::size_t length, std::size_t k, std::uint64_t step) {
    Random random(seed_ * 0x9e3779b97f4a7c15ULL ^ step);
    const bool invert = k > length / 2;
    places_.assign((length + 7) / 8, invert ? std::byte{0xff} : std::byte{0});
    if (invert && length % 8 != 0) places_.back() = static_cast<std::byte>((1U << length % 8) - 1);
    for (std::size_t left = invert ? length - k : k; left > 0;) {
      const std::uint64_t at = random.below(length);
      const auto bit = static_cast<std::byte>(1U << at % 8);
      std::byte& place = places_[at / 8];
      if (((place & bit) != std::byte{0}) != invert) continue;  // drawn already
      place ^= bit;
      --left;
    }
  }

  double ratio_;
  std::uint64_t seed_;
  bool rescale_;
  std::vector<std::byte> places_;  ///< one bit for each entry
};

}  // namespace

Result<std::unique_ptr<Selector>> make_random_k(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"ratio", "seed", "rescale"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage);
  if (!ratio.ok()) return ratio.error();
  const Result<std::int64_t> seed = stage.whole("seed", 0, 0, kSeedMax);
  if (!seed.ok()) return seed.error();
  const Result<std::int64_t> rescale = stage.whole("rescale", 0, 0, 1);
  if (!rescale.ok()) return rescale.error();
  return std::unique_ptr<Selector>(std::make_unique<RandomK>(*ratio, static_cast<std::uint64_t>(*seed), *rescale == 1));
}

}  // namespace hourglass::compress
