// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/speeds.h"

#include <charconv>
#include <cmath>

namespace hourglass {
namespace {
/// States come each second, and at once when something changes.
constexpr double kRowSecondsMin = 0.7;

void append(std::string& out, float value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 4).ptr);
}
}  // namespace

void Speeds::look(const DashboardState& state) {
  sequence_ = state.sequence;
  if (newest_ >= 0 && state.uptime_seconds - newest_ < kRowSecondsMin) return;
  newest_ = state.uptime_seconds;
  std::map<ActorId, std::deque<float>> next;
  for (const ActorState& actor : state.actors) {
    if (std::isnan(actor.samples) || next.size() >= kWorkersMax) continue;
    std::deque<float>& row = next[actor.id];
    if (const auto before = rows_.find(actor.id); before != rows_.end()) row = std::move(before->second);
    row.push_back(static_cast<float>(actor.samples_per_second));
    if (row.size() > kRowsMax) row.pop_front();
  }
  rows_ = std::move(next);
}

std::string Speeds::json() const {
  std::string out = "{\"sequence\":" + std::to_string(sequence_) + ",\"step_seconds\":1,\"workers\":{";
  bool first = true;
  for (const auto& [id, row] : rows_) {
    out.append(first ? "\"" : ",\"").append(to_string(id)).append("\":[");
    first = false;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i != 0) out += ',';
      append(out, row[i]);
    }
    out += ']';
  }
  return out + "}}";
}

}  // namespace hourglass
