// SPDX-License-Identifier: Apache-2.0
// Which samples are with whom. Every sample of an epoch is used exactly once, or counted as repeated.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "messages/batch.h"
#include "messages/batch_request.h"
#include "messages/data_progress.h"
#include "messages/evaluation_result.h"

namespace hourglass {

/// What a run hands out: `epochs` passes over the training set in an order that seed and epoch fix, or the first `samples` of them.
struct LeasePlan {
  std::size_t train_size = 0;
  std::size_t test_size = 0;
  std::uint32_t batch = 64;
  std::uint32_t epochs = 1;
  std::uint64_t samples = 0;         ///< 0: epochs decide; more than the epochs hold: so many epochs as it takes
  std::uint64_t evaluate_every = 0;  ///< training samples; 0: at the end of each epoch but the last
  std::uint64_t seed = 1;
  std::uint64_t first_id = 1;  ///< of its leases: workers may still hold some of an earlier loader
};

struct Lease {
  std::uint64_t id = 0;
  Mode mode = Mode::train;
  std::uint32_t epoch = 0;
  double progress = 0;
  std::uint64_t first = 0;  ///< position of its first sample; see DataProgress
  std::vector<std::uint32_t> samples;
  ActorId worker;
  Instant issued{};
};

class LeaseTable {
 public:
  static constexpr std::uint32_t kEvaluationBatch = 250;

  explicit LeaseTable(LeasePlan plan);

  /// The next lease for this worker, evaluations first; null where there is none now. Valid until the table changes.
  const Lease* issue(ActorId worker, Instant now, bool train);
  /// Ends a lease; its mode where it was this worker's, else empty. A result of 0 samples gives it back.
  std::optional<Mode> complete(ActorId worker, const LeaseResult& result);
  void give_back(std::uint64_t lease);
  /// Takes back what was issued to this worker before `issued_before` and is not among what it says it holds.
  void reclaim(ActorId worker, const std::vector<std::uint64_t>& holding, Instant issued_before);
  /// Takes back the leases of workers that are no longer there; their samples count as repeated.
  void keep_only(const std::function<bool(ActorId)>& present);
  /// An evaluation of the whole test set; one at a time, the final one last.
  void begin_evaluation(bool final_parameters);
  /// A completed evaluation, once.
  std::optional<EvaluationResult> take_evaluation();
  /// Goes on where an earlier loader stopped, as its progress() told. What was with workers then counts as repeated. Only before the first
  /// lease; false where the cursor is not one of this plan: then nothing changes. `earlier`: how far this loader itself had come, where it
  /// goes back to the cursor: what was used since then counts as repeated.
  bool resume(const DataProgress& cursor, const DataProgress* earlier = nullptr);

  [[nodiscard]] std::size_t outstanding() const { return leases_.size(); }
  [[nodiscard]] std::size_t held_by(ActorId worker) const;
  [[nodiscard]] bool finished() const { return done_ >= total_; }  ///< every training sample is done
  [[nodiscard]] DataProgress progress() const;                     ///< all but the loss

 private:
  struct Work {
    Mode mode = Mode::train;
    std::uint32_t epoch = 0;
    double progress = 0;
    std::uint64_t first = 0;
    std::vector<std::uint32_t> samples;
  };
  [[nodiscard]] std::uint64_t after_evaluation(std::uint64_t done) const;
  void evaluate_if_due();
  std::optional<Work> next_train();
  Work work_at(std::uint64_t first, std::uint64_t count);
  void take_back(std::map<std::uint64_t, Lease>::iterator lease, bool repeated);

  LeasePlan plan_;
  std::uint64_t total_ = 0;
  std::uint64_t handed_out_ = 0;  ///< training samples, repeats not counted
  std::uint64_t done_ = 0;
  std::uint64_t repeated_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> order_;  ///< of epoch_
  std::deque<Work> returned_;         ///< training work that came back
  std::deque<Work> evaluation_work_;
  std::map<std::uint64_t, Lease> leases_;
  std::uint64_t next_id_ = 0;
  std::optional<EvaluationResult> evaluation_;  ///< in progress
  bool final_wanted_ = false;
  bool final_begun_ = false;
  std::uint32_t evaluations_ = 0;
  std::uint64_t next_evaluation_at_ = 0;
  std::uint64_t evaluated_ = 0;  ///< samples done at the newest complete evaluation
};

}  // namespace hourglass
