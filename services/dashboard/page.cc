// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "base/check.h"
#include "services/dashboard/assets.h"
#include "services/dashboard/state_json.h"

namespace hourglass {
namespace {
constexpr std::string_view kPlace = "<!-- figures -->";

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  char text[400];  // a double may have 309 digits before the point
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string bytes(double value) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fixed(value, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

void row(std::string& out, std::initializer_list<std::string_view> cells, std::string_view tag = "td") {
  out += "<tr>";
  for (const std::string_view cell : cells) {
    out.append("<").append(tag).append(">").append(escape_html(cell)).append("</").append(tag).append(">");
  }
  out += "</tr>\n";
}

void run_table(std::string& out, const DashboardState& state) {
  out += "<h2>Run</h2><table>\n";
  row(out, {"State", name_of(state.phase)});
  if (const RunStatus* s = state.status.get()) {
    const LedgerSums ledger = ledger_sums(*s);
    row(out, {"Model", s->model});
    row(out, {"Data", s->dataset});
    row(out, {"Epoch", std::to_string(std::min(s->epoch + 1, s->epochs)) + " of " + std::to_string(s->epochs)});
    row(out, {"Samples", std::to_string(s->samples_done) + " of " + std::to_string(s->samples_total)});
    row(out, {"Seconds", fixed(s->seconds, 1)});
    row(out, {"Samples per second", fixed(s->samples_per_second, 1)});
    row(out, {"Training loss", fixed(s->samples_done > 0 ? s->loss : kUnknown, 4)});
    if (!s->history.empty()) {
      row(out, {"Test loss", fixed(s->history.back().loss, 4)});
      row(out, {"Test accuracy", fixed(100 * s->history.back().accuracy, 2) + " %"});
    }
    row(out, {"Pushes received", std::to_string(ledger.received)});
    row(out, {"Pushes applied", std::to_string(ledger.applied)});
    row(out, {"Pushes rolled back", std::to_string(ledger.rolled_back)});
    row(out, {"Ledger", ledger.balanced ? "adds up" : "does not add up"});
    row(out, {"Pushes rejected", std::to_string(ledger.rejected)});
    row(out, {"Staleness, greatest", fixed(ledger.staleness_max, 0)});
    row(out, {"Staleness, mean", fixed(ledger.staleness_mean, 2)});
    row(out, {"Staleness bound", s->staleness_bound < 0 ? "unlimited" : std::to_string(s->staleness_bound)});
  }
  out += "</table>\n";
}

void traffic_table(std::string& out, const DashboardState& state) {
  out += "<h2>Bytes by kind of message</h2><table>\n";
  row(out, {"Kind", "Per second", "Payload", "Socket"}, "th");
  for (std::uint8_t i = 0; i < kTraffics; ++i) {
    const TrafficState& t = state.traffic[i];
    row(out, {name_of(static_cast<Traffic>(i)), bytes(t.socket_bytes_per_second), bytes(t.payload_bytes), bytes(t.socket_bytes)});
  }
  out += "</table>\n";
}

void alert_list(std::string& out, const Findings& findings) {
  if (findings.alerts.empty()) return;
  out += "<h2>Alerts</h2><ul>\n";
  for (const Alert& alert : findings.alerts) out.append("<li>").append(escape_html(alert.text)).append("</li>\n");
  out += "</ul>\n";
}

void event_table(std::string& out, const Findings& findings) {
  constexpr std::size_t kRows = 30;
  out += "<h2>Events</h2><table>\n";
  row(out, {"UTC", "Level", "Event"}, "th");
  std::size_t rows = 0;
  for (auto event = findings.events.rbegin(); event != findings.events.rend() && rows < kRows; ++event, ++rows) {
    const std::time_t seconds = event->unix_ms / 1000;
    std::tm utc{};
    char text[16];
    gmtime_r(&seconds, &utc);
    std::strftime(text, sizeof text, "%H:%M:%S", &utc);
    row(out, {text, name_of(event->level), event->text});
  }
  out += "</table>\n";
}

void worker_table(std::string& out, const DashboardState& state, const Findings& findings) {
  out += "<h2>Processes</h2><table>\n";
  row(out, {"Role", "Number", "Host", "State", "Clock", "Version", "Last seen, s", "Samples/s", "Waits for", "Waits, s"}, "th");
  for (const ActorState& a : state.actors) {
    const auto wait = findings.waits.find(a.id);
    const bool waits = wait != findings.waits.end();
    row(out, {name_of(a.id.role), std::to_string(a.number), a.name, name_of(a.presence), std::to_string(a.clock), std::to_string(a.version),
              fixed(a.last_seen_seconds, 1), fixed(a.samples_per_second, 1), waits ? wait->second.text : "",
              waits ? fixed(wait->second.seconds, 0) : ""});
  }
  out += "</table>\n";
}
}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string page_html(const DashboardState& state, const Findings& findings) {
  const std::string_view frame = page_template();
  const std::size_t place = frame.find(kPlace);
  HG_CHECK(place != std::string_view::npos, "the page has a place for the figures");
  std::string out(frame.substr(0, place));
  alert_list(out, findings);
  run_table(out, state);
  worker_table(out, state, findings);
  traffic_table(out, state);
  event_table(out, findings);
  out += frame.substr(place + kPlace.size());
  return out;
}

}  // namespace hourglass
