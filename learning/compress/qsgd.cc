// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/qsgd.h"

#include "learning/compress/buckets.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kBucket = 512;
constexpr unsigned kLevels = 7;

class Qsgd final : public ValueCoder {
 public:
  Qsgd(Buckets form, bool euclidean) : form_(form), euclidean_(euclidean) {}

  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::qsgd; }

  void encode(std::span<const float> values, std::uint64_t key, GradientBlock& block) const override {
    block.value_codec = wire();
    encode_buckets(values, form_, euclidean_ ? norm_of : largest_of, true, key, block.values);
  }
  [[nodiscard]] bool keeps_range() const override { return !euclidean_; }

  [[nodiscard]] Status check(const GradientBlock& block) const override { return check_buckets(block, 0); }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override { add_buckets(block, weight, target); }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    scatter_buckets(block, weight, indices, target);
  }

 private:
  Buckets form_;
  bool euclidean_;
};

/// Errors: bad_config.
Result<bool> is_euclidean(const SpecStage& stage) {
  for (const auto& [key, value] : stage.options) {
    if (key != "norm" || value == "max") continue;
    if (value == "l2") return true;
    return {Errc::bad_config, "qsgd: norm=" + value + " must be max or l2"};
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_qsgd(const SpecStage& stage) {
  if (Status known = stage.only({"levels", "bucket", "norm"}); !known.ok()) return known.error();
  const auto levels = stage.whole("levels", kLevels, 1, kLevelsMost);
  if (!levels.ok()) return levels.error();
  const auto bucket = bucket_option(stage, "bucket", kBucket);
  if (!bucket.ok()) return bucket.error();
  const auto euclidean = is_euclidean(stage);
  if (!euclidean.ok()) return euclidean.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<Qsgd>(Buckets{*bucket, static_cast<unsigned>(*levels)}, *euclidean));
}

const ValueCoder& qsgd_coder() {
  static const Qsgd coder({kBucket, kLevels}, false);
  return coder;
}

}  // namespace hourglass::compress
