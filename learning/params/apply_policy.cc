// SPDX-License-Identifier: Apache-2.0
#include "learning/params/apply_policy.h"

#include <algorithm>

#include "base/check.h"
#include "learning/compress/compressor.h"
#include "learning/params/registry.h"

namespace hourglass::params {
namespace {

constexpr std::int64_t kSizeMax = 1024;

void add(const std::vector<GradientBlock>& blocks, std::span<float> sum, float weight) {
  for (const GradientBlock& block : blocks) {
    const Status status = compress::accumulate(block, sum, weight);
    HG_CHECK(status.ok(), "a push is validated before it is applied");
  }
}

void put_block(const GradientBlock& block, ArchiveWriter& out) {
  out.put(block.offset);
  out.put(block.length);
  out.put(block.count);
  out.put(block.index_codec);
  out.put(block.value_codec);
  out.put(block.rice_bits);
  out.put(block.low);
  out.put(block.high);
  out.put_bytes(block.indices);
  out.put_bytes(block.values);
}

GradientBlock get_block(ArchiveReader& in) {
  GradientBlock block;
  in.get(block.offset);
  in.get(block.length);
  in.get(block.count);
  block.index_codec = static_cast<IndexCodec>(in.get_up_to(static_cast<std::uint8_t>(kLastIndexCodec)));
  block.value_codec = static_cast<ValueCodec>(in.get_up_to(static_cast<std::uint8_t>(kLastValueCodec)));
  in.get(block.rice_bits);
  in.get(block.low);
  in.get(block.high);
  block.indices = in.get_bytes();
  block.values = in.get_bytes();
  return block;
}

class Buffer : public ServerRule {
 public:
  explicit Buffer(std::size_t parameters) : parameters_(parameters) {}

  void take(const std::vector<GradientBlock>& blocks, float weight, double progress) override {
    if (!blocks.empty()) held_.push_back({progress, weight, blocks});  // else a worker's last push, with nothing left to say
  }

  bool step(std::span<const float> /*parameters*/, std::span<float> delta) override {
    if (held_.empty()) return false;
    std::stable_sort(held_.begin(), held_.end(), [](const Held& a, const Held& b) { return a.progress < b.progress; });
    std::fill(delta.begin(), delta.end(), 0.0F);
    for (const Held& push : held_) add(push.blocks, delta, push.weight);
    held_.clear();
    return true;
  }

  void save(ArchiveWriter& out) const override {
    out.put(static_cast<std::uint64_t>(held_.size()));
    for (const Held& push : held_) {
      out.put(push.progress);
      out.put(push.weight);
      out.put(static_cast<std::uint64_t>(push.blocks.size()));
      for (const GradientBlock& block : push.blocks) put_block(block, out);
    }
  }
  void load(ArchiveReader& in) override {
    held_.clear();
    const auto count = in.get_up_to<std::uint64_t>(kHeldMax);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
      Held& push = held_.emplace_back();
      in.get(push.progress);
      in.get(push.weight);
      const auto blocks = in.get_up_to<std::uint64_t>(limits::kBlocks);
      for (std::uint64_t j = 0; j < blocks && in.ok(); ++j) {
        push.blocks.push_back(get_block(in));
        if (in.ok() && !compress::validate(push.blocks.back(), parameters_).ok()) in.fail();
      }
    }
    if (!in.ok()) held_.clear();
  }

 private:
  static constexpr std::uint64_t kHeldMax = 1U << 20U;
  struct Held {
    double progress = 0;
    float weight = 0;
    std::vector<GradientBlock> blocks;
  };
  std::size_t parameters_;
  std::vector<Held> held_;  ///< as many as publications let wait
};

class Outer final : public Buffer {
 public:
  Outer(double rate, double momentum, std::size_t parameters)
      : Buffer(parameters),
        rate_(static_cast<float>(rate)),
        momentum_(static_cast<float>(momentum)),
        v_(momentum > 0 ? parameters : 0, 0.0F) {}

  bool step(std::span<const float> parameters, std::span<float> delta) override {
    if (!Buffer::step(parameters, delta)) return false;
    for (std::size_t i = 0; i < v_.size(); ++i) {
      const float next = momentum_ * v_[i] + delta[i];
      v_[i] = next - next == 0 ? next : v_[i];
      delta[i] += momentum_ * v_[i];
    }
    for (float& value : delta) value *= rate_;
    return true;
  }

  void save(ArchiveWriter& out) const override {
    Buffer::save(out);
    out.put_all(std::span<const float>(v_));
  }
  void load(ArchiveReader& in) override {
    Buffer::load(in);
    in.get_into(v_);
  }

 private:
  float rate_;
  float momentum_;
  std::vector<float> v_;
};

class DelayedNesterov final : public ServerRule {
 public:
  DelayedNesterov(std::uint32_t size, double momentum, std::size_t parameters)
      : size_(size), momentum_(static_cast<float>(momentum)), fresh_(parameters, 0.0F), round_(parameters, 0.0F), v_(parameters, 0.0F) {}

  void take(const std::vector<GradientBlock>& blocks, float weight, double /*progress*/) override {
    if (blocks.empty()) return;
    add(blocks, fresh_, weight);
    add(blocks, round_, weight);
    ++waiting_;
    ++in_round_;
  }

