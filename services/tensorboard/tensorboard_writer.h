// SPDX-License-Identifier: Apache-2.0
// Writes the monitor's states to TensorBoard event files in FOLDER/<run>, from a thread of its own, so that a slow disk holds up nobody.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/monitor.h"
#include "base/result.h"
#include "services/hosting/newest_writer.h"
#include "services/tensorboard/event_file.h"
#include "services/tensorboard/scalar_feed.h"

namespace hourglass {

class TensorboardWriter final : public StateSink {
 public:
  /// `next` gets every state first; it may be null, else it must outlive this. `host`: for the files' names.
  TensorboardWriter(std::string folder, const std::string& host, StateSink* next, Complain complain);
  void publish(std::shared_ptr<const DashboardState> state) override;

 private:
  Status write_state(const DashboardState& state);
  Status begin_file(const std::string& folder, std::int64_t step, double now);

  std::string folder_, host_;
  StateSink* next_;
  // Of the writer's thread.
  std::uint64_t run_ = 0;
  std::optional<tensorboard::ScalarFeed> feed_;
  tensorboard::EventFile file_;
  std::int64_t begin_step_ = 0;  ///< of the file that is open, or is to be
  NewestWriter<DashboardState> writer_;
};

/// Makes the folder and a file in it, which it removes. Errors: io.
Status can_write_events(const std::string& folder);

}  // namespace hourglass
