// SPDX-License-Identifier: Apache-2.0
#include "learning/params/sgd.h"

#include "base/check.h"
#include "base/cpu.h"
#include "learning/params/sgd_kernel.h"

namespace hourglass::params {
namespace {

constexpr double kMomentumMax = 0.9999;

class Sgd final : public Optimizer {
 public:
  Sgd(double momentum, bool nesterov, double decay, std::size_t size)
      : size_(size), nesterov_(nesterov), velocity_(momentum > 0.0 ? size : 0) {
    numbers_.momentum = static_cast<float>(momentum);
    numbers_.decay = static_cast<float>(decay);
  }

  void step(std::span<const float> parameters, std::span<float> gradient, double rate) override {
    HG_CHECK(parameters.size() == size_ && gradient.size() == size_, "the optimizer was made for another size");
    numbers_.rate = static_cast<float>(rate);
    // The first step's m = d needs no case of its own: m starts at zero.
    kernel_(numbers_.decay > 0.0F ? parameters.data() : nullptr, gradient.data(), velocity_.empty() ? nullptr : velocity_.data(), size_,
            numbers_, nesterov_);
  }
  void save(ArchiveWriter& out) const override { out.put_all(std::span<const float>(velocity_)); }
  void load(ArchiveReader& in) override { in.get_into(velocity_); }

 private:
  std::size_t size_;
  bool nesterov_;
  std::vector<float> velocity_;  ///< empty: no momentum
  SgdNumbers numbers_;
  SgdKernel kernel_ = sgd_kernel();
};

}  // namespace

SgdKernel sgd_kernel() {
#if defined(__x86_64__)
  if (has_x86_64_v3()) return &kernels_v3::sgd;
#endif
  return &kernels_base::sgd;
}

Result<std::unique_ptr<Optimizer>> make_sgd(const SpecStage& stage, double weight_decay, std::size_t size) {
  if (const Status known = stage.only({"momentum", "nesterov"}); !known) return known.error();
  const Result<double> momentum = stage.number("momentum", 0.0, 0.0, kMomentumMax);
  if (!momentum) return momentum.error();
  const Result<std::int64_t> nesterov = stage.whole("nesterov", 0, 0, 1);
  if (!nesterov) return nesterov.error();
  if (*nesterov == 1 && *momentum == 0.0) return {Errc::bad_config, "sgd: nesterov=1 needs momentum, as in 'sgd momentum=0.9 nesterov=1'"};
  return std::unique_ptr<Optimizer>(std::make_unique<Sgd>(*momentum, *nesterov == 1, weight_decay, size));
}

}  // namespace hourglass::params
