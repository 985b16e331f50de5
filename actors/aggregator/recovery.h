// SPDX-License-Identifier: Apache-2.0
// One life of an aggregator after another: what the run folder says about the earlier ones, and what this one leaves behind.
//
// run.state names run and generation, and is on the disk before anybody hears of this generation. So an aggregator that starts in the
// folder of an unfinished run has a higher one, and messages of the earlier are void. It goes on from the newest checkpoint that can be
// read; what the journal has beyond it was rolled back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/aggregator/checkpoint_shelf.h"
#include "actors/aggregator/journal.h"
#include "messages/gradient_push.h"
#include "runtime/context.h"

namespace hourglass {

struct RecoverySettings {
  double checkpoint_every_seconds = 60;  ///< 0: none, and no journal
  std::uint32_t keep = 3;                ///< of the newest; the best stays besides
  bool recover = true;                   ///< false: what an earlier life left is removed
};

/// As run.state says it.
enum class RunStanding : std::uint8_t { under_way, finished, ending };  ///< finished was there first: older files say 0 or 1

class Recovery {
 public:
  static constexpr std::string_view kStateFile = "run.state";

  Recovery(RecoverySettings settings, std::uint64_t run, std::uint32_t generation)
      : settings_(settings), shelf_(settings.keep), run_(run), generation_(generation) {}

  /// Errors: bad_data where the folder holds an unfinished run of another model or dataset, io where its state cannot be read or written.
  Status begin(Context& context, const Job& job, std::uint64_t model_hash);
  /// An earlier life of this run was found.
  [[nodiscard]] bool resumed() const { return resumed_; }
  /// Where to go on; empty: from the start. Call once.
  [[nodiscard]] std::optional<Checkpoint> take_checkpoint() { return std::exchange(checkpoint_, std::nullopt); }
  /// Decided after it.
  [[nodiscard]] const std::vector<JournalEntry>& rolled_back() const { return rolled_back_; }
  [[nodiscard]] std::uint64_t run() const { return run_; }
  [[nodiscard]] std::uint32_t generation() const { return generation_; }

  /// Before the sender is answered.
  void note(Context& context, ActorId from, const GradientPush& push, Verdict verdict);
  [[nodiscard]] bool enabled() const { return settings_.checkpoint_every_seconds > 0; }
  [[nodiscard]] bool due(Instant now) const;
  /// The time to the next one counts from now.
  void postpone(Instant now) { last_ = now; }
  [[nodiscard]] std::uint64_t next_number() const { return shelf_.next_number(); }
  /// What is in the checkpoint is no longer in the journal: call it with nothing handled in between. False where it could not be written;
  /// training goes on, and alarm() says so.
  bool save(Context& context, Checkpoint&& checkpoint);
  /// All is saved, and whoever comes is told so. The next life does nothing but that: see over().
  void ending(Context& context) { note(context, RunStanding::ending); }
  /// The run has ended and everybody knows: a later start in this folder is another run.
  void finish(Context& context) { note(context, RunStanding::finished); }
  /// An earlier life has ended the run, and did not live to tell everybody.
  [[nodiscard]] bool over() const { return over_; }
  /// Empty: all is well.
  [[nodiscard]] const std::string& alarm() const { return alarm_; }

 private:
  Status read_earlier(Context& context, const Job& job, std::uint64_t model_hash);
  Status clear(Context& context);
  Status write_state(Context& context, RunStanding standing);
  void note(Context& context, RunStanding standing);

  RecoverySettings settings_;
  CheckpointShelf shelf_;
  Journal journal_;
  std::uint64_t run_;
  std::uint32_t generation_;
  bool resumed_ = false, over_ = false;
  std::optional<Checkpoint> checkpoint_;
  std::vector<JournalEntry> rolled_back_;
  std::optional<Instant> last_;
  bool failed_ = false;          ///< the last attempt to write a checkpoint
  bool journal_failed_ = false;  ///< likewise
  std::string alarm_;
};

}  // namespace hourglass
