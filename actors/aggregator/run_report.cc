// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/run_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace hourglass {
namespace {

using Json = nlohmann::ordered_json;

std::string run_name(std::uint64_t run) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(run));
  return text;
}

double own(const RunFacts& facts, const std::string& metric) {
  const auto found = facts.own_metrics->find(metric);
  return found == facts.own_metrics->end() ? 0.0 : found->second;
}

double everywhere(const RunFacts& facts, const std::string& metric) {
  double sum = own(facts, metric);
  for (std::uint8_t role = 0; role < kRoles; ++role) sum += facts.members->total(static_cast<Role>(role), metric);
  return sum;
}

Json history_of(const RunStatus& status) {
  Json rows = Json::array();
  for (const HistoryRow& row : status.history) {
    rows.push_back(
        {{"seconds", row.seconds}, {"samples", row.samples}, {"bytes", row.bytes}, {"loss", row.loss}, {"accuracy", row.accuracy}});
  }
  return rows;
}

Json newest(const RunStatus& status, double HistoryRow::*field) {
  return status.history.empty() ? Json(nullptr) : Json(status.history.back().*field);
}

Json ledger_of(const RunFacts& facts) {
  std::vector<std::uint64_t> verdicts(static_cast<std::size_t>(kLastVerdict) + 1);
  std::uint64_t received = 0, duplicates = 0, rolled_back = 0;
  for (const GroupServer* group : {facts.conv, facts.fc}) {
    if (group == nullptr) continue;
    const Ledger& ledger = group->ledger();
    received += ledger.received;
    duplicates += ledger.duplicates;
    rolled_back += ledger.rolled_back;
    for (std::size_t i = 0; i < verdicts.size(); ++i) verdicts[i] += ledger.by_verdict[i];
  }
  Json rejected = Json::object();
  for (std::size_t i = 1; i < verdicts.size(); ++i) rejected[std::string(name_of(static_cast<Verdict>(i)))] = verdicts[i];
  return {
      {"received", received}, {"applied", verdicts[0]}, {"rejected", rejected}, {"rolled_back", rolled_back}, {"duplicates", duplicates}};
}

/// "0", "1", "2-3", "4-7", ...
std::string range_of_bucket(std::size_t bucket) {
  if (bucket < 2) return std::to_string(bucket);
  const std::uint64_t first = std::uint64_t{1} << (bucket - 1);
  return std::to_string(first) + "-" + std::to_string(2 * first - 1);
}

Json staleness_of(const RunFacts& facts) {
  std::uint64_t most = 0, applied = 0;
  double sum = 0;
  std::vector<std::uint64_t> counts;
  for (const GroupServer* group : {facts.conv, facts.fc}) {
    if (group == nullptr) continue;
    const auto& own_counts = group->ledger().staleness_counts;
    counts.resize(std::max(counts.size(), own_counts.size()));
    for (std::size_t i = 0; i < own_counts.size(); ++i) counts[i] += own_counts[i];
    most = std::max(most, group->ledger().staleness_max);
    sum += group->ledger().staleness_sum;
    applied += group->ledger().applied();
  }
  Json bound = facts.job->staleness == kUnlimited ? Json("unlimited") : Json(facts.job->staleness);
  Json histogram = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) histogram[range_of_bucket(i)] = counts[i];
  return {{"bound", bound},
          {"max", most},
          {"mean", applied == 0 ? 0.0 : sum / static_cast<double>(applied)},
          {"histogram", std::move(histogram)}};
}

Json bytes_of(const RunFacts& facts) {
  Json out = Json::object();
  TrafficBytes total;
  for (std::uint8_t i = 0; i < kTraffics; ++i) {
    const TrafficBytes bytes = traffic_bytes(facts, static_cast<Traffic>(i));
    out[std::string(name_of(static_cast<Traffic>(i)))] = {{"payload", static_cast<std::uint64_t>(bytes.payload)},
                                                          {"socket", static_cast<std::uint64_t>(bytes.socket)}};
    total.payload += bytes.payload;
    total.socket += bytes.socket;
  }
  out["total"] = {{"payload", static_cast<std::uint64_t>(total.payload)}, {"socket", static_cast<std::uint64_t>(total.socket)}};
  return out;
}

GroupStatus status_of(const GroupServer& group, std::uint64_t version) {
  GroupStatus out;
  out.version = version;
  out.received = group.ledger().received;
  out.by_verdict = group.ledger().by_verdict;
  out.rolled_back = group.ledger().rolled_back;
  out.duplicates = group.ledger().duplicates;
  out.staleness_max = group.ledger().staleness_max;
  out.staleness_mean = group.ledger().staleness_mean();
  out.staleness_counts = group.ledger().staleness_counts;
  return out;
}

