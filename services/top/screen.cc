// SPDX-License-Identifier: Apache-2.0
#include "services/top/screen.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "services/supervisor/progress.h"

namespace hourglass::top {
namespace {

using nlohmann::json;

constexpr double kSilentSeconds = 5;  ///< heartbeats come each second

enum class Tone { plain, bold, dim, good, bad };

std::string painted(const std::string& text, Tone tone, bool colour) {
  static constexpr const char* kCodes[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[1;31m"};
  if (!colour || tone == Tone::plain) return text;
  return kCodes[static_cast<std::size_t>(tone)] + text + "\x1b[0m";
}

/// Strings come from the network: a terminal must not be told anything by them.
std::string plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text;
}

std::string text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? plain(at->get<std::string>()) : "";
}

double number_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : NAN;
}

std::string whole(double number) { return std::isnan(number) ? "-" : std::to_string(static_cast<std::int64_t>(std::llround(number))); }

std::string ago(double seconds) { return std::isnan(seconds) ? "-" : show_seconds(seconds); }

std::string rate(double bytes) { return std::isnan(bytes) ? "-" : show_bytes(bytes) + "/s"; }

std::string fitted(std::string text, std::size_t width, bool right) {
  if (text.size() > width) text.resize(width);
  return right ? std::string(width - text.size(), ' ') + text : text + std::string(width - text.size(), ' ');
}

const json& part(const json& object, const char* key) {
  static const json kNone = json::object();
  const auto at = object.find(key);
  return at != object.end() && at->is_object() ? *at : kNone;
}

struct Column {
  const char* name;
  std::size_t width;
  bool right;
};
constexpr Column kColumns[] = {{"process", 16, false}, {"host", 14, false},   {"state", 7, false},     {"clock", 8, true},
                               {"behind", 7, true},    {"heard of", 9, true}, {"samples/s", 10, true}, {"sent", 12, true},
                               {"cores", 6, true},     {"memory", 10, true}};

std::vector<std::string> cells_of(const json& worker, double clock_max) {
  const double clock = number_of(worker, "clock");
  const bool works = text_of(worker, "role") == "conv-worker";
  return {text_of(worker, "role") + " " + whole(number_of(worker, "number")),
          text_of(worker, "host"),
          text_of(worker, "presence"),
          works ? whole(clock) : "",
          works ? whole(clock_max - clock) : "",
          ago(number_of(worker, "last_seen_seconds")),
          works ? whole(number_of(worker, "samples_per_second")) : "",
          rate(number_of(worker, "sent_bytes_per_second")),
          std::isnan(number_of(worker, "cpu_ratio")) ? "-" : show_short(number_of(worker, "cpu_ratio")).substr(0, 5),
          std::isnan(number_of(worker, "memory_bytes")) ? "-" : show_bytes(number_of(worker, "memory_bytes"))};
}

class Screen {
 public:
  explicit Screen(const Look& look) : look_(look) {}
  void line(const std::string& text, Tone tone = Tone::plain) {
    lines_.push_back(painted(text.substr(0, look_.columns), tone, look_.colour));
  }
  std::vector<std::string> take() {
    if (look_.rows > 0 && lines_.size() > look_.rows) {
      const std::size_t left_out = lines_.size() - look_.rows + 1;
      lines_.resize(look_.rows - 1);
      line("and " + std::to_string(left_out) + " more lines: make the window higher, or use --once", Tone::dim);
    }
    return std::move(lines_);
  }

