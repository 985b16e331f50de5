// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/dgc_momentum.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/check.h"
#include "learning/compress/compressor.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr double kMomentumMax = 0.9999;

struct Options {
  float momentum = 0;
  bool nesterov = false;
  bool masking = true;
  double clip = 0;
};

class DgcMomentum final : public Memory {
 public:
  DgcMomentum(const Options& options, std::size_t size) : options_(options), momentum_(size, 0.0F), velocity_(size, 0.0F) {}

  Status take(std::span<const float> delta) override {
    const float largest = kernels().largest_magnitude(delta.data(), delta.size());
    if (!std::isfinite(largest)) return {Errc::bad_data, "the update to be sent has a non-finite value"};
    const float gain = gain_of(delta);
    if (!fits(delta, largest, gain)) return {Errc::bad_data, "the sum of the update with its momentum does not fit a float"};
    if (options_.nesterov) {
      mix(velocity_, 1.0F, delta, gain);
      mix(momentum_, options_.momentum, delta, options_.momentum * gain);
    } else {
      mix(momentum_, options_.momentum, delta, gain);
    }
    return {};
  }

  Addends addends(const Range& range) override {
    const auto sum = range.of(std::span<float>(velocity_));
    return {range.of(std::span<const float>(momentum_)), sum, sum};
  }

  void sent(const Range& range, const GradientBlock* block) override {
    if (block == nullptr) return;
    if (!options_.masking || range.plain || options_.momentum == 0) {
      subtract(*block, velocity_);
      return;
    }
    const Status decoded = entries_of(*block, velocity_.size(), entries_);
    HG_CHECK(decoded.ok(), "a block of our own must decode");
    for (std::size_t i = 0; i < entries_.indices.size(); ++i) {
      const std::size_t at = block->offset + entries_.indices[i];
      velocity_[at] -= entries_.values[i];
      if (entries_.values[i] != 0) momentum_[at] = 0;
    }
  }

  void finish() override {
    if (!reach_.keeps_range) velocity_bound_ = largest_of(velocity_);
  }

  Status restore(std::span<const GradientBlock> blocks) override {
    if (Status added = add_back(blocks, 1.0F, velocity_); !added.ok()) return added;
    velocity_bound_ = largest_of(velocity_);
    return {};
  }

  [[nodiscard]] std::span<const float> held() const override { return velocity_; }

  void flushed() override {
    std::fill(velocity_.begin(), velocity_.end(), 0.0F);
    velocity_bound_ = 0;
    if (!options_.masking) return;
    std::fill(momentum_.begin(), momentum_.end(), 0.0F);
    momentum_bound_ = 0;
  }

  Status adopt(std::span<const float> held) override {
    std::fill(velocity_.begin(), velocity_.end(), 0.0F);
    std::copy(held.begin(), held.end(), velocity_.begin());
    velocity_bound_ = largest_of(velocity_);
    return {};
  }

  [[nodiscard]] bool conserves() const override { return options_.momentum == 0 && options_.clip == 0; }

 private:
  static double largest_of(std::span<const float> values) { return kernels().largest_magnitude(values.data(), values.size()); }

  [[nodiscard]] float gain_of(std::span<const float> delta) const {
    if (options_.clip == 0) return 1;
    const double norm = std::sqrt(kernels().sum_of_squares(delta.data(), delta.size()));
    return norm > options_.clip ? static_cast<float>(options_.clip / norm) : 1.0F;
  }

  /// Whether U and V stay finite; then the bounds cover them. Looks at the elements only where the bounds leave a doubt.
  bool fits(std::span<const float> delta, float largest, float gain) {
    const double limit = reach_.keeps_range ? static_cast<double>(FLT_MAX) : kReachMax;
    constexpr double kRounding = 1 + 0x1p-20;
    const double added = static_cast<double>(largest) * gain;
    double momentum = 0;
    double velocity = 0;
    for (const bool measured : {false, true}) {
      if (measured) {
        momentum_bound_ = largest_of(momentum_);
        velocity_bound_ = largest_of(velocity_);
      }
      momentum = (options_.momentum * momentum_bound_ + added) * kRounding;
      velocity = (velocity_bound_ + momentum + (options_.nesterov ? added : 0)) * kRounding;
      if (velocity < limit) break;
    }
    if (velocity >= limit && (!reach_.keeps_range || !fits_each(delta, gain))) return false;
    momentum_bound_ = momentum;
    velocity_bound_ = velocity;
    return true;
  }

  [[nodiscard]] bool fits_each(std::span<const float> delta, float gain) const {
    for (std::size_t i = 0; i < delta.size(); ++i) {
      const float scaled = gain * delta[i];
      const float momentum = options_.nesterov ? options_.momentum * momentum_[i] + options_.momentum * gain * delta[i]
                                               : options_.momentum * momentum_[i] + scaled;
      const float velocity = (options_.nesterov ? velocity_[i] + scaled : velocity_[i]);
      if (!std::isfinite(momentum) || !std::isfinite(velocity) || !std::isfinite(velocity + momentum)) return false;
    }
    return true;
  }

  Options options_;
  std::vector<float> momentum_;  ///< U
  std::vector<float> velocity_;  ///< V: what is not yet sent
  double momentum_bound_ = 0;    ///< no magnitude in it is larger
  double velocity_bound_ = 0;
  Entries entries_;
};

}  // namespace

Result<std::unique_ptr<Memory>> make_dgc_momentum(const SpecStage& stage, std::size_t group_size) {
  if (Status known = stage.only({"momentum", "nesterov", "masking", "clip"}); !known.ok()) return known.error();
  const Result<double> momentum = stage.number("momentum", 0.9, 0.0, kMomentumMax);
  const Result<std::int64_t> nesterov = stage.whole("nesterov", 0, 0, 1);
  const Result<std::int64_t> masking = stage.whole("masking", 1, 0, 1);
  const Result<double> clip = stage.number("clip", 0.0, 0.0, kReachMax);
  if (!momentum.ok()) return momentum.error();
  if (!nesterov.ok()) return nesterov.error();
  if (!masking.ok()) return masking.error();
  if (!clip.ok()) return clip.error();
  const Options options{static_cast<float>(*momentum), *nesterov == 1, *masking == 1, *clip};
  return std::unique_ptr<Memory>(std::make_unique<DgcMomentum>(options, group_size));
}

}  // namespace hourglass::compress
