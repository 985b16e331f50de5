// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "runtime/zmq/frames.h"

namespace hourglass::zmq {

/// What waits for one peer, in order: limited in bytes and in number. A single message above the byte limit goes when it is alone.
class Outbox {
 public:
  static constexpr std::size_t kMessagesMax = 65536;

  [[nodiscard]] bool admits(std::size_t body_bytes, std::size_t bytes_max) const {
    return waiting_.empty() || (waiting_.size() < kMessagesMax && bytes_ + body_bytes <= bytes_max);
  }
  void push(Outgoing message) {
    bytes_ += message.body->size();
    waiting_.push_back(std::move(message));
  }
  [[nodiscard]] const Outgoing& front() const { return waiting_.front(); }
  void pop() {
    bytes_ -= waiting_.front().body->size();
    waiting_.pop_front();
  }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void clear() {
    waiting_.clear();
    bytes_ = 0;
  }

 private:
  std::deque<Outgoing> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace hourglass::zmq
