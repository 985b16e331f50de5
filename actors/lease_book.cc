// SPDX-License-Identifier: Apache-2.0
#include "actors/lease_book.h"

#include <algorithm>

#include "base/mutant.h"

namespace hourglass {

bool LeaseBook::receive(Batch&& batch) {
  const std::uint64_t lease = batch.lease;
  const auto same = [&](const Batch& other) { return other.lease == lease; };
  const bool known = under_way_.contains(lease) || std::any_of(train_.begin(), train_.end(), same) ||
                     std::any_of(evaluate_.begin(), evaluate_.end(), same) ||
                     std::any_of(computed_.begin(), computed_.end(), [&](const LeaseResult& r) { return r.lease == lease; }) ||
                     std::any_of(settling_.begin(), settling_.end(), [&](const auto& row) { return row.second.lease == lease; }) ||
                     std::any_of(done_.begin(), done_.end(), [&](const Done& d) { return d.result.lease == lease; });
  if (known) return false;
  (batch.mode == Mode::train ? train_ : evaluate_).push_back(std::move(batch));
  supply_ = Supply::more;
  return true;
}

std::optional<Batch> LeaseBook::next(bool train) {
  std::deque<Batch>* queue = !evaluate_.empty() ? &evaluate_ : (train && !train_.empty() ? &train_ : nullptr);
  if (queue == nullptr) return std::nullopt;
  Batch batch = std::move(queue->front());
  queue->pop_front();
  under_way_.insert(batch.lease);
  return batch;
}

void LeaseBook::computed(LeaseResult result) {
  under_way_.erase(result.lease);
  computed_.push_back(result);
}

void LeaseBook::pushed(std::uint64_t clock) {
  if (mutant(Mutant::done_before_settled)) return dropped();
  for (const LeaseResult& result : computed_) settling_.emplace(clock, result);
  computed_.clear();
}

void LeaseBook::dropped() {
  for (const LeaseResult& result : computed_) done_.push_back({result, 0});
  computed_.clear();
}

void LeaseBook::done(LeaseResult result) {
  under_way_.erase(result.lease);
  done_.push_back({result, 0});
}

void LeaseBook::settled(std::uint64_t clock) {
  const auto [first, last] = settling_.equal_range(clock);
  for (auto row = first; row != last; ++row) done_.push_back({row->second, 0});
  settling_.erase(first, last);
}

void LeaseBook::give_back() {
  give_back(evaluate_);
  give_back(train_);
}

void LeaseBook::give_back(std::deque<Batch>& queue) {
  for (const Batch& batch : queue) done_.push_back({{batch.lease, 0, 0, 0}, 0});
  queue.clear();
}

void LeaseBook::request(Context& context, ActorId loader, std::uint32_t capacity, bool repeat) {
  const std::size_t working = waiting() + under_way_.size();
  const bool news = std::any_of(done_.begin(), done_.end(), [](const Done& d) { return d.told == 0; });
  const bool wants = working < capacity && answered_ == sequence_ && supply_ == Supply::more;
  if (!news && !wants && !(repeat && (working < capacity || !done_.empty() || capacity != asked_capacity_))) return;
  BatchRequest message;
  message.sequence = ++sequence_;
  message.capacity = capacity;
  asked_capacity_ = capacity;
  message.settling = static_cast<std::uint32_t>(settling_.size() + computed_.size());
  for (const Batch& batch : train_) message.holding.push_back(batch.lease);
  for (const Batch& batch : evaluate_) message.holding.push_back(batch.lease);
  message.holding.insert(message.holding.end(), under_way_.begin(), under_way_.end());
  for (const LeaseResult& result : computed_) message.holding.push_back(result.lease);
  for (const auto& [clock, result] : settling_) message.holding.push_back(result.lease);
  for (Done& done : done_) {
    if (message.done.size() == limits::kResults) break;
    if (done.told == 0) done.told = sequence_;
    message.done.push_back(done.result);
  }
  (void)context.send(loader, message);  // says the whole state, so the next one makes up for a lost one
}

void LeaseBook::on(const LeaseUpdate& message) {
  if (message.answers <= answered_) return;
  answered_ = message.answers;
  supply_ = message.supply;
  while (!done_.empty() && done_.front().told != 0 && done_.front().told <= message.answers) done_.pop_front();
}

}  // namespace hourglass
