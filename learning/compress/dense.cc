// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/dense.h"

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

class Dense final : public Selector {
 public:
  bool select(std::span<const float> /*values*/, std::uint64_t /*step*/, Entries& /*chosen*/) override { return false; }
};

}  // namespace

Result<bool> Selector::add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t step,
                                  Entries& chosen) {
  if (!kernels().add(a.data(), b.data(), sum.data(), sum.size()))
    return {Errc::bad_data, "the sum to be compressed has a non-finite value"};
  return select(sum, step, chosen);
}

Result<std::unique_ptr<Selector>> make_dense(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({}); !known.ok()) return known.error();
  return std::unique_ptr<Selector>(std::make_unique<Dense>());
}

}  // namespace hourglass::compress
