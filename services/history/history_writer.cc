// SPDX-License-Identifier: Apache-2.0
#include "services/history/history_writer.h"

#include <chrono>
#include <utility>

namespace hourglass {
namespace {
std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}
}  // namespace

HistoryWriter::HistoryWriter(std::unique_ptr<HistoryStore> store, StateSink* next, Describe describe, Complain complain)
    : store_(std::move(store)),
      next_(next),
      describe_(std::move(describe)),
      writer_(
          [this](const DashboardState& state) {
            return store_->store(state, state.job ? describe_(*state.job) : KeyedTexts(), unix_ms_now());
          },
          std::move(complain)) {}

void HistoryWriter::publish(std::shared_ptr<const DashboardState> state) {
  if (next_ != nullptr) next_->publish(state);
  writer_.tell(std::move(state));
}

}  // namespace hourglass
