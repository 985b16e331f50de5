// SPDX-License-Identifier: Apache-2.0
// Stores the monitor's states from a thread of its own, so that a slow disk holds up nobody. Only the newest state waits: it has all rows.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "actors/monitor.h"
#include "services/history/history_store.h"

namespace hourglass {

class HistoryWriter final : public StateSink {
 public:
  /// What is stored of the settings of a run.
  using Describe = std::function<KeyedTexts(const Job& job)>;
  /// Called from the writer's thread, once for each failure that follows a success.
  using Complain = std::function<void(const Error& error)>;

  /// `next` gets every state first; it may be null, else it must outlive this.
  HistoryWriter(std::unique_ptr<HistoryStore> store, StateSink* next, Describe describe, Complain complain);
  /// Stores the newest state, then ends.
  ~HistoryWriter() override;
  void publish(std::shared_ptr<const DashboardState> state) override;

 private:
  void write();

  std::unique_ptr<HistoryStore> store_;
  StateSink* next_;
  Describe describe_;
  Complain complain_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const DashboardState> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace hourglass
