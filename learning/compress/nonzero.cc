// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/nonzero.h"

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

class Nonzero final : public Selector {
 public:
  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    make_room(values.size(), chosen);
    shrink(kernels().compact(values.data(), values.size(), 1, chosen.indices.data(), chosen.values.data(), values.size()), chosen);
    return true;
  }

  Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t /*step*/,
                          Entries& chosen) override {
    make_room(sum.size(), chosen);
    const Compacted found =
        kernels().add_compact(a.data(), b.data(), sum.data(), sum.size(), 1, chosen.indices.data(), chosen.values.data(), sum.size());
    if (!found.finite) return {Errc::bad_data, "the sum to be compressed has a non-finite value"};
    shrink(found, chosen);
    return true;
  }

 private:
  static void make_room(std::size_t entries, Entries& chosen) {
    chosen.indices.resize(entries + kCompactSlack);
    chosen.values.resize(entries + kCompactSlack);
  }
  static void shrink(const Compacted& found, Entries& chosen) {
    chosen.indices.resize(found.count);
    chosen.values.resize(found.count);
  }
};

}  // namespace

Result<std::unique_ptr<Selector>> make_nonzero(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({}); !known.ok()) return known.error();
  return std::unique_ptr<Selector>(std::make_unique<Nonzero>());
}

}  // namespace hourglass::compress