/// What came to our ports and was dropped, by kind, over all processes.
Json dropped_of(const RunFacts& facts) {
  std::map<std::string, double> sums;
  for (const std::string prefix : {"rejected.", "refused.", "malformed.", "unexpected."}) {
    for (const auto& [name, value] : facts.members->totals(prefix)) sums[name] += value;
    for (auto row = facts.own_metrics->lower_bound(prefix); row != facts.own_metrics->end() && row->first.starts_with(prefix); ++row) {
      sums[row->first] += row->second;
    }
  }
  Json out = Json::object();
  for (const auto& [name, value] : sums) out[name] = static_cast<std::uint64_t>(value);
  return out;
}

}  // namespace

RunStatus full_status(const RunFacts& facts, Instant now) {
  RunStatus out = facts.status;
  out.groups.push_back(status_of(*facts.conv, facts.conv->store().version()));
  if (facts.fc != nullptr) out.groups.push_back(status_of(*facts.fc, facts.fc_version));
  out.members = facts.members->departed();
  for (const auto& [id, row] : facts.members->rows()) {
    if (out.members.size() >= limits::kMembers) out.members.erase(out.members.begin());  // the departed make room
    const bool in_conv = id.role == Role::conv_worker || id.role == Role::tree_node;     // 0 for those under a tree node
    const GroupServer* group = in_conv ? facts.conv : (id.role == Role::fc_worker ? facts.fc : nullptr);
    MemberStatus member;
    member.id = id;
    member.number = row.member.number;
    member.name = row.member.name;
    member.endpoint = row.member.endpoint;
    member.active = row.member.active;
    member.clock = group == nullptr ? 0 : group->clocks().pushed(id);
    member.version = group == nullptr ? 0 : group->version_sent(id);
    member.last_seen_seconds = seconds(now - row.last_seen);
    member.progress_age_ms = row.progress_age_ms;
    out.members.push_back(std::move(member));
  }
  return out;
}

TrafficBytes traffic_bytes(const RunFacts& facts, Traffic traffic) {
  const std::string stem = "sent." + std::string(name_of(traffic));
  return {everywhere(facts, stem + ".payload"), everywhere(facts, stem + ".socket")};
}

double total_socket_bytes(const RunFacts& facts) {
  double sum = 0;
  for (std::uint8_t i = 0; i < kTraffics; ++i) sum += traffic_bytes(facts, static_cast<Traffic>(i)).socket;
  return sum;
}

double training_socket_bytes(const RunFacts& facts) { return total_socket_bytes(facts) - traffic_bytes(facts, Traffic::evaluation).socket; }

std::string status_json(const RunFacts& facts) {
  const RunStatus& s = facts.status;
  Json out = {{"phase", name_of(s.phase)},
              {"held", s.held},
              {"run", run_name(s.run)},
              {"generation", s.generation},
              {"seconds", s.seconds},
              {"epoch", s.epoch},
              {"epochs", s.epochs},
              {"samples_done", s.samples_done},
              {"samples_total", s.samples_total},
              {"samples_repeated", s.samples_repeated},
              {"samples_per_s", s.samples_per_second},
              {"loss", s.loss},
              {"accuracy", newest(s, &HistoryRow::accuracy)},
              {"bytes_total", static_cast<std::uint64_t>(total_socket_bytes(facts))},
              {"bytes_per_s", facts.bytes_per_second},
              {"conv_workers", facts.members->count(Role::conv_worker)},
              {"conv_workers_wanted", facts.job->conv_workers},
              {"fc_workers", facts.members->count(Role::fc_worker)},
              {"message", s.message},
              {"alarm", s.alarm},
              {"history", history_of(s)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string result_json(const RunFacts& facts, const std::string& outcome, const std::string& model_file) {
  const RunStatus& s = facts.status;
  Json cpu = Json::object();
  for (std::uint8_t i = 0; i < kRoles; ++i) {
    const Role role = static_cast<Role>(i);
    const double seconds = role == Role::aggregator ? own(facts, "cpu_seconds") : facts.members->total(role, "cpu_seconds");
    cpu[std::string(name_of(role))] = seconds;
  }
  Json versions = {{"conv", facts.conv->store().version()}};
  if (facts.fc != nullptr) versions["fc"] = facts.fc_version;
  Json out = {{"run", run_name(s.run)},
              {"generation", s.generation},
              {"status", outcome},
              {"seconds", s.seconds},
              {"epochs", s.epochs},
              {"samples", s.samples_done},
              {"samples_repeated", s.samples_repeated},
              {"samples_per_s", s.seconds > 0 ? static_cast<double>(s.samples_done) / s.seconds : 0.0},
              {"accuracy", newest(s, &HistoryRow::accuracy)},
              {"loss", newest(s, &HistoryRow::loss)},
              {"history", history_of(s)},
              {"conv_workers", facts.job->conv_workers},
              {"fc_workers", facts.job->fc_workers},
              {"versions", versions},
              {"staleness", staleness_of(facts)},
              {"ledger", ledger_of(facts)},
              {"replicas", {{"compared", facts.replicas.compared}, {"differing", facts.replicas.differing}}},
              {"bytes", bytes_of(facts)},
              {"dropped_input", dropped_of(facts)},
              {"cpu_seconds", cpu},
              {"model", model_file}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hourglass
