// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/state_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "services/dashboard/layers.h"

namespace hourglass {
namespace {
using Json = nlohmann::ordered_json;

/// Identities of 64 bits are text: JavaScript's numbers end at 2^53.
std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

Json job_json(const Job& job) {
  return {{"conv_workers", job.conv_workers},
          {"fc_workers", job.fc_workers},
          {"tree_arity", job.tree_arity},
          {"samples", job.samples},
          {"batch", job.batch},
          {"local_steps", job.local_steps},
          {"optimizer", job.optimizer},
          {"learning_rate", job.learning_rate},
          {"schedule", job.schedule},
          {"compress", job.compress},
          {"downlink", job.downlink},
          {"boundary", job.boundary},
          {"boundary_gradients", job.boundary_gradients},
          {"server", job.server},
          {"seed", job.seed},
          {"outstanding", job.outstanding}};
}

Json run_json(const DashboardState& state) {
  Json out = {{"phase", name_of(state.phase)},
              {"generation", state.generation},
              {"eta_seconds", state.eta_seconds},
              {"status_age_seconds", state.status_age_seconds}};
  const RunStatus* status = state.status.get();
  if (status == nullptr) {
    out["model"] = state.job ? Json(state.job->model) : Json(nullptr);
    out["dataset"] = state.job ? Json(state.job->dataset) : Json(nullptr);
    return out;
  }
  out["id"] = hex(status->run);
  out["model"] = status->model;
  out["dataset"] = status->dataset;
  out["epoch"] = status->epoch;
  out["epochs"] = status->epochs;
  out["samples_done"] = status->samples_done;
  out["samples_total"] = status->samples_total;
  out["samples_repeated"] = status->samples_repeated;
  out["held"] = status->held;
  out["seconds"] = status->seconds;
  out["samples_per_second"] = status->samples_per_second;
  out["message"] = status->message;
  out["alarm"] = status->alarm;
  out["loss"] = status->samples_done > 0 ? status->loss : kUnknown;
  out["progress"] = std::clamp(status->progress, 0.0, 1.0);
  return out;
}

Json commands_json(const DashboardState& state) {
  Json out = Json::array();
  for (const CommandState& command : *state.commands) {
    out.push_back({{"sequence", command.asked.sequence},
                   {"command", name_of(command.asked.order)},
                   {"fate", name_of(command.fate)},
                   {"text", command.text}});
  }
  return out;
}

Json rejected_json(const RunStatus& status) {
  Json out = Json::object();
  for (auto v = static_cast<std::uint8_t>(Verdict::applied) + 1; v <= static_cast<int>(kLastVerdict); ++v) {
    std::uint64_t sum = 0;
    for (const GroupStatus& group : status.groups) sum += count_of(group, static_cast<Verdict>(v));
    out[std::string(name_of(static_cast<Verdict>(v)))] = sum;
  }
  return out;
}

void add_parameters(Json& out, const RunStatus& status) {
  const LedgerSums ledger = ledger_sums(status);
  out["ledger"] = {{"received", ledger.received},       {"applied", ledger.applied},       {"rejected", rejected_json(status)},
                   {"rolled_back", ledger.rolled_back}, {"duplicates", ledger.duplicates}, {"balanced", ledger.balanced}};
  out["staleness"] = {{"bound", status.staleness_bound < 0 ? Json("unlimited") : Json(status.staleness_bound)},
                      {"max", ledger.staleness_max},
                      {"mean", ledger.staleness_mean}};
  Json groups = Json::array();
  for (std::size_t i = 0; i < status.groups.size(); ++i) {
    const GroupStatus& group = status.groups[i];
    groups.push_back({{"name", name_of(static_cast<Group>(i))},
                      {"version", group.version},
                      {"received", group.received},
                      {"applied", count_of(group, Verdict::applied)},
                      {"duplicates", group.duplicates},
                      {"staleness_max", group.staleness_max},
                      {"staleness_mean", group.staleness_mean},
                      {"staleness_counts", group.staleness_counts}});
  }
  out["groups"] = std::move(groups);
}

/// Of a worker's own metrics, those that the page shows.
constexpr std::string_view kFigures[] = {
    "queue", "outbox_bytes",      "residual_norm",   "pushes",      "pushes_stale",       "pushes_repeated",
    "steps", "batches_nonfinite", "steps_nonfinite", "checkpoints", "checkpoint_failures"};

Json figures_json(const ActorState& actor) {
  Json out = Json::object();
  if (!actor.metrics) return out;
  for (const MetricValue& value : *actor.metrics) {
    if (std::ranges::find(kFigures, value.name) != std::end(kFigures)) out[value.name] = value.value;
  }
  return out;
}

Json sends_json(const ActorState& actor) {
  Json out = Json::object();
  if (!actor.sent_by_kind) return out;
  for (std::size_t i = 0; i < kTraffics; ++i) {
    if ((*actor.sent_by_kind)[i] > 0) out[std::string(name_of(static_cast<Traffic>(i)))] = std::round((*actor.sent_by_kind)[i]);
  }
  return out;
}

Json waits_json(const Findings& findings, ActorId id) {
  const auto found = findings.waits.find(id);
  if (found == findings.waits.end()) return nullptr;
  Json on = Json::array();
  for (const ActorId other : found->second.on) on.push_back(to_string(other));
  return {{"on", std::move(on)}, {"text", found->second.text}, {"seconds", found->second.seconds}};
}

Json workers_json(const DashboardState& state, const Findings& findings) {
  Json out = Json::array();
  for (const ActorState& actor : state.actors) {
    const auto restarts = findings.restarts.find(actor.id);
    out.push_back({{"id", to_string(actor.id)},
                   {"role", name_of(actor.id.role)},
                   {"number", actor.number},
                   {"host", actor.name},
                   {"endpoint", actor.endpoint},
                   {"presence", name_of(actor.presence)},
                   {"clock", actor.clock},
                   {"version", actor.version},
                   {"last_seen_seconds", actor.last_seen_seconds},
                   {"progress_age_seconds", actor.progress_age_seconds},
                   {"report_age_seconds", actor.report_age_seconds},
                   {"samples", actor.samples},
                   {"samples_per_second", actor.samples_per_second},
                   {"sent_bytes_per_second", actor.sent_bytes_per_second},
                   {"cpu_ratio", actor.cpu_ratio},
                   {"memory_bytes", actor.memory_bytes},
                   {"sends", sends_json(actor)},
                   {"figures", figures_json(actor)},
                   {"restarts", restarts == findings.restarts.end() ? 0 : restarts->second},
                   {"waits", waits_json(findings, actor.id)}});
  }
  return out;
}

Json layers_json(const DashboardState& state) {
  Json out = Json::array();
  for (const LayerState& layer : layers_of(state)) {
    out.push_back({{"name", layer.name},
                   {"workers", layer.workers},
                   {"density", layer.density},
                   {"bits", layer.bits},
                   {"residual", layer.residual},
                   {"entropy", layer.entropy}});
  }
  return out;
}

Json alerts_json(const Findings& findings) {
  Json out = Json::array();
  for (const Alert& alert : findings.alerts) {
    out.push_back({{"kind", alert.kind},
                   {"worker", to_string(alert.who)},
                   {"level", name_of(alert.level)},
                   {"text", alert.text},
                   {"since_ms", alert.since_ms}});
  }
  return out;
}

Json events_json(const Findings& findings, Detail detail) {
  Json out = Json::array();
  const std::size_t most = detail == Detail::newest ? kNewestEvents : findings.events.size();
  const std::size_t from = findings.events.size() - std::min(findings.events.size(), most);
  for (std::size_t i = from; i < findings.events.size(); ++i) {
    const Event& event = findings.events[i];
    out.push_back({{"id", event.id}, {"time_ms", event.unix_ms}, {"level", name_of(event.level)}, {"text", event.text}});
  }
  return out;
}

/// Bytes that the same messages would take as 32-bit values, where that can be told; null elsewhere. Tree nodes push what others pushed.
Json raw_bytes(const DashboardState& state, Traffic traffic, const ModelSizes& sizes) {
  const auto pushed = [&](std::size_t group, std::uint64_t values) -> Json {
    if (!state.status || group >= state.status->groups.size() || values == 0) return nullptr;
    if (state.job && state.job->tree_arity > 0) return nullptr;
    return 4.0 * static_cast<double>(values) * static_cast<double>(state.status->groups[group].received);
  };
  if (traffic == Traffic::activations || traffic == Traffic::activation_gradients) {
    if (!state.status || sizes.boundary == 0) return nullptr;
    return 4.0 * static_cast<double>(sizes.boundary) * static_cast<double>(state.status->samples_done + state.status->samples_repeated);
  }
  return traffic == Traffic::push_conv ? pushed(0, sizes.conv) : traffic == Traffic::push_fc ? pushed(1, sizes.fc) : Json(nullptr);
}

Json traffic_json(const DashboardState& state, const ModelSizes& sizes) {
  Json out = Json::array();
  for (std::size_t i = 0; i < kTraffics; ++i) {
    const TrafficState& traffic = state.traffic[i];
    out.push_back({{"kind", name_of(static_cast<Traffic>(i))},
                   {"raw_bytes", raw_bytes(state, static_cast<Traffic>(i), sizes)},
                   {"payload_bytes", traffic.payload_bytes},
                   {"socket_bytes", traffic.socket_bytes},
                   {"payload_bytes_per_second", traffic.payload_bytes_per_second},
                   {"socket_bytes_per_second", traffic.socket_bytes_per_second}});
  }
  return out;
}

void add_history(Json& out, const RunStatus* status, Detail detail) {
  Json rows = Json::array();
  const std::size_t size = status == nullptr ? 0 : status->history.size();
  const std::size_t most = detail == Detail::full ? size : detail == Detail::snapshot ? kSnapshotHistoryRows : 2;
  const std::size_t from = size - std::min(size, most);
  for (std::size_t i = from; i < size; ++i) {
    const HistoryRow& row = status->history[i];
    rows.push_back(
        {{"seconds", row.seconds}, {"samples", row.samples}, {"bytes", row.bytes}, {"loss", row.loss}, {"accuracy", row.accuracy}});
  }
  out["history_from"] = from;
  out["history"] = std::move(rows);
}

/// Six digits are plenty for a curve, and half the bytes.
double short_real(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", static_cast<double>(value));
  return std::strtod(text, nullptr);
}

Json newest_row_json(const Series& series) {
  if (series.empty()) return nullptr;
  const SeriesRow& row = series.rings()[0].rows.back();
  Json values = Json::array();
  for (const float value : row.mean) values.push_back(short_real(value));
  return {{"time", row.time}, {"values", std::move(values)}};
}

void append_number(std::string& out, float value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  out.append(text, end.ptr);
}

std::vector<const SeriesRow*> rows_of(const Series& series, std::optional<int> step) {
  std::vector<const SeriesRow*> out;
  double until = std::numeric_limits<double>::infinity();
  for (const SeriesRing& ring : series.rings()) {
    if (step && ring.step_seconds != *step) continue;
    for (auto row = ring.rows.rbegin(); row != ring.rows.rend(); ++row) {
      if (row->time < until - ring.step_seconds / 2) out.push_back(&*row);
    }
    if (!out.empty()) until = out.back()->time;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

template <class Get>
void append_columns(std::string& out, const char* name, const std::vector<const SeriesRow*>& rows, Get get) {
  out.append(",\"").append(name).append("\":[");
  for (std::size_t column = 0; column < kColumns; ++column) {
    out += column == 0 ? "[" : ",[";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i != 0) out += ',';
      append_number(out, get(*rows[i])[column]);
    }
    out += ']';
  }
  out += ']';
}
}  // namespace

std::uint64_t count_of(const GroupStatus& group, Verdict verdict) {
  const auto index = static_cast<std::size_t>(verdict);
  return index < group.by_verdict.size() ? group.by_verdict[index] : 0;
}

LedgerSums ledger_sums(const RunStatus& status) {
  LedgerSums out;
  double staleness_sum = 0;
  for (const GroupStatus& group : status.groups) {
    const std::uint64_t applied = count_of(group, Verdict::applied);
    std::uint64_t sum = 0;
    for (const std::uint64_t count : group.by_verdict) sum += count;
    out.received += group.received;
    out.applied += applied;
    out.rejected += sum - applied;
    out.rolled_back += group.rolled_back;
    out.duplicates += group.duplicates;
    out.balanced = out.balanced && sum + group.rolled_back == group.received;
    out.staleness_max = std::max(out.staleness_max, static_cast<double>(group.staleness_max));
    staleness_sum += group.staleness_mean * static_cast<double>(applied);
  }
  if (out.applied > 0) out.staleness_mean = staleness_sum / static_cast<double>(out.applied);
  return out;
}

std::string state_json(const DashboardState& state, std::int64_t unix_ms, Detail detail, const Findings& findings) {
  Json out = {{"sequence", state.sequence},
              {"time_ms", unix_ms},
              {"uptime_seconds", state.uptime_seconds},
              {"build", state.build},
              {"registered", state.registered},
              {"closed", state.closed},
              {"run", run_json(state)}};
  out["job"] = state.job ? job_json(*state.job) : Json(nullptr);
  if (state.status) add_parameters(out, *state.status);
  out["workers"] = workers_json(state, findings);
  out["bytes_per_second"] = state.bytes_per_second;
  out["traffic"] = traffic_json(state, findings.sizes);
  out["sizes"] = {{"conv", findings.sizes.conv}, {"fc", findings.sizes.fc}, {"boundary", findings.sizes.boundary}};
  out["layers"] = layers_json(state);
  out["layers_left_out"] = layers_left_out(state);
  out["alerts"] = alerts_json(findings);
  out["events"] = events_json(findings, detail);
  out["commands"] = commands_json(state);
  out["reports_of_strangers"] = state.reports_of_strangers;
  add_history(out, state.status.get(), detail);
  out["row"] = newest_row_json(*state.series);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);  // text that is not UTF-8 must not make JSON that is not JSON
}

