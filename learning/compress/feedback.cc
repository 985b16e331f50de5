// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/feedback.h"

#include <algorithm>

#include "learning/compress/compressor.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

class Feedback final : public Memory {
 public:
  Feedback(float decay, std::size_t size) : decay_(decay), size_(size) {}

  void serve(const Reach& reach) override {
    Memory::serve(reach);
    if (!reach.lossless) residual_.resize(size_, 0.0F);  // else what there is goes out with the next update
  }

  Status take(std::span<const float> delta) override {
    if (!headroom_.admits(delta, residual_, reach_)) {
      return {Errc::bad_data, "the update to be sent, or its sum with the residual, has a non-finite value"};
    }
    delta_ = delta;
    if (decay_ < 1 && !residual_.empty()) mix(residual_, decay_, delta, 1.0F);
    return {};
  }

  Addends addends(const Range& range) override {
    if (residual_.empty()) return {range.of(delta_), {}, {}};
    const auto residual = range.of(std::span<float>(residual_));
    if (decay_ < 1) return {residual, {}, residual};
    return {range.of(delta_), residual, residual};
  }

  void sent(const Range& /*range*/, const GradientBlock* block) override {
    if (block != nullptr && !residual_.empty()) subtract(*block, residual_);
  }

  void finish() override {
    if (reach_.lossless) residual_.clear();
    headroom_.settle(residual_, reach_);
  }

  Status restore(std::span<const GradientBlock> blocks) override {
    std::vector<float> restored = residual_;
    restored.resize(size_, 0.0F);
    if (Status added = add_back(blocks, 1.0F, restored); !added.ok()) return added;
    residual_ = std::move(restored);
    headroom_.measure(residual_);
    return {};
  }

  [[nodiscard]] std::span<const float> held() const override { return residual_; }

  void flushed() override {
    if (reach_.lossless) {
      residual_.clear();
    } else {
      std::fill(residual_.begin(), residual_.end(), 0.0F);
    }
    headroom_.clear();
  }

  Status adopt(std::span<const float> held) override {
    residual_.clear();
    if (has_nonzero(held)) residual_.assign(held.begin(), held.end());
    headroom_.measure(residual_);
    serve(reach_);
    return {};
  }

  [[nodiscard]] bool conserves() const override { return decay_ == 1; }

 private:
  float decay_;
  std::size_t size_;
  std::span<const float> delta_;
  std::vector<float> residual_;  ///< empty where lossless, but between restore() or adopt() and the next update
  Headroom headroom_;
};

class None final : public Memory {
 public:
  explicit None(std::size_t size) : size_(size) {}

  Status take(std::span<const float> delta) override {
    headroom_.clear();
    if (!headroom_.admits(delta, {}, reach_)) return {Errc::bad_data, "the update to be sent has a non-finite value"};
    delta_ = delta;
    return {};
  }
  Addends addends(const Range& range) override { return {range.of(delta_), {}, {}}; }
  void sent(const Range& /*range*/, const GradientBlock* /*block*/) override {}

  Status restore(std::span<const GradientBlock> blocks) override {
    for (const GradientBlock& block : blocks) {
      if (Status good = validate(block, size_); !good.ok()) return good;
    }
    return {};
  }
  [[nodiscard]] std::span<const float> held() const override { return {}; }
  void flushed() override {}
  Status adopt(std::span<const float> held) override {
    if (has_nonzero(held)) return {Errc::bad_config, "memory 'none' would lose what is held back; flush first"};
    return {};
  }
  [[nodiscard]] bool conserves() const override { return reach_.lossless; }

 private:
  std::size_t size_;
  std::span<const float> delta_;
  Headroom headroom_;
};

}  // namespace

Result<std::unique_ptr<Memory>> make_feedback(const SpecStage& stage, std::size_t group_size) {
  if (Status known = stage.only({"decay"}); !known.ok()) return known.error();
  const Result<double> decay = stage.number("decay", 1.0, 0.0, 1.0);
  if (!decay.ok()) return decay.error();
  return std::unique_ptr<Memory>(std::make_unique<Feedback>(static_cast<float>(*decay), group_size));
}

Result<std::unique_ptr<Memory>> make_none(const SpecStage& stage, std::size_t group_size) {
  if (Status known = stage.only({}); !known.ok()) return known.error();
  return std::unique_ptr<Memory>(std::make_unique<None>(group_size));
}

}  // namespace hourglass::compress
