// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/chunk_topk.h"

#include <algorithm>

#include "learning/compress/kernels.h"
#include "learning/compress/selection.h"

namespace hourglass::compress {
namespace {

/// Bisects for the magnitude that k of the values reach: what is collected of a chunk is too little for histograms.
RankedMagnitude bisect_magnitude(std::span<const float> values, std::uint32_t least, std::size_t k) {
  std::uint32_t high = 0;
  for (const float value : values) high = std::max(high, magnitude_bits(value));
  std::uint32_t low = least;  // reached by at least k, high + 1 by fewer
  std::size_t above = 0;      // reach high + 1
  while (low < high) {
    const std::uint32_t middle = high - (high - low) / 2;
    std::uint32_t reach = 0;
    for (const float value : values) reach += static_cast<std::uint32_t>(magnitude_bits(value) >= middle);
    if (reach == k) return {middle - 1, k};  // a border between the k-th and the next will do
    if (reach > k) {
      low = middle;
    } else {
      high = middle - 1;
      above = reach;
    }
  }
  return {low, above};
}

/// Where the next chunk's threshold is likely to be. It decides about time only.
class ChunkGuess {
 public:
  [[nodiscard]] std::uint32_t bits() const { return std::max(1U, magnitude_bits(mean_ * margin_)); }
  void learn(std::uint32_t kth, std::size_t found, std::size_t k) {
    const auto magnitude = std::bit_cast<float>(kth);
    mean_ = mean_ == 0 ? magnitude : 0.75F * mean_ + 0.25F * magnitude;
    if (found > 2 * k) margin_ = std::min(0.97F, margin_ * 1.01F);
  }
  void miss() { margin_ = std::max(0.5F, margin_ * 0.96F); }

 private:
  float mean_ = 0;
  float margin_ = 0.92F;
};

class ChunkTopK final : public Selector {
 public:
  ChunkTopK(std::size_t chunk, std::size_t k) : chunk_(chunk), k_(k) {}

  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    begin(values.size(), chosen);
    for (std::size_t at = 0; at < values.size(); at += chunk_) {
      const auto part = values.subspan(at, std::min(chunk_, values.size() - at));
      const std::uint32_t guess = guess_for(part.size());
      const std::size_t found = gather(part, guess, chosen);
      keep(part, at, guess, found, chosen);
    }
    end(chosen);
    return true;
  }

  Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t /*step*/,
                          Entries& chosen) override {
    begin(sum.size(), chosen);
    for (std::size_t at = 0; at < sum.size(); at += chunk_) {
      const auto part = sum.subspan(at, std::min(chunk_, sum.size() - at));
      const std::uint32_t guess = guess_for(part.size());
      const Compacted found = kernels().add_compact(a.data() + at, b.data() + at, part.data(), part.size(), guess,
                                                    chosen.indices.data() + out_, chosen.values.data() + out_, part.size());
      if (!found.finite) return {Errc::bad_data, "the sum to be compressed has a non-finite value"};
      keep(part, at, guess, found.count, chosen);
    }
    end(chosen);
    return true;
  }

  void set_ratio(double ratio) override { k_ = entries_at(ratio, chunk_); }

 private:
  /// Room for all that is kept and one chunk more.
  void begin(std::size_t length, Entries& chosen) {
    const std::size_t room = (length / chunk_ + 1) * k_ + std::min(length, chunk_) + kCompactSlack;
    chosen.indices.resize(room);
    chosen.values.resize(room);
    out_ = 0;
  }
  void end(Entries& chosen) const {
    chosen.indices.resize(out_);
    chosen.values.resize(out_);
  }
  [[nodiscard]] std::size_t wanted(std::size_t length) const { return length == chunk_ ? k_ : (k_ * length + chunk_ - 1) / chunk_; }
  [[nodiscard]] std::uint32_t guess_for(std::size_t length) const { return 4 * wanted(length) >= length ? 1 : guess_.bits(); }

  std::size_t gather(std::span<const float> part, std::uint32_t at_least, Entries& chosen) const {
    return kernels()
        .compact(part.data(), part.size(), at_least, chosen.indices.data() + out_, chosen.values.data() + out_, part.size())
        .count;
  }

  /// Of the `found` entries behind `out_`, which reach `guess`, the largest stay.
  void keep(std::span<const float> part, std::size_t at, std::uint32_t guess, std::size_t found, Entries& chosen) {
    const std::size_t k = wanted(part.size());
    if (found < k && guess > 1) {
      guess_.miss();
      guess = 1;
      found = gather(part, guess, chosen);
    }
    const auto first = static_cast<std::uint32_t>(at);
    std::uint32_t* indices = chosen.indices.data() + out_;
    float* values = chosen.values.data() + out_;
    if (found <= k) {
      for (std::size_t i = 0; i < found; ++i) indices[i] += first;
      out_ += found;
      return;
    }
    const RankedMagnitude last = bisect_magnitude({values, found}, guess, k);
    std::size_t ties = k - last.larger;
    std::size_t out = 0;
    for (std::size_t i = 0; i < found; ++i) {
      const std::uint32_t bits = magnitude_bits(values[i]);
      const bool tie = bits == last.bits && ties > 0;
      indices[out] = indices[i] + first;
      values[out] = values[i];
      ties -= static_cast<std::size_t>(tie);
      out += static_cast<std::size_t>(tie || bits > last.bits);
    }
    out_ += out;
    guess_.learn(last.bits, found, k);
  }

  std::size_t chunk_;
  std::size_t k_;
  std::size_t out_ = 0;  ///< entries kept so far of the range under way
  ChunkGuess guess_;
};

}  // namespace

Result<std::unique_ptr<Selector>> make_chunk_topk(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"chunk", "k", "ratio"}); !known.ok()) return known.error();
  const Result<std::int64_t> chunk = stage.whole("chunk", 4096, 16, 1 << 20);
  if (!chunk.ok()) return chunk.error();
  const Result<std::int64_t> k = stage.whole("k", std::max<std::int64_t>(1, *chunk / 64), 1, *chunk);
  if (!k.ok()) return k.error();
  const Result<double> ratio = ratio_of(stage);
  if (!ratio.ok()) return ratio.error();
  const auto has = [&](std::string_view key) {
    return std::any_of(stage.options.begin(), stage.options.end(), [&](const auto& option) { return option.first == key; });
  };
  if (has("k") && has("ratio")) return {Errc::bad_config, "chunk_topk takes k or ratio, not both"};
  const auto length = static_cast<std::size_t>(*chunk);
  return std::unique_ptr<Selector>(
      std::make_unique<ChunkTopK>(length, has("ratio") ? entries_at(*ratio, length) : static_cast<std::size_t>(*k)));
}

}  // namespace hourglass::compress
