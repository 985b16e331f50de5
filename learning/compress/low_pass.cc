// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/low_pass.h"

#include <algorithm>

namespace hourglass::compress {
namespace {

constexpr double kBetaDefault = 0.1;
constexpr double kBetaLeast = 1e-4;

class LowPass final : public Memory {
 public:
  LowPass(float beta, std::size_t size) : beta_(beta), memory_(size, 0.0F), sum_(size, 0.0F) {}

  Status take(std::span<const float> delta) override {
    if (!headroom_.admits(delta, memory_, reach_)) {
      return {Errc::bad_data, "the update to be sent, or its sum with what is held back, has a non-finite value"};
    }
    delta_ = delta;
    return {};
  }

  Addends addends(const Range& range) override {
    return {range.of(delta_), range.of(std::span<const float>(memory_)), range.of(std::span<float>(sum_))};
  }

  void sent(const Range& range, const GradientBlock* block) override {
    if (block != nullptr) subtract(*block, sum_);
    mix(range.of(std::span<float>(memory_)), 1 - beta_, range.of(std::span<const float>(sum_)), beta_);
  }

  void finish() override {
    if (!reach_.keeps_range) headroom_.measure(memory_);
  }

  Status restore(std::span<const GradientBlock> blocks) override {
    if (Status added = add_back(blocks, beta_, memory_); !added.ok()) return added;
    headroom_.measure(memory_);
    return {};
  }

  [[nodiscard]] std::span<const float> held() const override { return memory_; }

  void flushed() override {
    std::fill(memory_.begin(), memory_.end(), 0.0F);
    headroom_.clear();
  }

  Status adopt(std::span<const float> held) override {
    std::fill(memory_.begin(), memory_.end(), 0.0F);
    std::copy(held.begin(), held.end(), memory_.begin());
    headroom_.measure(memory_);
    return {};
  }

  [[nodiscard]] bool conserves() const override { return beta_ == 1; }

 private:
  float beta_;
  std::span<const float> delta_;
  std::vector<float> memory_;
  std::vector<float> sum_;  ///< of the update that passes through
  Headroom headroom_;
};

}  // namespace

Result<std::unique_ptr<Memory>> make_low_pass(const SpecStage& stage, std::size_t group_size) {
  if (Status known = stage.only({"beta"}); !known.ok()) return known.error();
  const Result<double> beta = stage.number("beta", kBetaDefault, kBetaLeast, 1.0);
  if (!beta.ok()) return beta.error();
  return std::unique_ptr<Memory>(std::make_unique<LowPass>(static_cast<float>(*beta), group_size));
}

}  // namespace hourglass::compress
