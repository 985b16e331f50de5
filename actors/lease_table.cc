// SPDX-License-Identifier: Apache-2.0
#include "actors/lease_table.h"

#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"
#include "learning/data/dataset.h"

namespace hourglass {

LeaseTable::LeaseTable(LeasePlan plan) : plan_(plan) {
  HG_CHECK(plan_.train_size > 0 && plan_.test_size > 0 && plan_.batch > 0, "an empty plan");
  next_id_ = plan_.first_id;
  total_ = plan_.samples > 0 ? plan_.samples : std::uint64_t{plan_.epochs} * plan_.train_size;
  order_ = data::epoch_order(plan_.train_size, plan_.seed, 0);
  next_evaluation_at_ = after_evaluation(0);
}

/// Where the next evaluation is due after one at `done` samples.
std::uint64_t LeaseTable::after_evaluation(std::uint64_t done) const {
  const std::uint64_t every = plan_.evaluate_every > 0 ? plan_.evaluate_every : plan_.train_size;
  return (done / every + 1) * every;
}

void LeaseTable::evaluate_if_due() {
  if (done_ < next_evaluation_at_) return;
  next_evaluation_at_ = after_evaluation(done_);
  if (done_ < total_) begin_evaluation(false);
}

std::optional<LeaseTable::Work> LeaseTable::next_train() {
  if (!returned_.empty()) {
    Work work = std::move(returned_.front());
    returned_.pop_front();
    return work;
  }
  if (handed_out_ >= total_) return std::nullopt;
  // A batch never spans two epochs, so that an epoch is a permutation.
  const std::uint64_t position = handed_out_ % plan_.train_size;
  const std::uint64_t count = std::min<std::uint64_t>({plan_.batch, plan_.train_size - position, total_ - handed_out_});
  Work work = work_at(handed_out_, count);
  handed_out_ += count;
  return work;
}

/// Samples by their positions, all of one epoch.
LeaseTable::Work LeaseTable::work_at(std::uint64_t first, std::uint64_t count) {
  Work work;
  work.epoch = static_cast<std::uint32_t>(first / plan_.train_size);
  if (work.epoch != epoch_) {
    epoch_ = work.epoch;
    order_ = data::epoch_order(plan_.train_size, plan_.seed, epoch_);
  }
  work.progress = static_cast<double>(first) / static_cast<double>(total_);
  work.first = first;
  const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first % plan_.train_size);
  work.samples.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return work;
}

const Lease* LeaseTable::issue(ActorId worker, Instant now, bool train) {
  std::optional<Work> work;
  if (!evaluation_work_.empty()) {
    work = std::move(evaluation_work_.front());
    evaluation_work_.pop_front();
  } else if (train) {
    work = next_train();
  }
  if (!work) return nullptr;
  Lease lease;
  lease.id = next_id_++;
  lease.mode = work->mode;
  lease.epoch = work->epoch;
  lease.progress = work->progress;
  lease.first = work->first;
  lease.samples = std::move(work->samples);
  lease.worker = worker;
  lease.issued = now;
  return &leases_.emplace(lease.id, std::move(lease)).first->second;
}

std::optional<Mode> LeaseTable::complete(ActorId worker, const LeaseResult& result) {
  const auto found = leases_.find(result.lease);
  if (found == leases_.end() || found->second.worker != worker) return std::nullopt;
  Lease& lease = found->second;
  const Mode mode = lease.mode;
  if (result.samples == 0) {  // returned unused: not a repeat
    take_back(found, false);
    return mode;
  }
  if (mode == Mode::train) {
    done_ += lease.samples.size();
    evaluate_if_due();
  } else if (evaluation_) {
    evaluation_->count += lease.samples.size();
    evaluation_->loss_sum += result.loss_sum;
    evaluation_->hits += result.hits;
  }
  if (!mutant(Mutant::lease_done_twice)) leases_.erase(found);
  return mode;
}

void LeaseTable::take_back(std::map<std::uint64_t, Lease>::iterator lease, bool repeated) {
  Work work{lease->second.mode, lease->second.epoch, lease->second.progress, lease->second.first, std::move(lease->second.samples)};
  if (repeated && work.mode == Mode::train) repeated_ += work.samples.size();
  (work.mode == Mode::train ? returned_ : evaluation_work_).push_back(std::move(work));
  leases_.erase(lease);
}

void LeaseTable::give_back(std::uint64_t lease) {
  const auto found = leases_.find(lease);
  if (found != leases_.end()) take_back(found, false);
}

void LeaseTable::reclaim(ActorId worker, const std::vector<std::uint64_t>& holding, Instant issued_before) {
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    const auto here = lease++;
    if (here->second.worker != worker || here->second.issued > issued_before) continue;
    if (std::find(holding.begin(), holding.end(), here->first) == holding.end()) take_back(here, true);
  }
}

