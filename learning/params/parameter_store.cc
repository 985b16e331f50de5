// SPDX-License-Identifier: Apache-2.0
#include "learning/params/parameter_store.h"

#include <algorithm>

#include "base/mutant.h"
#include "learning/params/arithmetic.h"

namespace hourglass::params {

ParameterStore::ParameterStore(std::vector<float> initial, compress::ErrorFeedback downlink, std::unique_ptr<ServerRule> rule)
    : rule_(std::move(rule)), exact_(std::move(initial)), downlink_(std::move(downlink)) {
  if (rule_) delta_.resize(exact_.size());
  if (!lossless()) {
    published_ = exact_;
    pending_.assign(exact_.size(), 0.0F);
  }
}

void ParameterStore::apply(const std::vector<GradientBlock>& blocks, float weight, double progress, StalePolicy* compensation,
                           const std::vector<float>* read) {
  ++version_;
  if (rule_ && compensation != nullptr && read != nullptr && !blocks.empty()) {
    std::vector<float> push(size(), 0.0F);
    for (const GradientBlock& block : blocks) {
      const Status status = compress::accumulate(block, push);
      HG_CHECK(status.ok(), "a push is validated before it is applied");
    }
    compensation->compensate(push, exact_, *read);
    return rule_->take(whole(version_, push).blocks, weight, progress);
  }
  if (rule_) return rule_->take(blocks, weight, progress);
  for (const GradientBlock& block : blocks) {
    Status status = compress::accumulate(block, exact_, weight);
    HG_CHECK(status.ok(), "a push is validated before it is applied");
    if (!lossless()) {
      status = compress::accumulate(block, pending_, weight);
      HG_CHECK(status.ok(), "a push is validated before it is applied");
    }
  }
}

void ParameterStore::step() {
  if (!rule_ || !rule_->step(exact_, delta_)) return;
  add(exact_, delta_);
  if (!lossless()) add(pending_, delta_);
}

void ParameterStore::publish() {
  if (published_version_ == version_) return;
  step();
  const std::uint64_t from = published_version_;
  published_version_ = version_;
  if (lossless()) return show([&](Witness& w) { w.published(published_version_, exact_); });
  auto blocks = downlink_.compress(pending_, version_);
  HG_CHECK(blocks.ok(), "only finite pushes are applied");
  std::fill(pending_.begin(), pending_.end(), 0.0F);
  for (const GradientBlock& block : *blocks) {
    const Status status = compress::accumulate(block, published_);
    HG_CHECK(status.ok(), "our own blocks are valid");
  }
  ring_.push(from, {version_, std::move(*blocks), {}});
  show([&](Witness& w) { w.published(published_version_, published_); });
}

void ParameterStore::publish_exact() {
  step();
  published_version_ = version_;
  show([&](Witness& w) { w.published(published_version_, exact_); });
  if (lossless()) return;
  (void)downlink_.flush();  // contained in the values themselves
  std::fill(pending_.begin(), pending_.end(), 0.0F);
  if (published_ != exact_) ambiguous_ = version_;
  published_ = exact_;
  ring_.clear();
}

void ParameterStore::replace(std::vector<float> values, std::uint64_t version) {
  HG_CHECK(values.size() == exact_.size(), "a group keeps its size");
  step();  // what was taken belongs to the values that go
  exact_ = std::move(values);
  version_ = version;
  publish_exact();
}

void ParameterStore::save(ArchiveWriter& out) const {
  out.put(version_);
  out.put(published_version_);
  for (const auto* values : {&published_, &pending_}) out.put_all(std::span<const float>(*values));
  out.put_all(downlink_.residual());
  out.put(rule_ != nullptr);
  if (rule_) rule_->save(out);
}

bool ParameterStore::load(std::vector<float> exact, ArchiveReader& in) {
  const auto version = in.get<std::uint64_t>();
  const auto published_version = in.get<std::uint64_t>();
  std::vector<float> published = published_, pending = pending_;
  for (auto* values : {&published, &pending}) in.get_into(*values);
  const std::vector<float> held = in.get_all<float>();
  const bool fits = exact.size() == exact_.size() && (held.empty() || held.size() == exact_.size());
  if (!fits || in.get<bool>() != (rule_ != nullptr)) in.fail();
  if (rule_ && in.ok()) {
    ArchiveWriter before;
    rule_->save(before);
    rule_->load(in);
    const Bytes bytes = before.take();
    ArchiveReader back(bytes);
    if (!in.complete()) rule_->load(back);
  }
  if (!in.complete() || !downlink_.adopt(held).ok()) return false;
  exact_ = std::move(exact);
  published_ = std::move(published);
  pending_ = std::move(pending);
  version_ = version;
  published_version_ = published_version;
  ring_.clear();
  return true;
}

Result<std::vector<VersionDelta>> ParameterStore::deltas_since(std::uint64_t from) const {
  if (from == published_version_) return std::vector<VersionDelta>();
  if (from == ambiguous_) return {Errc::too_stale, "version " + std::to_string(from) + " was published twice"};
  return ring_.since(from, published());
}

}  // namespace hourglass::params
