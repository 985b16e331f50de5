// SPDX-License-Identifier: Apache-2.0
// A compressor composed by its spec: a selector, a value codec, an index codec.
#include <utility>

#include "base/check.h"
#include "base/spec.h"
#include "learning/compress/compressor.h"
#include "learning/compress/f32.h"
#include "learning/compress/kernels.h"
#include "learning/compress/registry.h"

namespace hourglass::compress {
namespace {

/// The smallest of the index codecs; the earlier row where two are equal. Everything in order needs none.
void encode_smallest(std::span<const std::uint32_t> indices, std::size_t length, GradientBlock& block) {
  if (indices.size() == length) {
    block.index_codec = IndexCodec::none;
    return;
  }
  const IndexCoder* best = nullptr;
  std::size_t best_bytes = 0;
  for (const Stage& stage : stages()) {
    if (stage.index_coder == nullptr) continue;
    const std::size_t bytes = stage.index_coder->bytes(indices, length);
    if (best != nullptr && bytes >= best_bytes) continue;
    best = stage.index_coder;
    best_bytes = bytes;
  }
  best->encode(indices, length, block);
}

class Pipeline final : public Compressor {
 public:
  Pipeline(std::unique_ptr<Selector> selector, const ValueCoder& value_coder, const IndexCoder* index_coder)
      : selector_(std::move(selector)), value_coder_(value_coder), index_coder_(index_coder) {}

  GradientBlock compress(std::span<const float> values, std::uint64_t step) override {
    const bool sparse = selector_->select(values, step, chosen_);
    const std::span<const float> sent = sparse ? std::span<const float>(chosen_.values) : values;
    HG_CHECK(kernels().finite(sent.data(), sent.size()), "values to be compressed must be finite");
    return pack(values, sparse);
  }

  Result<GradientBlock> compress_sum(std::span<const float> a, std::span<const float> b, std::span<float> sum,
                                     std::uint64_t step) override {
    HG_CHECK(a.size() == sum.size() && b.size() == sum.size(), "compress_sum() needs three ranges of one length");
    const Result<bool> sparse = selector_->add_select(a, b, sum, step, chosen_);
    if (!sparse.ok()) return sparse.error();
    return pack(sum, *sparse);
  }

 private:
  GradientBlock pack(std::span<const float> values, bool sparse) {
    GradientBlock block;
    block.length = values.size();
    block.count = sparse ? chosen_.indices.size() : values.size();
    value_coder_.encode(sparse ? std::span<const float>(chosen_.values) : values, block);
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
  const ValueCoder& value_coder_;
  const IndexCoder* index_coder_;  ///< null: the smallest
  Entries chosen_;
};

/// A spec resolved to rows; null where the spec has no such stage.
struct Plan {
  const Stage* selector = nullptr;
  const Stage* value = nullptr;
  const Stage* index = nullptr;
  std::vector<SpecStage> spec;
};

std::string_view name_of(StageKind kind) {
  switch (kind) {
    case StageKind::selector: return "selector";
    case StageKind::value_codec: return "value codec";
    case StageKind::index_codec: return "index codec";
  }
  return "";
}

std::string list_of(StageKind kind) {
  std::string list;
  for (const Stage& stage : stages()) {
    if (stage.row.kind == kind) list += (list.empty() ? "" : ", ") + std::string(stage.row.name);
  }
  return std::string(name_of(kind)) + " (" + list + ")";
}

Error unknown_stage(const std::string& name) {
  std::vector<std::string> names;
  for (const Stage& stage : stages()) names.emplace_back(stage.row.name);
  const std::string near = nearest_name(name, names);
  return {Errc::bad_config, "compressor stage '" + name + "' is unknown" + (near.empty() ? "" : ", did you mean '" + near + "'?") +
                                "; there are " + list_of(StageKind::selector) + ", " + list_of(StageKind::value_codec) + ", " +
                                list_of(StageKind::index_codec)};
}

Result<Plan> plan_of(std::string_view text) {
  Result<std::vector<SpecStage>> parsed = parse_spec(text);
  if (!parsed.ok()) return parsed.error();
  Plan plan;
  plan.spec = std::move(parsed).value();
  for (const SpecStage& each : plan.spec) {
    const Stage* found = nullptr;
    for (const Stage& stage : stages()) {
      if (stage.row.name == each.name) found = &stage;
    }
    if (found == nullptr) return unknown_stage(each.name);
    if ((found->row.kind == StageKind::selector) != (&each == &plan.spec.front())) {
      return {Errc::bad_config, "compressor '" + std::string(text) + "': first and only first stands a " + list_of(StageKind::selector)};
    }
    const Stage*& slot = found->row.kind == StageKind::selector      ? plan.selector
                         : found->row.kind == StageKind::value_codec ? plan.value
                                                                     : plan.index;
    if (slot != nullptr) {
      return {Errc::bad_config,
              "compressor '" + std::string(text) + "': '" + each.name + "' is a second " + std::string(name_of(found->row.kind))};
    }
    if (found->row.kind != StageKind::selector) {
      if (Status plain = each.only({}); !plain.ok()) return plain.error();
    }
    slot = found;
  }
  if (plan.index != nullptr && plan.selector->row.name == "dense") {
    return {Errc::bad_config, "compressor '" + std::string(text) + "': dense sends every entry in order and takes no index codec ('" +
                                  std::string(plan.index->row.name) + "')"};
  }
  return plan;
}

}  // namespace

Result<std::unique_ptr<Compressor>> make_compressor(std::string_view spec) {
  Result<Plan> plan = plan_of(spec);
  if (!plan.ok()) return plan.error();
  Result<std::unique_ptr<Selector>> selector = plan->selector->make_selector(plan->spec.front());
  if (!selector.ok()) return selector.error();
  const ValueCoder& value = plan->value != nullptr ? *plan->value->value_coder : f32_coder();
  const IndexCoder* index = plan->index != nullptr ? plan->index->index_coder : nullptr;
  return std::unique_ptr<Compressor>(std::make_unique<Pipeline>(std::move(selector).value(), value, index));
}

Result<bool> is_lossless(std::string_view spec) {
  const Result<Plan> plan = plan_of(spec);
  if (!plan.ok()) return plan.error();
  if (Result<std::unique_ptr<Selector>> selector = plan->selector->make_selector(plan->spec.front()); !selector.ok())
    return selector.error();
  return plan->selector->row.name == "dense" && (plan->value == nullptr || plan->value->value_coder->wire() == ValueCodec::f32);
}

}  // namespace hourglass::compress