void LeaseTable::keep_only(const std::function<bool(ActorId)>& present) {
  if (mutant(Mutant::lease_never_returned)) return;
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    const auto here = lease++;
    if (!present(here->second.worker)) take_back(here, true);
  }
}

void LeaseTable::begin_evaluation(bool final_parameters) {
  if (final_parameters) {
    if (final_begun_) return;
    final_wanted_ = true;
  }
  if (evaluation_) return;  // one at a time; a periodic one that comes due meanwhile is left out
  evaluation_.emplace();
  evaluation_->number = ++evaluations_;
  evaluation_->final_parameters = final_wanted_;
  final_begun_ = final_wanted_;
  evaluation_->samples_done = done_;
  for (std::size_t first = 0; first < plan_.test_size; first += kEvaluationBatch) {
    Work work;
    work.mode = Mode::evaluate;
    for (std::size_t i = first; i < std::min<std::size_t>(first + kEvaluationBatch, plan_.test_size); ++i) {
      work.samples.push_back(static_cast<std::uint32_t>(i));
    }
    evaluation_work_.push_back(std::move(work));
  }
}

std::optional<EvaluationResult> LeaseTable::take_evaluation() {
  if (!evaluation_ || evaluation_->count < plan_.test_size) return std::nullopt;
  const EvaluationResult result = *evaluation_;
  evaluated_ = result.samples_done;
  evaluation_.reset();
  if (final_wanted_ && !final_begun_) begin_evaluation(true);
  return result;
}

bool LeaseTable::resume(const DataProgress& cursor, const DataProgress* earlier) {
  if (next_id_ != plan_.first_id || handed_out_ != 0 || cursor.open_first.size() != cursor.open_count.size()) return false;
  std::uint64_t open = 0, repeated = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ranges;
  for (std::size_t i = 0; i < cursor.open_first.size(); ++i) {
    const std::uint64_t first = cursor.open_first[i];
    const std::uint32_t count = cursor.open_count[i];
    const bool fits = count > 0 && count <= limits::kBatchSamples && first < cursor.handed_out && count <= cursor.handed_out - first &&
                      first % plan_.train_size + count <= plan_.train_size;
    if (!fits) return false;
    open += count;
    repeated += i < cursor.open_unused ? 0 : count;
    if (first < total_) ranges.emplace_back(first, static_cast<std::uint32_t>(std::min<std::uint64_t>(count, total_ - first)));
  }
  if (open > cursor.handed_out) return false;
  std::sort(ranges.begin(), ranges.end());
  handed_out_ = std::min(cursor.handed_out, total_);
  std::uint64_t left = 0;
  for (const auto& [first, count] : ranges) {
    returned_.push_back(work_at(first, count));
    left += count;
  }
  done_ = handed_out_ - std::min(left, handed_out_);
  repeated_ = cursor.samples_repeated + repeated;
  if (earlier != nullptr && earlier->handed_out > 0) {
    std::uint64_t used = earlier->handed_out;
    for (std::size_t i = 0; i < earlier->open_unused; ++i) used -= earlier->open_count[i];
    repeated_ = std::max(repeated_, earlier->samples_repeated + (used > done_ ? used - done_ : 0));
  }
  evaluated_ = cursor.evaluated;
  next_evaluation_at_ = after_evaluation(evaluated_);
  evaluate_if_due();  // one that nobody finished is made up for
  return true;
}

std::size_t LeaseTable::held_by(ActorId worker) const {
  return static_cast<std::size_t>(
      std::count_if(leases_.begin(), leases_.end(), [&](const auto& row) { return row.second.worker == worker; }));
}

DataProgress LeaseTable::progress() const {
  DataProgress out;
  out.epoch = static_cast<std::uint32_t>(handed_out_ == 0 ? 0 : (handed_out_ - 1) / plan_.train_size);
  out.samples_total = total_;
  out.samples_done = done_;
  out.samples_repeated = repeated_;
  out.finished = finished();
  out.evaluated = evaluated_;
  out.handed_out = handed_out_;
  const auto add = [&out](std::uint64_t first, std::size_t count) {
    HG_CHECK(out.open_first.size() < limits::kOpenLeases, "more open leases than all members may hold");
    out.open_first.push_back(first);
    out.open_count.push_back(static_cast<std::uint32_t>(count));
  };
  for (const Work& work : returned_) add(work.first, work.samples.size());
  out.open_unused = static_cast<std::uint32_t>(out.open_first.size());
  for (const auto& [id, lease] : leases_) {
    if (lease.mode == Mode::train) add(lease.first, lease.samples.size());
  }
  return out;
}

}  // namespace hourglass
