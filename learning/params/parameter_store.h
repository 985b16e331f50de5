// SPDX-License-Identifier: Apache-2.0
// The aggregator's copy of one parameter group and its shared downlink stream.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/archive.h"
#include "base/result.h"
#include "learning/compress/error_feedback.h"
#include "learning/params/published.h"
#include "learning/params/server_rule.h"
#include "learning/params/stale_policy.h"
#include "messages/parameter_update.h"

namespace hourglass::params {

/// Holds the exact parameters and the *published* ones, which every worker replicates bit for bit. A version counts applied pushes. Each
/// publication is one compressed delta C(exact - published); what it leaves out stays in one residual here. A ring of recent deltas leads
/// workers of any recent version to the newest. Where the downlink is lossless there is no ring: an update carries the values themselves.
class ParameterStore {
 public:
  static constexpr bool kOwnsParameters = true;

  /// `rule`: null where pushes are deltas to be added.
  ParameterStore(std::vector<float> initial, compress::ErrorFeedback downlink, std::unique_ptr<ServerRule> rule = nullptr);

  /// Adds weight * push; with a rule, gives it to the rule, whose step comes with the next publication. The blocks must have passed
  /// compress::validate(). One more version.
  void apply(const std::vector<GradientBlock>& blocks, float weight, double progress = 0) {
    apply(blocks, weight, progress, nullptr, nullptr);
  }
  /// As above; where neither is null, the push, a gradient taken at the values `read`, is compensated first.
  void apply(const std::vector<GradientBlock>& blocks, float weight, double progress, StalePolicy* compensation,
             const std::vector<float>* read);
  /// Makes what was applied since the last publication visible. Does nothing where there is nothing.
  void publish();
  /// Makes the published parameters equal to the exact ones; workers get values, not deltas.
  void publish_exact();
  /// Replaces the parameters as a whole, at this version (restored, or collected from their only owner).
  void replace(std::vector<float> values, std::uint64_t version);

  /// All but the exact parameters, which a checkpoint keeps by name; and the ring, since whoever goes on from a checkpoint takes values.
  void save(ArchiveWriter& out) const;
  /// Of a store of the same job, to the reader's end. False where it does not fit: then nothing changes.
  bool load(std::vector<float> exact, ArchiveReader& in);

  [[nodiscard]] std::uint64_t version() const { return version_; }  ///< pushes applied
  [[nodiscard]] std::uint64_t published_version() const { return published_version_; }
  [[nodiscard]] std::span<const float> exact() const { return exact_; }  ///< a rule's next step not included
  [[nodiscard]] const std::vector<float>& published() const { return lossless() ? exact_ : published_; }
  /// Workers should push momentum; see ServerRule.
  [[nodiscard]] bool wants_momentum() const { return rule_ != nullptr && rule_->wants_momentum(); }
  [[nodiscard]] bool lossless() const { return downlink_.lossless(); }
  [[nodiscard]] std::size_t size() const { return exact_.size(); }
  /// L2 norm of what is applied but not yet published.
  [[nodiscard]] double residual_norm() const { return downlink_.residual_norm(); }

  /// Deltas that lead from `from` to the published version, oldest first; empty where `from` is up to date already. Errors: too_stale where
  /// the ring does not reach back or values are smaller: then send absolute().
  [[nodiscard]] Result<std::vector<VersionDelta>> deltas_since(std::uint64_t from) const;
  /// The published values as one dense f32 block.
  [[nodiscard]] VersionDelta absolute() const { return whole(published_version_, published()); }

 private:
  void step();
  std::unique_ptr<ServerRule> rule_;
  std::vector<float> delta_;  ///< of a rule's step
  std::vector<float> exact_;
  std::vector<float> published_;  ///< empty where lossless
  std::vector<float> pending_;    ///< applied since the last publication; empty where lossless
  compress::ErrorFeedback downlink_;
  DeltaRing ring_;
  std::uint64_t version_ = 0;
  std::uint64_t published_version_ = 0;
  /// The newest version whose published values were replaced by the exact ones: followers may hold either, so no delta leads on from it.
  std::optional<std::uint64_t> ambiguous_;
};

}  // namespace hourglass::params
