// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace hourglass {
namespace {
using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A process of the trace.
struct Row {
  ActorId id;
  std::uint32_t number = 0;
  std::string host;
  std::uint64_t dropped = 0;
  std::vector<PlacedSpan> spans;
};

/// In the order of the state; at the end those that it no longer has.
std::vector<Row> rows_of(const DashboardState& state) {
  std::vector<Row> out;
  if (state.spans == nullptr) return out;
  const auto add = [&](ActorId id, std::uint32_t number, const std::string& host, const ActorSpans& spans) {
    Row& row = out.emplace_back(Row{id, number, host, 0, place_spans(spans)});
    for (const auto& chunk : spans.chunks) row.dropped += chunk->dropped;
  };
  std::map<ActorId, bool> shown;
  for (const ActorState& actor : state.actors) {
    const auto found = state.spans->find(actor.id);
    if (found == state.spans->end()) continue;
    shown[actor.id] = true;
    add(actor.id, actor.number, actor.name, found->second);
  }
  for (const auto& [id, spans] : *state.spans) {
    if (!shown.contains(id)) add(id, 0, "", spans);
  }
  return out;
}

std::string title(const Row& row) {
  std::string out(name_of(row.id.role));
  if (row.number > 0 && row.id.role != Role::aggregator) out += " " + std::to_string(row.number);
  return row.host.empty() ? out : out + " (" + row.host + ")";
}

struct Place {
  std::size_t pid = 0;
  const PlacedSpan* span = nullptr;
};

std::string event(char phase, const Place& place, std::int64_t ts) {
  return R"({"ph":")" + std::string(1, phase) + R"(","pid":)" + std::to_string(place.pid) + R"(,"tid":)" +
         std::to_string(place.span->lane + 1) + R"(,"ts":)" + std::to_string(ts);
}

class TraceWriter {
 public:
  explicit TraceWriter(const std::vector<Row>& rows) : rows_(rows) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Row& row : rows_) {
      if (!row.spans.empty()) first = std::min(first, row.spans.front().begin_us);
    }
    first_ = first;
  }

  std::string write(const Json& about) {
    out_ = R"({"displayTimeUnit":"ms","otherData":)" + dump(about) + R"(,"traceEvents":[)";
    for (std::size_t i = 0; i < rows_.size(); ++i) names(i + 1, rows_[i]);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (const PlacedSpan& span : rows_[i].spans) {
        const Place place{i + 1, &span};
        item(event('X', place, span.begin_us - first_) + R"(,"dur":)" + std::to_string(span.end_us - span.begin_us) + R"(,"name":")" +
             std::string(name_of(span.kind)) + R"(","cat":"work"})");
        if (span.flow_out != 0) sent_.emplace(span.flow_out, place);
      }
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (const PlacedSpan& span : rows_[i].spans) flow({i + 1, &span});
    }
    return out_ + "]}";
  }

 private:
  void item(const std::string& text) {
    if (out_.back() != '[') out_ += ",\n";
    out_ += text;
  }
  void name(const char* what, std::size_t pid, std::size_t tid, const Json& args) {
    item(dump({{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", args}}));
  }
  void names(std::size_t pid, const Row& row) {
    name("process_name", pid, 0, {{"name", title(row)}});
    name("process_sort_index", pid, 0, {{"sort_index", pid}});
    std::size_t lanes = 0;
    for (const PlacedSpan& span : row.spans) lanes = std::max(lanes, span.lane + 1);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      name("thread_name", pid, lane + 1, {{"name", lane == 0 ? "main loop" : "overlapping " + std::to_string(lane)}});
    }
  }
  /// Where the clocks were read wrongly enough that the message would arrive before it was sent, there is no arrow.
  void flow(const Place& to) {
    const auto found = to.span->flow_in == 0 ? sent_.end() : sent_.find(to.span->flow_in);
    if (found == sent_.end()) return;
    const Place from = found->second;
    const std::int64_t begin = from.span->begin_us, end = std::max(begin, to.span->begin_us);
    if (end > to.span->end_us) return;
    sent_.erase(found);  // a repeat is no second arrow
    const std::string rest =
        R"(,"name":"message","cat":"flow","id":")" + std::to_string(to.span->flow_in) + '"';  // numbers end at 2^53 there
    item(event('s', from, begin - first_) + rest + "}");
    item(event('f', to, end - first_) + rest + R"(,"bp":"e"})");
  }

  const std::vector<Row>& rows_;
  std::int64_t first_ = 0;
  std::string out_;
  std::unordered_map<std::uint64_t, Place> sent_;
};

}  // namespace