std::optional<std::string> series_json(const DashboardState& state, std::optional<int> step) {
  const auto& steps = Series::kStepSeconds;
  if (step && std::find(steps.begin(), steps.end(), static_cast<double>(*step)) == steps.end()) return std::nullopt;
  const auto rows = rows_of(*state.series, step);
  std::string out = "{\"sequence\":" + std::to_string(state.sequence) + ",\"columns\":[";
  for (std::size_t column = 0; column < kColumns; ++column) out += (column == 0 ? "\"" : ",\"") + column_name(column) + "\"";
  out += "],\"time\":[";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, rows[i]->time);
    if (i != 0) out += ',';
    out.append(text, end.ptr);
  }
  out += ']';
  append_columns(out, "mean", rows, [](const SeriesRow& row) -> const SeriesValues& { return row.mean; });
  append_columns(out, "least", rows, [](const SeriesRow& row) -> const SeriesValues& { return row.least; });
  append_columns(out, "greatest", rows, [](const SeriesRow& row) -> const SeriesValues& { return row.greatest; });
  return out + "}";
}

std::string command_json(std::uint64_t number, Order order) { return Json{{"sequence", number}, {"command", name_of(order)}}.dump(); }

std::string error_json(unsigned status, std::string_view text) {
  const Json out = {{"error", {{"status", status}, {"text", text}}}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hourglass
