// SPDX-License-Identifier: Apache-2.0
// A range's compressor composed by its spec: a selector, a value codec, an index codec; or a transform.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "learning/compress/compressor.h"
#include "learning/compress/f32.h"
#include "learning/compress/kernels.h"
#include "learning/compress/plan.h"

namespace hourglass::compress {
namespace {

/// The smallest of the exact index codecs; the earlier row where two are equal. Everything in order needs none.
void encode_smallest(std::span<const std::uint32_t> indices, std::size_t length, GradientBlock& block) {
  if (indices.size() == length) {
    block.index_codec = IndexCodec::none;
    return;
  }
  const IndexCoder* best = nullptr;
  std::size_t best_bytes = 0;
  for (const Stage& stage : stages()) {
    if (stage.index_coder == nullptr || !stage.index_coder->exact()) continue;
    const std::size_t bytes = stage.index_coder->bytes(indices, length);
    if (best != nullptr && bytes >= best_bytes) continue;
    best = stage.index_coder;
    best_bytes = bytes;
  }
  best->encode(indices, length, block);
}

class Pipeline final : public Compressor {
 public:
  Pipeline(std::unique_ptr<Selector> selector, std::unique_ptr<ValueCoder> value_coder, const IndexCoder* index_coder)
      : selector_(std::move(selector)), value_coder_(std::move(value_coder)), index_coder_(index_coder) {}

  GradientBlock compress(std::span<const float> values, std::uint64_t step) override {
    const bool sparse = selector_->select(values, step, chosen_);
    const std::span<const float> sent = sparse ? std::span<const float>(chosen_.values) : values;
    HG_CHECK(kernels().finite(sent.data(), sent.size()), "values to be compressed must be finite");
    return pack(values, sparse, step);
  }

  Result<GradientBlock> compress_sum(std::span<const float> a, std::span<const float> b, std::span<float> sum,
                                     std::uint64_t step) override {
    HG_CHECK(a.size() == sum.size() && b.size() == sum.size(), "compress_sum() needs three ranges of one length");
    const Result<bool> sparse = selector_->add_select(a, b, sum, step, chosen_);
    if (!sparse.ok()) return sparse.error();
    return pack(sum, *sparse, step);
  }

  [[nodiscard]] bool observes() const override { return selector_->observes(); }
  void observe(const Entries& published) override { selector_->observe(published); }
  void take_seat(const Seat& seat) override { selector_->take_seat(seat); }
  void set_ratio(double ratio) override { selector_->set_ratio(ratio); }
  [[nodiscard]] bool keeps_range() const override { return value_coder_->keeps_range() && selector_->keeps_range(); }

 private:
  GradientBlock pack(std::span<const float> values, bool sparse, std::uint64_t step) {
    GradientBlock block;
    block.length = values.size();
    if (sparse && index_coder_ != nullptr && !chosen_.indices.empty()) index_coder_->widen(values, chosen_);
    block.count = sparse ? chosen_.indices.size() : values.size();
    value_coder_->encode(sparse ? std::span<const float>(chosen_.values) : values, step, block);
    if (!sparse) return block;
    if (block.count == 0) {
      block.index_codec = values.empty() ? IndexCodec::none : IndexCodec::raw;  // no bytes, whatever the range
    } else if (index_coder_ != nullptr) {
      index_coder_->encode(chosen_.indices, values.size(), block);
    } else {
      encode_smallest(chosen_.indices, values.size(), block);
    }
    return block;
  }

  std::unique_ptr<Selector> selector_;
  std::unique_ptr<ValueCoder> value_coder_;
  const IndexCoder* index_coder_;  ///< null: the smallest
  Entries chosen_;
};

class Whole final : public Compressor {
 public:
  explicit Whole(std::unique_ptr<Transform> transform) : transform_(std::move(transform)) {}

  GradientBlock compress(std::span<const float> values, std::uint64_t step) override {
    HG_CHECK(kernels().finite(values.data(), values.size()), "values to be compressed must be finite");
    GradientBlock block;
    block.length = values.size();
    if (std::none_of(values.begin(), values.end(), [](float value) { return value != 0; })) {
      block.index_codec = values.empty() ? IndexCodec::none : IndexCodec::raw;  // no entries, no bytes
      return block;
    }
    block.count = values.size();
    transform_->encode(values, step, block);
    return block;
  }

  Result<GradientBlock> compress_sum(std::span<const float> a, std::span<const float> b, std::span<float> sum,
                                     std::uint64_t step) override {
    if (!kernels().add(a.data(), b.data(), sum.data(), sum.size())) {
      return {Errc::bad_data, "the sum to be compressed has a non-finite value"};
    }
    return compress(sum, step);
  }

  [[nodiscard]] bool keeps_range() const override { return false; }

 private:
  std::unique_ptr<Transform> transform_;
};

}  // namespace

GradientBlock block_of_values(std::span<const float> range, std::span<const std::uint32_t> indices) {
  GradientBlock block;
  block.length = range.size();
  block.count = indices.size();
  std::vector<float> values(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) values[i] = range[indices[i]];
  block.values = to_bytes(std::span<const float>(values));
  if (indices.empty() && !range.empty()) {
    block.index_codec = IndexCodec::raw;
  } else {
    encode_smallest(indices, range.size(), block);
  }
  return block;
}

Result<std::unique_ptr<Compressor>> make_compressor(const Plan& plan, const Shape& shape) {
  if (plan.transform) {
    auto transform = plan.transform->row->make_transform(plan.transform->spec, shape);
    if (!transform.ok()) return transform.error();
    return std::unique_ptr<Compressor>(std::make_unique<Whole>(std::move(transform).value()));
  }
  auto selector = plan.selector->row->make_selector(plan.selector->spec, shape);
  if (!selector.ok()) return selector.error();
  auto value = plan.value ? plan.value->row->make_value_coder(plan.value->spec) : make_f32({});
  if (!value.ok()) return value.error();
  if (plan.index) {
    if (Status plain = plan.index->spec.only({}); !plain.ok()) return plain.error();
  }
  const IndexCoder* index = plan.index ? plan.index->row->index_coder : nullptr;
  return std::unique_ptr<Compressor>(std::make_unique<Pipeline>(std::move(selector).value(), std::move(value).value(), index));
}

Result<std::unique_ptr<Compressor>> make_compressor(std::string_view spec, const Shape& shape) {
  const Result<Plan> plan = plan_of(spec);
  if (!plan.ok()) return plan.error();
  if (plan->memory || plan->ratio) {
    return {Errc::bad_config, "compressor '" + std::string(spec) + "': a memory or ratio policy belongs to a whole group, not to a range"};
  }
  return make_compressor(*plan, shape);
}

Result<bool> is_lossless(std::string_view spec) {
  const Result<Plan> plan = plan_of(spec);
  if (!plan.ok()) return plan.error();
  if (auto made = make_compressor(*plan, {}); !made.ok()) return made.error();
  // Other memories send something else than what they are given, or keep a state beside it.
  const bool plain = !plan->memory || plan->memory->spec.name == "feedback" || plan->memory->spec.name == "none";
  return plain && plan->selector && plan->selector->spec.name == "dense" && (!plan->value || plan->value->spec.name == "f32");
}

}  // namespace hourglass::compress
