// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/ef21.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "learning/compress/choice.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

class Ef21 final : public Memory {
 public:
  Ef21(bool of_sum, std::size_t size) : target_(of_sum ? size : 0, 0.0F), negated_(size, 0.0F), difference_(size, 0.0F), of_sum_(of_sum) {}

  Status take(std::span<const float> delta) override {
    const float largest = kernels().largest_magnitude(delta.data(), delta.size());
    if (!std::isfinite(largest)) return {Errc::bad_data, "the update to be sent has a non-finite value"};
    // |x - h| <= |x| + |h|, and no decoded value is larger, so |h + c| <= |x| + 2 |h|.
    const double target = target_bound_ + largest;
    const double reach = target + 2 * estimate_bound_;
    if (reach_.keeps_range ? reach > static_cast<double>(FLT_MAX) : reach >= kReachMax) {
      return {Errc::bad_data, "the difference to be sent does not fit a float"};
    }
    if (of_sum_) {
      kernels().add(target_.data(), delta.data(), target_.data(), target_.size());
      target_bound_ = target * (1 + 0x1p-22);
    }
    delta_ = delta;
    return {};
  }

  Addends addends(const Range& range) override {
    const auto target = range.of(of_sum_ ? std::span<const float>(target_) : delta_);
    return {target, range.of(std::span<const float>(negated_)), range.of(std::span<float>(difference_))};
  }

  void sent(const Range& /*range*/, const GradientBlock* block) override {
    if (block == nullptr) return;
    subtract(*block, negated_);
    subtract(*block, difference_);
  }

  void finish() override { measure(); }

  Status restore(std::span<const GradientBlock> blocks) override {
    std::vector<float> difference = difference_;
    if (Status added = add_back(blocks, 1.0F, difference); !added.ok()) return added;
    if (Status added = add_back(blocks, 1.0F, negated_); !added.ok()) return added;
    difference_ = std::move(difference);
    measure();
    return {};
  }

  [[nodiscard]] std::span<const float> held() const override { return difference_; }

  void flushed() override {
    mix(negated_, 1.0F, difference_, -1.0F);
    std::fill(difference_.begin(), difference_.end(), 0.0F);
    measure();
  }

  Status adopt(std::span<const float> held) override {
    if (!of_sum_) {
      if (has_nonzero(held)) return {Errc::bad_config, "memory 'ef21 of=update' would lose what is held back; flush first"};
      return {};
    }
    std::fill(target_.begin(), target_.end(), 0.0F);
    std::copy(held.begin(), held.end(), target_.begin());
    difference_ = target_;
    std::fill(negated_.begin(), negated_.end(), 0.0F);
    measure();
    return {};
  }

  [[nodiscard]] bool releases() const override { return of_sum_; }
  [[nodiscard]] bool conserves() const override { return of_sum_; }

 private:
  void measure() {
    estimate_bound_ = kernels().largest_magnitude(negated_.data(), negated_.size());
    target_bound_ = kernels().largest_magnitude(target_.data(), target_.size());
  }

  std::span<const float> delta_;
  std::vector<float> target_;      ///< x of `of=sum`
  std::vector<float> negated_;     ///< -h: rounding is symmetric, so it mirrors the receiver's sum
  std::vector<float> difference_;  ///< x - h
  double target_bound_ = 0;        ///< no magnitude in it is larger
  double estimate_bound_ = 0;
  bool of_sum_;
};

}  // namespace

Result<std::unique_ptr<Memory>> make_ef21(const SpecStage& stage, std::size_t group_size) {
  if (Status known = stage.only({"of"}); !known.ok()) return known.error();
  const Result<std::size_t> form = choice_of(stage, "of", {"sum", "update"});
  if (!form.ok()) return form.error();
  return std::unique_ptr<Memory>(std::make_unique<Ef21>(*form == 0, group_size));
}

}  // namespace hourglass::compress
