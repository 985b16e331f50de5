// SPDX-License-Identifier: Apache-2.0
// Where the monitor's thread hands states to the server's: keeps the newest, tells every event stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/monitor.h"
#include "services/dashboard/event_stream.h"
#include "services/dashboard/speeds.h"
#include "services/dashboard/watch.h"

namespace hourglass {

/// The sizes of a job's model. Called once for each job.
using MeasureModel = std::function<ModelSizes(const Job&)>;

/// A state, what was found in it, and the moment it came. No member is null.
struct Published {
  std::shared_ptr<const DashboardState> state;
  std::shared_ptr<const Findings> findings;
  std::int64_t unix_ms = 0;
};

/// All members may be called from any thread.
class Board final : public StateSink {
 public:
  static constexpr std::size_t kStreamsMax = 600;

  explicit Board(MeasureModel measure = {});
  void publish(std::shared_ptr<const DashboardState> state) override;

  /// Never null: before the first state there is an empty one, not registered.
  [[nodiscard]] Published newest() const;
  /// The newest state as full JSON; made once per state.
  [[nodiscard]] http::EventText full_json();
  /// See Speeds.
  [[nodiscard]] std::string speeds_json() const;
  /// A stream that begins with a snapshot. Null where there are kStreamsMax, or after close().
  [[nodiscard]] std::shared_ptr<http::EventStream> subscribe();
  /// A comment to every stream, so that proxies and timeouts see life.
  void keep_alive();
  /// Ends all streams and refuses further ones.
  void close();

  [[nodiscard]] std::size_t streams() const;
  [[nodiscard]] std::uint64_t events_dropped() const;

 private:
  void send_locked(const http::EventText& event);

  MeasureModel measure_;
  mutable std::mutex mutex_;
  Watch watch_;
  Speeds speeds_;
  std::shared_ptr<const Job> measured_;  ///< whose sizes the watch has
  Published newest_;
  http::EventText full_json_;       ///< of newest_; null until asked for
  http::EventText snapshot_event_;  ///< likewise
  std::vector<std::weak_ptr<http::EventStream>> streams_;
  std::uint64_t events_dropped_ = 0;
  bool closed_ = false;
};

}  // namespace hourglass