  bool step(std::span<const float> /*parameters*/, std::span<float> delta) override {
    if (waiting_ == 0) return false;
    waiting_ = 0;
    std::copy(fresh_.begin(), fresh_.end(), delta.begin());
    std::fill(fresh_.begin(), fresh_.end(), 0.0F);
    if (in_round_ < size_) return true;
    in_round_ = 0;
    for (std::size_t i = 0; i < v_.size(); ++i) {
      const float next = momentum_ * v_[i] + round_[i];
      v_[i] = next - next == 0 ? next : v_[i];
      round_[i] = 0;
      delta[i] += momentum_ * v_[i];
    }
    return true;
  }

  void save(ArchiveWriter& out) const override {
    for (const auto* values : {&fresh_, &round_, &v_}) out.put_all(std::span<const float>(*values));
    out.put(waiting_);
    out.put(in_round_);
  }
  void load(ArchiveReader& in) override {
    for (auto* values : {&fresh_, &round_, &v_}) in.get_into(*values);
    in.get(waiting_);
    in.get(in_round_);
  }

 private:
  std::uint32_t size_;
  float momentum_;
  std::vector<float> fresh_;  ///< since the last step
  std::vector<float> round_;  ///< since momentum was last applied
  std::vector<float> v_;
  std::uint32_t waiting_ = 0;
  std::uint32_t in_round_ = 0;
};

using Made = Result<ApplyPolicy>;

Result<std::uint32_t> size_of(const SpecStage& stage, const Job& job) {
  const auto size = stage.whole("size", job.conv_workers, 1, kSizeMax);
  if (!size) return size.error();
  return static_cast<std::uint32_t>(*size);
}

Made make_each(const SpecStage& stage, const Job& /*job*/, std::size_t /*size*/) {
  if (const Status known = stage.only({}); !known) return known.error();
  return ApplyPolicy{};
}

Made make_buffer(const SpecStage& stage, const Job& job, std::size_t size) {
  if (const Status known = stage.only({"size"}); !known) return known.error();
  const auto buffer = size_of(stage, job);
  if (!buffer) return buffer.error();
  ApplyPolicy out;
  out.buffer = *buffer;
  if (adds(job)) out.rule = std::make_unique<Buffer>(size);
  return out;
}

Made make_outer(const SpecStage& stage, const Job& job, std::size_t size) {
  if (const Status known = stage.only({"size", "rate", "momentum"}); !known) return known.error();
  const auto buffer = size_of(stage, job);
  if (!buffer) return buffer.error();
  const auto rate = stage.number("rate", 0.7, 0, 100);
  if (!rate) return rate.error();
  const auto momentum = stage.number("momentum", 0, 0, 0.999999);
  if (!momentum) return momentum.error();
  ApplyPolicy out;
  out.buffer = *buffer;
  out.rule = std::make_unique<Outer>(*rate, *momentum, size);
  return out;
}

Made make_delayed_nesterov(const SpecStage& stage, const Job& job, std::size_t size) {
  if (const Status known = stage.only({"size", "momentum"}); !known) return known.error();
  const auto round = size_of(stage, job);
  if (!round) return round.error();
  const auto momentum = stage.number("momentum", 0.9, 0, 0.999999);
  if (!momentum) return momentum.error();
  ApplyPolicy out;
  out.rule = std::make_unique<DelayedNesterov>(*round, *momentum, size);
  return out;
}

using Make = Made (*)(const SpecStage& stage, const Job& job, std::size_t size);

const std::vector<Entry<Make>>& entries() {
  static const std::vector<Entry<Make>> table = {
      {{"each", "each push by itself, when it comes"}, &make_each},
      {{"buffer", "size=N pushes together, in an order of their own (default: as many as CONV workers)"}, &make_buffer},
      {{"outer", "a step of an outer optimizer on size=N pushes; rate=0.7, momentum=0 (Nesterov's)"}, &make_outer},
      {{"delayed_nesterov", "each push when it comes, momentum=0.9 after each size=N of them"}, &make_delayed_nesterov},
  };
  return table;
}

}  // namespace

const std::vector<NamedRow>& apply_policies() {
  static const std::vector<NamedRow> rows = rows_of(entries());
  return rows;
}

Made make_apply_policy(const Job& job, std::size_t size) {
  const Result<SpecStage> stage = parse_single("apply policy", job.apply_policy);
  if (!stage) return stage.error();
  const auto entry = find_entry(entries(), "apply policy", stage->name);
  if (!entry) return entry.error();
  return (*entry)->make(*stage, job, size);
}

Status check_apply_policy(const Job& job) {
  const auto policy = make_apply_policy(job, 0);
  if (!policy.ok()) return policy.error();
  const std::string name = "'" + job.apply_policy + "' ";
  if (policy->buffer > 0 && job.publish_every != 1) {
    return {Errc::bad_config, name + "says when pushes are applied and published, and so does bytes.publish_every: set that to 1"};
  }
  if (policy->rule && !adds(job)) {
    return {Errc::bad_config,
            name + "steps on weight deltas, and train.server = \"" + job.server + "\" takes gradients: set one of them alone"};
  }
  return {};
}

}  // namespace hourglass::params
