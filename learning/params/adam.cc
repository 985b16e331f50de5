// SPDX-License-Identifier: Apache-2.0
#include "learning/params/adam.h"

#include <cmath>

#include "base/check.h"
#include "base/cpu.h"

namespace hourglass::params {
namespace {

constexpr double kBetaMax = 0.99999;
constexpr std::int64_t kWarmupMax = 1'000'000'000;

enum class Kind { adam, adamw, amsgrad };

struct Common {
  double beta1 = 0, beta2 = 0, eps = 0;
};

Result<Common> common_of(const SpecStage& stage) {
  const Result<double> beta1 = stage.number("beta1", 0.9, 0, kBetaMax);
  if (!beta1) return beta1.error();
  const Result<double> beta2 = stage.number("beta2", 0.999, 0, kBetaMax);
  if (!beta2) return beta2.error();
  const Result<double> eps = stage.number("eps", 1e-8, 1e-12, 1);
  if (!eps) return eps.error();
  return Common{*beta1, *beta2, *eps};
}

class Adam final : public Optimizer {
 public:
  Adam(Kind kind, Common options, double decay, std::size_t size)
      : kind_(kind), options_(options), decay_(decay), m_(size, 0.0F), v_(size, 0.0F), largest_(kind == Kind::amsgrad ? size : 0, 0.0F) {}

  void step(std::span<const float> parameters, std::span<float> gradient, double rate) override {
    HG_CHECK(parameters.size() == m_.size() && gradient.size() == m_.size(), "the optimizer was made for another size");
    AdamNumbers numbers;
    numbers.set_betas(options_.beta1, options_.beta2);
    numbers.rate = static_cast<float>(rate);
    numbers.decay = static_cast<float>(kind_ == Kind::adamw ? 0 : decay_);
    numbers.shrink = static_cast<float>(kind_ == Kind::adamw ? rate * decay_ : 0);
    if (kind_ == Kind::amsgrad) {
      numbers.eps_within = static_cast<float>(options_.eps);
    } else {
      power1_ *= options_.beta1;
      power2_ *= options_.beta2;
      numbers.rate = static_cast<float>(rate / (1 - power1_));
      numbers.correction = static_cast<float>(1 / (1 - power2_));
      numbers.eps = static_cast<float>(options_.eps);
    }
    adam_kernel()(parameters.data(), gradient.data(), m_.data(), v_.data(), largest_.empty() ? nullptr : largest_.data(), m_.size(),
                  numbers);
  }
  void save(ArchiveWriter& out) const override {
    out.put(power1_);
    out.put(power2_);
    for (const auto* values : {&m_, &v_, &largest_}) out.put_all(std::span<const float>(*values));
  }
  void load(ArchiveReader& in) override {
    in.get(power1_);
    in.get(power2_);
    for (auto* values : {&m_, &v_, &largest_}) in.get_into(*values);
  }