 private:
  Look look_;
  std::vector<std::string> lines_;
};

void write_run(Screen& out, const json& state) {
  const json& run = part(state, "run");
  const double progress = number_of(run, "progress"), epochs = number_of(run, "epochs");
  std::string head = "hourglass  " + text_of(run, "phase");
  if (!text_of(run, "model").empty()) head += "  " + text_of(run, "model") + " on " + text_of(run, "dataset");
  if (epochs > 0) head += "  epoch " + whole(std::min(number_of(run, "epoch") + 1, epochs)) + "/" + whole(epochs);
  if (!std::isnan(progress)) head += "  " + show_share(progress);
  if (text_of(run, "phase") == "training" && !std::isnan(number_of(run, "eta_seconds")))
    head += "  ETA " + ago(number_of(run, "eta_seconds"));
  out.line(head, Tone::bold);

  std::string learned = "loss " + (std::isnan(number_of(run, "loss")) ? "-" : show_short(number_of(run, "loss")));
  const auto history = state.find("history");
  if (history != state.end() && history->is_array() && !history->empty() && history->back().is_object())
    learned += "  accuracy " + show_share(number_of(history->back(), "accuracy"));
  learned += "  " + whole(number_of(run, "samples_per_second")) + " samples/s  " + ago(number_of(run, "seconds")) +
             " elapsed  generation " + whole(number_of(run, "generation"));
  out.line(learned);
  const double age = number_of(run, "status_age_seconds");
  if (age > kSilentSeconds) out.line("no word from the aggregator for " + ago(age), Tone::bad);
  if (!text_of(run, "message").empty()) out.line(text_of(run, "message"), Tone::bad);
  if (!text_of(run, "alarm").empty()) out.line(text_of(run, "alarm"), Tone::bad);
}

void write_books(Screen& out, const json& state) {
  const json& ledger = part(state, "ledger");
  if (ledger.empty()) return;
  double rejected = 0;
  for (const auto& [reason, count] : part(ledger, "rejected").items()) rejected += count.is_number() ? count.get<double>() : 0;
  const auto balanced = ledger.find("balanced");
  const bool fits = balanced != ledger.end() && balanced->is_boolean() && balanced->get<bool>();
  out.line("pushes " + whole(number_of(ledger, "received")) + " received = " + whole(number_of(ledger, "applied")) + " applied + " +
               whole(rejected) + " rejected + " + whole(number_of(ledger, "rolled_back")) + " rolled back" +
               (fits ? "" : ": THE BOOKS DO NOT BALANCE"),
           fits ? Tone::good : Tone::bad);
  const json& staleness = part(state, "staleness");
  const double bound = number_of(staleness, "bound");
  const double mean = number_of(staleness, "mean");
  out.line("staleness bound " + (bound < 0 || std::isnan(bound) ? std::string("none") : whole(bound)) + "  mean " +
           (std::isnan(mean) ? "-" : show_short(mean)) + "  max " + whole(number_of(staleness, "max")) + " versions");
}

void write_workers(Screen& out, const json& state) {
  std::string head;
  for (const Column& column : kColumns) head += fitted(column.name, column.width, column.right) + " ";
  out.line("");
  out.line(head, Tone::dim);
  const auto workers = state.find("workers");
  if (workers == state.end() || !workers->is_array()) return;
  double clock_max = NAN;
  for (const json& worker : *workers) {
    if (worker.is_object() && text_of(worker, "role") == "conv-worker") clock_max = std::fmax(clock_max, number_of(worker, "clock"));
  }
  for (const json& worker : *workers) {
    if (!worker.is_object()) continue;
    const auto cells = cells_of(worker, clock_max);
    std::string row;
    for (std::size_t i = 0; i < cells.size(); ++i) row += fitted(cells[i], kColumns[i].width, kColumns[i].right) + " ";
    const std::string presence = text_of(worker, "presence");
    const bool silent = presence == "gone" || number_of(worker, "last_seen_seconds") > kSilentSeconds;
    out.line(row, silent ? Tone::bad : presence == "idle" ? Tone::dim : Tone::plain);
  }
}

}  // namespace

std::optional<std::vector<std::string>> screen_of(const std::string& state, const Look& look) {
  const json object = json::parse(state, nullptr, false);
  if (!object.is_object() || !object.contains("run")) return std::nullopt;
  Screen out(look);
  write_run(out, object);
  write_books(out, object);
  write_workers(out, object);
  return out.take();
}

}  // namespace hourglass::top
