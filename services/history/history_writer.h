// SPDX-License-Identifier: Apache-2.0
// Stores the monitor's states from a thread of its own, so that a slow disk holds up nobody. Only the newest state waits: it has all rows.
#pragma once

#include <functional>
#include <memory>

#include "actors/monitor.h"
#include "services/history/history_store.h"
#include "services/hosting/newest_writer.h"

namespace hourglass {

class HistoryWriter final : public StateSink {
 public:
  /// What is stored of the settings of a run.
  using Describe = std::function<KeyedTexts(const Job& job)>;

  /// `next` gets every state first; it may be null, else it must outlive this.
  HistoryWriter(std::unique_ptr<HistoryStore> store, StateSink* next, Describe describe, Complain complain);
  void publish(std::shared_ptr<const DashboardState> state) override;

 private:
  std::unique_ptr<HistoryStore> store_;
  StateSink* next_;
  Describe describe_;
  NewestWriter<DashboardState> writer_;
};

}  // namespace hourglass
