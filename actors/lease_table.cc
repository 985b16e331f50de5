// SPDX-License-Identifier: Apache-2.0
#include "actors/lease_table.h"

#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"
#include "learning/data/dataset.h"

namespace hourglass {

LeaseTable::LeaseTable(LeasePlan plan) : plan_(plan), next_id_(plan.first_lease) {
  HG_CHECK(plan_.train_size > 0 && plan_.test_size > 0 && plan_.batch > 0, "an empty plan");
  total_ = plan_.samples > 0 ? plan_.samples : std::uint64_t{plan_.epochs} * plan_.train_size;
  order_ = data::epoch_order(plan_.train_size, plan_.seed, 0);
  next_evaluation_at_ = plan_.evaluate_every > 0 ? plan_.evaluate_every : plan_.train_size;
}

std::optional<LeaseTable::Work> LeaseTable::next_train() {
  if (!returned_.empty()) {
    Work work = std::move(returned_.front());
    returned_.pop_front();
    return work;
  }
  if (handed_out_ >= total_) return std::nullopt;
  const std::uint64_t position = handed_out_ % plan_.train_size;
  const auto epoch = static_cast<std::uint32_t>(handed_out_ / plan_.train_size);
  if (epoch != epoch_) {
    epoch_ = epoch;
    order_ = data::epoch_order(plan_.train_size, plan_.seed, epoch);
  }
  // A batch never spans two epochs, so that an epoch is a permutation.
  const std::uint64_t count = std::min<std::uint64_t>({plan_.batch, plan_.train_size - position, total_ - handed_out_});
  Work work;
  work.epoch = epoch;
  work.progress = static_cast<double>(handed_out_) / static_cast<double>(total_);
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(position);
  work.samples.assign(first, first + static_cast<std::ptrdiff_t>(count));
  handed_out_ += count;
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
    if (done_ >= next_evaluation_at_) {
      const std::uint64_t every = plan_.evaluate_every > 0 ? plan_.evaluate_every : plan_.train_size;
      while (next_evaluation_at_ <= done_) next_evaluation_at_ += every;
      if (done_ < total_) begin_evaluation(false);
    }
  } else if (evaluation_) {
    evaluation_->count += lease.samples.size();
    evaluation_->loss_sum += result.loss_sum;
    evaluation_->hits += result.hits;
  }
  if (!mutant(Mutant::lease_done_twice)) leases_.erase(found);
  return mode;
}

void LeaseTable::take_back(std::map<std::uint64_t, Lease>::iterator lease, bool repeated) {
  Work work{lease->second.mode, lease->second.epoch, lease->second.progress, std::move(lease->second.samples)};
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
  evaluation_.reset();
  if (final_wanted_ && !final_begun_) begin_evaluation(true);
  return result;
}

void LeaseTable::resume(std::uint64_t samples_done, std::uint64_t samples_repeated) {
  if (next_id_ != plan_.first_lease || handed_out_ != 0) return;
  handed_out_ = done_ = std::min(samples_done, total_);
  repeated_ = samples_repeated;
  const std::uint64_t every = plan_.evaluate_every > 0 ? plan_.evaluate_every : plan_.train_size;
  next_evaluation_at_ = (done_ / every + 1) * every;
}

std::size_t LeaseTable::held_by(ActorId worker) const {
  return static_cast<std::size_t>(
      std::count_if(leases_.begin(), leases_.end(), [&](const auto& row) { return row.second.worker == worker; }));
}

DataProgress LeaseTable::progress() const {
  DataProgress out;
  out.epoch = epoch_;
  out.samples_total = total_;
  out.samples_done = done_;
  out.samples_repeated = repeated_;
  out.finished = finished();
  return out;
}

}  // namespace hourglass
