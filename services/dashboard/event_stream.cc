// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/event_stream.h"

#include <algorithm>
#include <cstring>

namespace hourglass::http {

bool EventStream::push(EventText event) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  waiting_.push_back(std::move(event));
  const bool full = waiting_.size() > kWaitingMax;
  if (full) waiting_.pop_front();
  wake();
  return full;
}

void EventStream::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  waiting_.clear();
  wake();
}

void EventStream::wake() {
  if (!paused_) return;
  paused_ = false;
  if (resume_) resume_();
}

std::size_t EventStream::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

EventStream::Read EventStream::read(std::span<char> out, std::size_t& count, const std::function<void()>& pause) {
  const std::lock_guard lock(mutex_);
  count = 0;
  while (count < out.size()) {
    if (!sending_) {
      if (waiting_.empty()) break;
      sending_ = std::move(waiting_.front());
      waiting_.pop_front();
      sent_ = 0;
    }
    const std::size_t part = std::min(out.size() - count, sending_->size() - sent_);
    std::memcpy(out.data() + count, sending_->data() + sent_, part);
    count += part;
    sent_ += part;
    if (sent_ == sending_->size()) sending_ = nullptr;
  }
  if (count > 0) return Read::some;
  if (closed_) return Read::end;
  paused_ = true;
  pause();
  return Read::pause;
}

void EventStream::on_ready(std::function<void()> resume) {
  const std::lock_guard lock(mutex_);
  resume_ = std::move(resume);
}

}  // namespace hourglass::http
