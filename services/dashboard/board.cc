// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/board.h"

#include <algorithm>
#include <chrono>

#include "services/dashboard/state_json.h"

namespace hourglass {
namespace {
std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string event_text(std::string_view name, std::uint64_t sequence, std::string_view data) {
  std::string out = "id: " + std::to_string(sequence) + "\nevent: ";
  out.append(name).append("\ndata: ").append(data).append("\n\n");  // JSON text has no line break, so one data line holds it
  return out;
}
}  // namespace

Board::Board(MeasureModel measure) : measure_(std::move(measure)) {
  auto empty = std::make_shared<DashboardState>();
  empty->series = std::make_shared<const Series>();
  newest_ = {std::move(empty), watch_.findings(), unix_ms_now()};
}

void Board::publish(std::shared_ptr<const DashboardState> state) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = unix_ms_now();
  if (measure_ && state->job && state->job != measured_) {
    measured_ = state->job;
    watch_.set_sizes(measure_(*measured_));
  }
  watch_.look(*state, now);
  speeds_.look(*state);
  newest_ = {std::move(state), watch_.findings(), now};
  full_json_ = snapshot_event_ = nullptr;
  if (streams_.empty()) return;
  const std::string json = state_json(*newest_.state, newest_.unix_ms, Detail::newest, *newest_.findings);
  send_locked(std::make_shared<const std::string>(event_text("state", newest_.state->sequence, json)));
}

void Board::send_locked(const http::EventText& event) {
  std::erase_if(streams_, [&](const auto& weak) {
    const auto stream = weak.lock();
    if (stream && stream->push(event)) ++events_dropped_;
    return !stream;
  });
}

Published Board::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

http::EventText Board::full_json() {
  const std::lock_guard lock(mutex_);
  if (!full_json_)
    full_json_ = std::make_shared<const std::string>(state_json(*newest_.state, newest_.unix_ms, Detail::full, *newest_.findings));
  return full_json_;
}

std::string Board::speeds_json() const {
  const std::lock_guard lock(mutex_);
  return speeds_.json();
}

std::shared_ptr<http::EventStream> Board::subscribe() {
  static const auto kRetry = std::make_shared<const std::string>("retry: 2000\n\n");
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  if (closed_ || streams_.size() >= kStreamsMax) return nullptr;
  if (!snapshot_event_) {
    const std::string json = state_json(*newest_.state, newest_.unix_ms, Detail::snapshot, *newest_.findings);
    snapshot_event_ = std::make_shared<const std::string>(event_text("snapshot", newest_.state->sequence, json));
  }
  auto stream = std::make_shared<http::EventStream>();
  stream->push(kRetry);
  stream->push(snapshot_event_);
  streams_.push_back(stream);
  return stream;
}

void Board::keep_alive() {
  static const auto kComment = std::make_shared<const std::string>(": keep-alive\n\n");
  const std::lock_guard lock(mutex_);
  send_locked(kComment);
}

void Board::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& weak : streams_) {
    if (const auto stream = weak.lock()) stream->close();
  }
}

std::size_t Board::streams() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(streams_.begin(), streams_.end(), [](const auto& stream) { return !stream.expired(); }));
}

std::uint64_t Board::events_dropped() const {
  const std::lock_guard lock(mutex_);
  return events_dropped_;
}

}  // namespace hourglass
