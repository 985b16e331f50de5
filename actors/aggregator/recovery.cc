// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/recovery.h"

#include <algorithm>

#include "base/archive.h"
#include "base/mutant.h"

namespace hourglass {
namespace {

constexpr double kRetrySeconds = 10;  ///< after a checkpoint that could not be written
/// Where run.state itself is damaged: lives without a checkpoint of their own that may have been.
constexpr std::uint32_t kLivesUnknown = 1000;

struct RunState {
  std::uint64_t run = 0;
  std::uint32_t generation = 0;
  RunStanding standing = RunStanding::under_way;
};

std::optional<RunState> decode_state(std::span<const std::byte> file) {
  const auto sections = params::read_checkpoint(file);
  if (!sections.ok() || sections->size() != 1) return std::nullopt;
  ArchiveReader in(sections->front().bytes);
  RunState out;
  in.get(out.run);
  in.get(out.generation);
  out.standing = static_cast<RunStanding>(in.get_up_to<std::uint8_t>(static_cast<std::uint8_t>(RunStanding::ending)));
  return in.complete() ? std::optional(out) : std::nullopt;
}

}  // namespace

Status Recovery::write_state(Context& context, RunStanding standing) {
  ArchiveWriter out;
  out.put(run_);
  out.put(generation_);
  out.put(standing);
  return context.storage().write(kStateFile, params::write_checkpoint({{"state", out.take()}}));
}

Status Recovery::clear(Context& context) {
  for (const std::string_view prefix : {kCheckpointPrefix, Journal::kPrefix}) {
    const auto names = context.storage().list(prefix);
    if (!names.ok()) return names.error();
    for (const std::string& name : *names) {
      if (!checkpoint_number_of(name) && !Journal::number_of(name)) continue;
      if (const Status removed = context.storage().remove(name); !removed.ok()) return removed;
    }
  }
  return {};
}

Status Recovery::begin(Context& context, const Job& job, std::uint64_t model_hash) {
  if (!enabled()) return {};
  if (const Status read = read_earlier(context, job, model_hash); !read.ok()) return read;
  return write_state(context, over_ ? RunStanding::ending : RunStanding::under_way);
}

Status Recovery::read_earlier(Context& context, const Job& job, std::uint64_t model_hash) {
  const auto file = context.storage().read(kStateFile);
  if (!file.ok() && file.error().code != Errc::bad_data) return file.error();
  std::optional<RunState> state;
  if (file.ok()) state = decode_state(*file);
  if (file.ok() && !state) context.log(Severity::warning, "run.state is damaged; the checkpoints tell what they can", {});
  if (!settings_.recover || (state && state->standing == RunStanding::finished) || !file.ok()) return clear(context);
  if (state && state->standing == RunStanding::ending) {
    over_ = true;
    run_ = state->run;
    generation_ = state->generation + 1;
    return {};
  }

  auto found = shelf_.open(context.storage());
  if (!found.ok()) return found.error();
  for (const CheckpointShelf::Broken& broken : found->broken) {
    context.count("checkpoints_broken", 1);
    context.log(Severity::warning, "a checkpoint cannot be used; an earlier one is",
                {{"file", broken.file},
                 {"cause", broken.cause},
                 {"instead", found->newest ? checkpoint_file_name(found->newest->meta.number) : "none: the run begins anew"}});
  }
  checkpoint_ = std::move(found->newest);
  if (state) {
    run_ = state->run;
    generation_ = state->generation + 1;
    if (checkpoint_ && checkpoint_->meta.run != run_) return {Errc::bad_data, "run.state and the checkpoints are of different runs"};
  } else if (checkpoint_) {
    run_ = checkpoint_->meta.run;
    generation_ = checkpoint_->meta.generation + kLivesUnknown;
  } else {
    return clear(context);
  }
  if (checkpoint_ && (checkpoint_->meta.model_hash != model_hash || checkpoint_->job.dataset != job.dataset)) {
    return {Errc::bad_data, "the run folder holds an unfinished run of model '" + checkpoint_->job.model + "' on '" +
                                checkpoint_->job.dataset + "', not of '" + job.model + "' on '" + job.dataset +
                                "': give another run folder, or run.recover = \"never\" to give that run up"};
  }
  resumed_ = true;
  auto journal = Journal::read(context.storage(), checkpoint_ ? checkpoint_->meta.number : 0);
  if (!journal.ok()) return journal.error();
  for (const std::string& torn : journal->torn) context.log(Severity::warning, "a journal ends in a torn record", {{"file", torn}});
  rolled_back_ = std::move(journal->entries);
  context.log(Severity::info, "going on from an earlier life",
              {{"generation", std::to_string(generation_)},
               {"checkpoint", checkpoint_ ? checkpoint_file_name(checkpoint_->meta.number) : "none"},
               {"rolled_back", std::to_string(rolled_back_.size())}});
  // The next checkpoint's segment must be a new one.
  const auto newest = Journal::newest(context.storage());
  if (!newest.ok()) return newest.error();
  shelf_.skip_to(*newest);
  return journal_.begin(context.storage(), shelf_.next_number() - 1);
}

void Recovery::note(Context& context, ActorId from, const GradientPush& push, Verdict verdict) {
  if (!enabled() || mutant(Mutant::no_journal)) return;
  JournalEntry entry{from, push.group, push.clock, verdict, 0};
  for (const GradientBlock& block : push.blocks) entry.bytes += block.indices.size() + block.values.size();
  const Status written = journal_.append(context.storage(), entry);
  if (written.ok()) {
    if (std::exchange(journal_failed_, false) && !failed_) alarm_.clear();
    return;
  }
  context.count("journal_failures", 1);
  if (std::exchange(journal_failed_, true)) return;
  alarm_ = "the journal cannot be written; training goes on: " + written.error().text;
  context.log(Severity::error, "the journal cannot be written; training goes on", {{"cause", written.error().text}});
}

bool Recovery::due(Instant now) const {
  if (!enabled() || !last_) return false;
  const double every = failed_ ? std::min(kRetrySeconds, settings_.checkpoint_every_seconds) : settings_.checkpoint_every_seconds;
  return now - *last_ >= from_seconds(every);
}

bool Recovery::save(Context& context, Checkpoint&& checkpoint) {
  postpone(context.now());
  checkpoint.meta.run = run_;
  checkpoint.meta.generation = generation_;
  checkpoint.meta.number = shelf_.next_number();
  Status written = journal_.begin(context.storage(), checkpoint.meta.number);
  if (written.ok()) written = shelf_.save(context.storage(), checkpoint);
  if (written.ok()) written = Journal::prune(context.storage(), shelf_.oldest_of_newest());
  failed_ = !written.ok();
  if (failed_) {
    context.count("checkpoint_failures", 1);
    alarm_ = "a checkpoint cannot be written; training goes on: " + written.error().text;
    context.log(Severity::error, "a checkpoint cannot be written; training goes on", {{"cause", written.error().text}});
    return false;
  }
  if (!journal_failed_) alarm_.clear();
  context.count("checkpoints", 1);
  context.log(Severity::info, "checkpoint",
              {{"file", checkpoint_file_name(checkpoint.meta.number)}, {"samples", std::to_string(checkpoint.meta.samples_done)}});
  return true;
}

void Recovery::note(Context& context, RunStanding standing) {
  if (!enabled()) return;
  if (const Status written = write_state(context, standing); !written.ok()) {
    context.log(Severity::error, "run.state cannot be written: a later start in this folder would resume the run",
                {{"cause", written.error().text}});
  }
}

}  // namespace hourglass
