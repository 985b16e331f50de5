// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/dgc.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "learning/compress/threshold_selector.h"

namespace hourglass::compress {
namespace {

constexpr int kAttemptsMax = 10;
constexpr float kLower = 0.8F;
constexpr float kReuseMargin = 0.97F;

class Dgc final : public ThresholdSelector {
 public:
  Dgc(double ratio, double sample, std::int64_t reuse) : ThresholdSelector(ratio, reuse), sample_(sample) {}

 private:
  static bool are_enough(std::size_t found, std::size_t k) { return static_cast<double>(found) >= kLower * static_cast<double>(k); }

  [[nodiscard]] std::size_t room(std::size_t length, std::size_t k) const override { return std::min(length, 4 * k + 4096); }

  bool accept(std::size_t found, std::size_t length, std::size_t k, Entries& chosen) override {
    if (!are_enough(found, k) || found > room(length, k)) return false;
    keep_largest(k, chosen);
    return true;
  }

  void search(std::span<const float> values, std::size_t k, std::uint64_t step, Entries& chosen) override {
    std::uint32_t threshold = sampled(values, step);
    std::size_t found = 0;
    for (int attempt = 0; attempt <= kAttemptsMax; ++attempt) {
      if (attempt > 0) threshold = std::max(1U, magnitude_bits(std::bit_cast<float>(threshold) * kLower));
      found = collect(values, threshold, room(values.size(), k), chosen);
      if (are_enough(found, k) || threshold == 1) break;
    }
    // Too many to be collected, or none that could be sent: neither is worth another guess.
    const bool lost = found == 0 || found > room(values.size(), k);
    const std::uint32_t kth = lost ? select_largest(values, k, chosen) : keep_largest(k, chosen);
    reused().set(kth == 0 ? threshold : std::max(1U, magnitude_bits(std::bit_cast<float>(kth) * kReuseMargin)));
  }

  [[nodiscard]] std::uint32_t sampled(std::span<const float> values, std::uint64_t step) {
    const auto length = static_cast<double>(values.size());
    const double wanted = std::min(length, std::max(sample_ * length, 2 / ratio()));
    const std::size_t stride = std::max<std::size_t>(1, static_cast<std::size_t>(length / wanted)) | 1;
    buffer_.clear();
    for (std::size_t i = Random(step).below(stride); i < values.size(); i += stride) buffer_.push_back(values[i]);
    return std::max(1U, find_magnitude(buffer_, entries_at(ratio(), buffer_.size())).bits);
  }

  double sample_;
  std::vector<float> buffer_;
};

}  // namespace

Result<std::unique_ptr<Selector>> make_dgc(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"ratio", "sample", "reuse"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage);
  if (!ratio.ok()) return ratio.error();
  const Result<double> sample = stage.number("sample", 0.01, 1e-4, 1);
  if (!sample.ok()) return sample.error();
  const Result<std::int64_t> reuse = stage.whole("reuse", 1, 1, 1000);
  if (!reuse.ok()) return reuse.error();
  return std::unique_ptr<Selector>(std::make_unique<Dgc>(*ratio, *sample, *reuse));
}

}  // namespace hourglass::compress