 private:
  Kind kind_;
  Common options_;
  double decay_;
  double power1_ = 1, power2_ = 1;  ///< beta1^t, beta2^t
  std::vector<float> m_, v_, largest_;
};

Result<std::unique_ptr<Optimizer>> make(Kind kind, const SpecStage& stage, double weight_decay, std::size_t size) {
  if (const Status known = stage.only({"beta1", "beta2", "eps"}); !known) return known.error();
  const auto options = common_of(stage);
  if (!options) return options.error();
  return std::unique_ptr<Optimizer>(std::make_unique<Adam>(kind, *options, weight_decay, size));
}

}  // namespace

AdamKernel adam_kernel() {
#if defined(__x86_64__)
  if (has_x86_64_v3()) return &kernels_v3::adam;
#endif
  return &kernels_base::adam;
}

ScaleKernel scale_kernel() {
#if defined(__x86_64__)
  if (has_x86_64_v3()) return &kernels_v3::scale_by_root;
#endif
  return &kernels_base::scale_by_root;
}

Result<std::unique_ptr<Optimizer>> make_adam(const SpecStage& stage, double weight_decay, std::size_t size) {
  return make(Kind::adam, stage, weight_decay, size);
}
Result<std::unique_ptr<Optimizer>> make_adamw(const SpecStage& stage, double weight_decay, std::size_t size) {
  return make(Kind::adamw, stage, weight_decay, size);
}
Result<std::unique_ptr<Optimizer>> make_amsgrad(const SpecStage& stage, double weight_decay, std::size_t size) {
  return make(Kind::amsgrad, stage, weight_decay, size);
}

Result<OneBitAdam::Options> OneBitAdam::parse(const SpecStage& stage, double weight_decay) {
  if (const Status known = stage.only({"beta1", "beta2", "eps", "warmup", "ratio"}); !known) return known.error();
  const auto common = common_of(stage);
  if (!common) return common.error();
  const Result<std::int64_t> warmup = stage.whole("warmup", 0, 0, kWarmupMax);
  if (!warmup) return warmup.error();
  const Result<double> ratio = stage.number("ratio", 0.96, 0.5, 1);
  if (!ratio) return ratio.error();
  return Options{common->beta1, common->beta2, common->eps, *ratio, weight_decay, *warmup};
}

OneBitAdam::OneBitAdam(const Options& options, std::size_t size) : options_(options), m_(size, 0.0F), v_(size, 0.0F) {}

Result<std::unique_ptr<Optimizer>> make_one_bit_adam(const SpecStage& stage, double weight_decay, std::size_t size) {
  const auto options = OneBitAdam::parse(stage, weight_decay);
  if (!options) return options.error();
  return std::unique_ptr<Optimizer>(std::make_unique<OneBitAdam>(*options, size));
}

void OneBitAdam::step(std::span<const float> parameters, std::span<float> gradient, double rate) {
  HG_CHECK(parameters.size() == m_.size() && gradient.size() == m_.size(), "the optimizer was made for another size");
  if (frozen_) {
    const auto beta1 = static_cast<float>(options_.beta1);
    const auto rest1 = static_cast<float>(1 - options_.beta1);
    const auto decay = static_cast<float>(options_.decay);
    for (std::size_t i = 0; i < m_.size(); ++i) {
      m_[i] = beta1 * m_[i] + rest1 * (gradient[i] + decay * parameters[i]);
      gradient[i] = m_[i];
    }
    return step_with_momentum(gradient, rate);
  }
  AdamNumbers numbers;
  numbers.rate = static_cast<float>(rate);
  numbers.set_betas(options_.beta1, options_.beta2);
  numbers.eps = static_cast<float>(options_.eps);
  numbers.decay = static_cast<float>(options_.decay);
  adam_kernel()(parameters.data(), gradient.data(), m_.data(), v_.data(), nullptr, m_.size(), numbers);
  freeze_if_due(rate);
}

void OneBitAdam::step_with_momentum(std::span<float> momentum, double rate) {
  HG_CHECK(frozen_ && momentum.size() == v_.size(), "momentum is taken once the variance is frozen");
  scale_kernel()(momentum.data(), v_.data(), v_.size(), static_cast<float>(rate), static_cast<float>(options_.eps));
}

void OneBitAdam::save(ArchiveWriter& out) const {
  for (const auto* values : {&m_, &v_}) out.put_all(std::span<const float>(*values));
  const std::vector<double> norms(norms_.begin(), norms_.end());
  out.put_all(std::span<const double>(norms));
  out.put(steps_);
  out.put(last_rate_);
  out.put(frozen_);
}

void OneBitAdam::load(ArchiveReader& in) {
  for (auto* values : {&m_, &v_}) in.get_into(*values);
  const std::vector<double> norms = in.get_all<double>();
  norms_.assign(norms.begin(), norms.end());
  in.get(steps_);
  in.get(last_rate_);
  in.get(frozen_);
}

void OneBitAdam::freeze_if_due(double rate) {
  ++steps_;
  const bool rising = rate > last_rate_;
  last_rate_ = rate;
  if (options_.warmup > 0) {
    frozen_ = steps_ >= options_.warmup;
    return;
  }
  double norm = 0;
  for (const float each : v_) norm += each;
  const auto distance = static_cast<std::size_t>(std::ceil(1 / (1 - options_.beta2) - 1e-6));
  norms_.push_back(norm);
  if (norms_.size() <= distance) return;
  // |v| falls as gradients shrink: the change either way must be small.
  const double before = norms_.front();
  norms_.pop_front();
  frozen_ = !rising && before > 0 && std::min(norm, before) >= options_.ratio * std::max(norm, before);
  if (frozen_) norms_.clear();
}

}  // namespace hourglass::params