std::vector<PlacedSpan> place_spans(const ActorSpans& actor) {
  const auto offset = static_cast<std::int64_t>(std::llround(actor.offset_seconds * 1e6));
  std::vector<PlacedSpan> all, out;
  for (const auto& chunk : actor.chunks) {
    for (const Span& span : chunk->spans) {
      const std::int64_t begin = static_cast<std::int64_t>(span.begin_us) + offset;
      all.push_back({span.kind, begin, begin + static_cast<std::int64_t>(span.duration_us), span.flow_in, span.flow_out, 0});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const PlacedSpan& a, const PlacedSpan& b) {
    return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.end_us < b.end_us;
  });
  std::array<std::int64_t, kLanesMax> free_at;
  free_at.fill(std::numeric_limits<std::int64_t>::min());
  for (PlacedSpan& span : all) {
    const auto lane = std::find_if(free_at.begin(), free_at.end(), [&](std::int64_t end) { return end <= span.begin_us; });
    if (lane == free_at.end()) continue;
    *lane = span.end_us;
    span.lane = static_cast<std::size_t>(lane - free_at.begin());
    out.push_back(span);
  }
  return out;
}

std::string trace_json(const DashboardState& state) {
  const std::vector<Row> rows = rows_of(state);
  std::uint64_t dropped = 0;
  for (const Row& row : rows) dropped += row.dropped;
  return TraceWriter(rows).write({{"build", state.build}, {"spans_dropped", dropped}});
}

std::string timeline_json(const DashboardState& state, int seconds) {
  const auto now = static_cast<std::int64_t>(std::llround(state.uptime_seconds * 1e6));
  const std::int64_t from = now - std::int64_t{seconds} * 1'000'000;
  Json out = {{"seconds", seconds}, {"kinds", Json::array()}, {"rows", Json::array()}};
  for (std::size_t i = 0; i < kSpanKinds; ++i) out["kinds"].push_back(name_of(static_cast<SpanKind>(i)));
  const std::vector<Row> rows = rows_of(state);
  const std::size_t share = rows.empty() ? 0 : std::max<std::size_t>(1, kTimelineSpans / rows.size());
  for (const Row& row : rows) {
    std::vector<const PlacedSpan*> shown;
    for (auto span = row.spans.rbegin(); span != row.spans.rend() && shown.size() < share; ++span) {
      if (span->end_us > from && span->begin_us < now) shown.push_back(&*span);
    }
    Json spans = Json::array();
    std::size_t lanes = 0;
    for (auto span = shown.rbegin(); span != shown.rend(); ++span) {
      lanes = std::max(lanes, (*span)->lane + 1);
      const auto ms = [](std::int64_t us) { return static_cast<double>(us) / 1000.0; };
      spans.push_back(
          {static_cast<int>((*span)->kind), (*span)->lane, ms((*span)->begin_us - now), ms((*span)->end_us - (*span)->begin_us)});
    }
    out["rows"].push_back({{"id", to_string(row.id)},
                           {"role", name_of(row.id.role)},
                           {"number", row.number},
                           {"host", row.host},
                           {"lanes", lanes},
                           {"dropped", row.dropped},
                           {"spans", std::move(spans)}});
  }
  return dump(out);
}

}  // namespace hourglass
