// SPDX-License-Identifier: Apache-2.0
// What no message tells, seen through base/mutant.h: a follower's values of a version are its owner's bit for bit, and error feedback loses
// nothing: a worker's steps = what its parent took + what its memory holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/mutant.h"
#include "services/simulation/trial.h"

namespace hourglass {

class InnerChecks final : public Witness {
 public:
  /// Looks while it lives; one at a time.
  explicit InnerChecks(Trial& trial);
  ~InnerChecks() override;
  InnerChecks(const InnerChecks&) = delete;
  InnerChecks& operator=(const InnerChecks&) = delete;

  void published(std::uint64_t version, std::span<const float> values) override;
  void followed(std::uint64_t version, std::span<const float> values) override;
  void stepped(std::span<const float> delta) override;
  void held(std::span<const float> residual) override;

  /// How often each rule was looked at, so that a test can tell that it was.
  [[nodiscard]] std::uint64_t copies_compared() const { return copies_compared_; }
  [[nodiscard]] std::uint64_t masses_weighed() const { return masses_weighed_; }

 private:
  /// Of one worker, since it joined.
  struct Mass {
    std::tuple<std::uint32_t, std::uint32_t, std::uint64_t> joined;  ///< generation, attempt, first clock
    double stepped = 0, sent = 0, returned = 0, size = 0;
    double pushed = 0, returned_then = 0, held = 0;  ///< when the newest push was made: stepped, returned, and what was held after it
    std::optional<double> inherited;                 ///< what its memory held when it joined, as its first push tells
    std::map<std::uint64_t, double> open;            ///< by clock: pushes without a verdict
    std::uint64_t made = 0, posted = 0;              ///< pushes
    std::uint64_t next = 0;                          ///< clock
  };
  void see_posted(const sim::Delivery& delivery);
  void see_handled(const sim::Delivery& delivery);
  void weigh(Instant at, ActorId worker, const Mass& mass);
  [[nodiscard]] std::size_t group_size(Group group) const { return group == Group::conv ? conv_size_ : fc_size_; }

  Trial& trial_;
  bool conserves_ = false;
  std::size_t conv_size_ = 0, fc_size_ = 0;
  std::map<std::pair<std::size_t, std::uint64_t>, std::set<std::uint64_t>> published_;  ///< (size, version) -> fingerprints
  std::map<ActorId, Mass> masses_;
  std::uint64_t copies_compared_ = 0, masses_weighed_ = 0;
};

}  // namespace hourglass
