// SPDX-License-Identifier: Apache-2.0
#include "services/chaos/chaos_report.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "services/supervisor/progress.h"

namespace hourglass::chaos {
namespace {

using nlohmann::json;

struct Times {
  std::vector<double> seconds;  ///< of those that came back
  std::size_t strikes = 0, kept_working = 0, others = 0;
  [[nodiscard]] double median() const { return seconds.empty() ? 0 : seconds[seconds.size() / 2]; }
};

std::map<std::pair<Role, Action>, Times> times_of(const Tormentor& tormentor) {
  std::map<std::pair<Role, Action>, Times> out;
  for (const Blow& blow : tormentor.blows()) {
    Times& times = out[{blow.role, blow.action}];
    ++times.strikes;
    if (blow.recovery == Recovery::at_work) {
      times.seconds.push_back(blow.recovered_seconds);
    } else {
      ++(blow.recovery == Recovery::kept_working ? times.kept_working : times.others);
    }
  }
  for (auto& [key, times] : out) std::sort(times.seconds.begin(), times.seconds.end());
  return out;
}

std::uint64_t count_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

Check check_strikes(const Tormentor& tormentor) {
  const auto& blows = tormentor.blows();
  const auto seen = static_cast<std::size_t>(std::count_if(blows.begin(), blows.end(), [](const Blow& blow) { return blow.seen; }));
  std::string detail = std::to_string(blows.size()) + " struck, " + std::to_string(seen) + " seen to be dead or stopped";
  if (blows.empty()) detail += "; the run was over before the first: give it more samples, or shorter pauses";
  return {"strikes", !blows.empty() && seen == blows.size(), detail};
}

Check check_losses(const Tormentor& tormentor) {
  std::string names;
  for (const Loss& loss : tormentor.losses()) names += " " + loss.name + " at " + show_seconds(loss.at) + ";";
  return {"nobody_else_died", tormentor.losses().empty(),
          names.empty() ? "only who was struck" : "by themselves:" + names + " see their logs"};
}

Check check_finished(const json& result, const Tormentor& tormentor) {
  const std::uint64_t samples = count_of(result, "samples"), wanted = tormentor.samples_total();
  const std::string status = result.value("status", "");
  return {"last_step", status == "finished" && samples == wanted && wanted > 0,
          status + ", " + std::to_string(samples) + " of " + std::to_string(wanted) + " samples, " +
              std::to_string(count_of(result, "samples_repeated")) + " of them repeated"};
}

Check check_replicas(const json& result) {
  const json replicas = result.value("replicas", json::object());
  const std::uint64_t compared = count_of(replicas, "compared"), differing = count_of(replicas, "differing");
  return {"replicas", compared > 0 && differing == 0, std::to_string(compared) + " compared, " + std::to_string(differing) + " differ"};
}

Check check_ledger(const json& result) {
  const json ledger = result.value("ledger", json::object());
  const std::uint64_t received = count_of(ledger, "received"), applied = count_of(ledger, "applied");
  const std::uint64_t rolled_back = count_of(ledger, "rolled_back");
  std::uint64_t rejected = 0;
  const json reasons = ledger.value("rejected", json::object());
  for (const auto& [reason, count] : reasons.items()) rejected += count.get<std::uint64_t>();
  return {"ledger", received > 0 && received == applied + rejected + rolled_back,
          std::to_string(received) + " received = " + std::to_string(applied) + " applied + " + std::to_string(rejected) + " rejected + " +
              std::to_string(rolled_back) + " rolled back"};
}

Check check_memory(const Tormentor& tormentor) {
  const auto rows = tormentor.memory().rows();
  std::string growing;
  double most = 0;
  std::size_t judged = 0;
  for (const MemoryRow& row : rows) {
    if (row.judged()) most = std::max(most, row.bytes_per_minute), ++judged;
    if (row.grows()) growing += " " + row.name;
  }
  if (!growing.empty()) return {"memory", false, "growing:" + growing};
  return {"memory", true,
          judged == 0 ? "no process lived long enough to tell" : "at most " + show_bytes(std::max(0.0, most)) + " a minute"};
}

json blow_row(const Blow& blow) {
  json row = {{"at", blow.at},           {"name", blow.name},   {"role", name_of(blow.role)}, {"action", name_of(blow.action)},
              {"process", blow.process}, {"phase", blow.phase}, {"seen", blow.seen},          {"recovery", name_of(blow.recovery)}};
  if (blow.action == Action::stop) row["stop_seconds"] = blow.stop_seconds;
  if (blow.recovery == Recovery::at_work) row["recovered_seconds"] = blow.recovered_seconds;
  return row;
}

}  // namespace

std::vector<Check> check_run(const std::string& result, const Tormentor& tormentor) {
  const json object = json::parse(result, nullptr, false);
  if (!object.is_object()) return {{"result", false, "there is none"}};
  return {check_strikes(tormentor), check_losses(tormentor), check_finished(object, tormentor),
          check_replicas(object),   check_ledger(object),    check_memory(tormentor)};
}

std::string compose_report(const std::string& result, const Tormentor& tormentor, const std::vector<Check>& checks) {
  json object = json::parse(result, nullptr, false);
  if (!object.is_object()) object = json::object();
  json chaos = {{"passed", std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; })},
                {"checks", json::array()},
                {"strikes", json::array()},
                {"recoveries", json::array()},
                {"memory", json::array()},
                {"died_by_themselves", json::array()}};
  for (const Check& check : checks) chaos["checks"].push_back({{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
  for (const Blow& blow : tormentor.blows()) chaos["strikes"].push_back(blow_row(blow));
  for (const auto& [key, times] : times_of(tormentor)) {
    json row = {{"role", name_of(key.first)},   {"action", name_of(key.second)},      {"strikes", times.strikes},
                {"back", times.seconds.size()}, {"kept_working", times.kept_working}, {"median_seconds", nullptr},
                {"max_seconds", nullptr}};
    if (!times.seconds.empty()) row["median_seconds"] = times.median(), row["max_seconds"] = times.seconds.back();
    chaos["recoveries"].push_back(row);
  }
  for (const MemoryRow& row : tormentor.memory().rows()) {
    chaos["memory"].push_back({{"name", row.name},
                               {"process", row.process},
                               {"seconds", row.seconds},
                               {"first_bytes", row.first_bytes},
                               {"last_bytes", row.last_bytes},
                               {"bytes_per_minute", row.bytes_per_minute}});
  }
  for (const Loss& loss : tormentor.losses()) {
    chaos["died_by_themselves"].push_back({{"at", loss.at}, {"name", loss.name}, {"process", loss.process}});
  }
  object["chaos"] = chaos;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<std::string> describe(const Tormentor& tormentor, const std::vector<Check>& checks) {
  std::vector<std::string> out;
  for (const auto& [key, times] : times_of(tormentor)) {
    std::string line =
        std::string(name_of(key.first)) + ", " + std::string(name_of(key.second)) + " " + std::to_string(times.strikes) + " times: ";
    if (!times.seconds.empty()) {
      line += std::to_string(times.seconds.size()) + " back at work, median " + show_seconds(times.median()) + ", longest " +
              show_seconds(times.seconds.back()) + "; ";
    }
    if (times.kept_working > 0) line += std::to_string(times.kept_working) + " not given up; ";
    if (times.others > 0) line += std::to_string(times.others) + " struck again, or the work was over; ";
    out.push_back(line.substr(0, line.size() - 2));
  }
  for (const MemoryRow& row : tormentor.memory().rows()) {
    out.push_back("memory of " + row.name + ": " + show_bytes(row.first_bytes) + " to " + show_bytes(row.last_bytes) + " in " +
                  show_seconds(row.seconds));
  }
  for (const Check& check : checks) out.push_back((check.passed ? "passed: " : "FAILED: ") + check.name + ": " + check.detail);
  return out;
}

}  // namespace hourglass::chaos
