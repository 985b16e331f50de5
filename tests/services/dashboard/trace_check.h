// SPDX-License-Identifier: Apache-2.0
// Says what is wrong with a Chrome trace; empty where nothing is. Written from the format's description, not from our writer.
#pragma once

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

namespace hourglass {

struct TraceFigures {
  std::size_t processes = 0, spans = 0, flows = 0;
};

inline std::string check_trace(const std::string& text, TraceFigures* figures = nullptr) {
  const auto trace = nlohmann::json::parse(text, nullptr, false);
  if (trace.is_discarded() || !trace.is_object() || !trace.contains("traceEvents")) return "not JSON with traceEvents";
  using Lane = std::pair<std::int64_t, std::int64_t>;
  std::map<Lane, std::multimap<double, double>> lanes;  // begin -> end
  std::map<std::string, double> begun;
  std::set<std::int64_t> named;
  TraceFigures seen;
  const auto covered = [&](const Lane& lane, double ts) {
    for (const auto& [begin, end] : lanes[lane]) {
      if (begin <= ts && ts <= end) return true;
    }
    return false;
  };
  for (const auto& event : trace["traceEvents"]) {
    const std::string phase = event.at("ph");
    const Lane lane{event.at("pid").get<std::int64_t>(), event.at("tid").get<std::int64_t>()};
    if (phase == "M") {
      if (event.at("name") == "process_name") named.insert(lane.first);
      continue;
    }
    const double ts = event.at("ts").get<double>();
    if (!std::isfinite(ts) || ts < 0) return "a time that cannot be";
    if (!named.contains(lane.first)) return "a process without a name";
    if (phase == "X") {
      const double duration = event.at("dur").get<double>();
      if (!std::isfinite(duration) || duration < 0) return "a duration that cannot be";
      if (event.at("name").get<std::string>().empty()) return "a span without a name";
      lanes[lane].emplace(ts, ts + duration);
      ++seen.spans;
    } else if (phase == "s") {
      if (!begun.emplace(event.at("id").get<std::string>(), ts).second) return "two flows of one id";
      if (!covered(lane, ts)) return "a flow that begins in no span";
    } else if (phase == "f") {
      const auto begin = begun.find(event.at("id").get<std::string>());
      if (begin == begun.end()) return "a flow that never began";
      if (begin->second > ts) return "a flow that ends before it begins";
      if (!covered(lane, ts)) return "a flow that ends in no span";
      ++seen.flows;
    } else {
      return "an event of unknown kind " + phase;
    }
  }
  for (const auto& [lane, spans] : lanes) {
    double free_at = 0;
    for (const auto& [begin, end] : spans) {
      if (begin < free_at) return "spans of one lane overlap";
      free_at = end;
    }
  }
  if (begun.size() != seen.flows) return "a flow without an end";
  seen.processes = named.size();
  if (figures != nullptr) *figures = seen;
  return "";
}

}  // namespace hourglass
