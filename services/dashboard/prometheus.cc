// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/prometheus.h"

#include <charconv>
#include <cmath>
#include <initializer_list>
#include <set>
#include <utility>

#include "services/dashboard/layers.h"
#include "services/dashboard/state_json.h"

namespace hourglass {
namespace {
/// More members than this get no series of their own: a scrape must stay small.
constexpr std::size_t kMembersListed = 256;

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class Exposition {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_.append("# HELP hourglass_").append(name).append(" ").append(help).append("\n");
    text_.append("# TYPE hourglass_").append(name).append(" ").append(type).append("\n");
  }
  void sample(Labels labels, double value) {
    text_.append("hourglass_").append(name_);
    char separator = '{';
    for (const auto& [key, text] : labels) {
      text_ += std::exchange(separator, ',');
      text_.append(key).append("=\"");
      append_escaped(text);
      text_ += '"';
    }
    if (separator == ',') text_ += '}';
    text_ += ' ';
    append_number(value);
    text_ += '\n';
  }
  /// A family of one sample without labels.
  void single(std::string_view name, std::string_view type, std::string_view help, double value) {
    family(name, type, help);
    sample({}, value);
  }
  std::string take() { return std::move(text_); }

 private:
  void append_escaped(std::string_view text) {
    for (const char c : text) {
      if (c == '\n')
        text_ += "\\n";
      else if (c == '"' || c == '\\')
        (text_ += '\\') += c;
      else
        text_ += c;
    }
  }
  void append_number(double value) {
    if (std::isnan(value))
      text_ += "NaN";
    else if (std::isinf(value))
      text_ += value > 0 ? "+Inf" : "-Inf";
    else {
      char text[40];
      text_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
    }
  }

  std::string text_;
  std::string_view name_;
};

double number(std::uint64_t value) { return static_cast<double>(value); }

void write_process(Exposition& out, const DashboardState& state, const ServerFigures& server) {
  out.family("build_info", "gauge", "Build of the monitor; always 1.");
  out.sample({{"version", state.build}}, 1);
  out.single("registered", "gauge", "1 where the aggregator knows this monitor.", state.registered ? 1 : 0);
  out.single("uptime_seconds", "gauge", "Since the monitor started.", state.uptime_seconds);
  out.single("http_requests_total", "counter", "Requests to the monitor.", number(server.requests));
  out.single("event_streams", "gauge", "Browsers that follow the run.", number(server.streams));
  out.single("events_dropped_total", "counter", "Events that browsers were too slow for.", number(server.events_dropped));
  out.single("reports_of_strangers_total", "counter", "Metric reports of senders that are no members.", number(state.reports_of_strangers));
}

void write_run(Exposition& out, const DashboardState& state) {
  static const RunStatus kNone;
  const RunStatus& status = state.status ? *state.status : kNone;
  const bool known = state.status != nullptr;
  out.family("run_info", "gauge", "What is being trained; always 1.");
  if (known) out.sample({{"model", status.model}, {"dataset", status.dataset}}, 1);
  out.family("run_phase", "gauge", "1 for the phase that the run is in.");
  for (int phase = 0; phase <= static_cast<int>(kLastPhase); ++phase) {
    out.sample({{"phase", name_of(static_cast<Phase>(phase))}}, state.phase == static_cast<Phase>(phase) ? 1 : 0);
  }
  out.single("run_generation", "gauge", "Generation of the aggregator; rises when it restarts.", state.generation);
  out.single("run_seconds", "gauge", "Since training began.", status.seconds);
  out.single("run_progress_ratio", "gauge", "Part of the training done, 0 to 1.", status.progress);
  out.single("status_age_seconds", "gauge", "Since the aggregator's newest status came.", state.status_age_seconds);
  out.single("samples_total", "counter", "Training samples completed.", number(status.samples_done));
  out.single("samples_repeated_total", "counter", "Training samples computed again after a worker was lost.",
             number(status.samples_repeated));
  out.family("loss", "gauge", "Mean loss per sample: train is an exponential mean, test the newest evaluation.");
  out.sample({{"split", "train"}}, status.samples_done > 0 ? status.loss : kUnknown);
  out.sample({{"split", "test"}}, status.history.empty() ? kUnknown : status.history.back().loss);
  out.single("accuracy_ratio", "gauge", "Test accuracy of the newest evaluation, 0 to 1.",
             status.history.empty() ? kUnknown : status.history.back().accuracy);
}

void write_parameters(Exposition& out, const DashboardState& state) {
  static const RunStatus kNone;
  const RunStatus& status = state.status ? *state.status : kNone;
  const auto each_group = [&](auto write) {
    static const GroupStatus kEmpty;
    for (std::uint8_t i = 0; i < kGroups; ++i) {
      write(name_of(static_cast<Group>(i)), i < status.groups.size() ? status.groups[i] : kEmpty);
    }
  };
  out.family("gradients_total", "counter", "Gradient pushes by what became of them.");
  each_group([&](std::string_view group, const GroupStatus& s) {
    for (int v = 0; v <= static_cast<int>(kLastVerdict); ++v) {
      const auto verdict = static_cast<Verdict>(v);
      out.sample({{"group", group}, {"verdict", name_of(verdict)}}, number(count_of(s, verdict)));
    }
  });
  out.family("gradients_rolled_back_total", "counter",
             "Gradient pushes that were applied after the checkpoint a restarted aggregator went on from.");
  each_group([&](std::string_view group, const GroupStatus& s) { out.sample({{"group", group}}, number(s.rolled_back)); });
  out.family("gradients_received_total", "counter", "Unique gradient pushes; the sum of all verdicts and of those rolled back.");
  each_group([&](std::string_view group, const GroupStatus& s) { out.sample({{"group", group}}, number(s.received)); });
  out.family("gradients_duplicate_total", "counter", "Repeats of pushes that had been judged before.");
  each_group([&](std::string_view group, const GroupStatus& s) { out.sample({{"group", group}}, number(s.duplicates)); });
  out.family("parameters_version", "gauge", "Newest published version.");
  each_group([&](std::string_view group, const GroupStatus& s) { out.sample({{"group", group}}, number(s.version)); });
  out.family("staleness_versions", "gauge", "Versions that applied pushes were behind.");
  each_group([&](std::string_view group, const GroupStatus& s) {
    out.sample({{"group", group}, {"statistic", "max"}}, number(s.staleness_max));
    out.sample({{"group", group}, {"statistic", "mean"}}, s.staleness_mean);
  });
  out.family("staleness_pushes_total", "counter",
             "Applied pushes that were at least so many versions behind, and less than twice as many.");
  each_group([&](std::string_view group, const GroupStatus& s) {
    for (std::size_t i = 0; i < s.staleness_counts.size(); ++i) {
      const std::string versions = std::to_string(i == 0 ? 0 : std::uint64_t{1} << (i - 1));
      out.sample({{"group", group}, {"versions", versions}}, number(s.staleness_counts[i]));
    }
  });
  const double bound = status.staleness_bound < 0 ? HUGE_VAL : static_cast<double>(status.staleness_bound);
  out.single("staleness_bound_clocks", "gauge", "Clocks that a worker may be ahead of the slowest.", bound);
}

void write_traffic(Exposition& out, const DashboardState& state) {
  out.family("sent_bytes_total", "counter", "Bytes sent by all processes, with headers and framing.");
  for (std::uint8_t i = 0; i < kTraffics; ++i) out.sample({{"kind", name_of(static_cast<Traffic>(i))}}, state.traffic[i].socket_bytes);
  out.family("sent_payload_bytes_total", "counter", "Bytes of message bodies sent by all processes.");
  for (std::uint8_t i = 0; i < kTraffics; ++i) out.sample({{"kind", name_of(static_cast<Traffic>(i))}}, state.traffic[i].payload_bytes);
}

void write_workers(Exposition& out, const DashboardState& state) {
  out.family("workers", "gauge", "Processes of the run by role and presence.");
  for (std::uint8_t role = 0; role < kRoles; ++role) {
    for (const Presence presence : {Presence::active, Presence::idle, Presence::gone}) {
      double count = 0;
      for (const ActorState& actor : state.actors) count += actor.id.role == static_cast<Role>(role) && actor.presence == presence ? 1 : 0;
      out.sample({{"role", name_of(static_cast<Role>(role))}, {"presence", name_of(presence)}}, count);
    }
  }
  std::vector<const ActorState*> listed;
  std::set<std::pair<Role, std::uint32_t>> seen;  // a label set must not come twice
  for (const ActorState& actor : state.actors) {
    if (actor.presence == Presence::gone || listed.size() >= kMembersListed || !seen.insert({actor.id.role, actor.number}).second) continue;
    listed.push_back(&actor);
  }
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    out.family(name, type, help);
    for (const ActorState* actor : listed) {
      out.sample({{"role", name_of(actor->id.role)}, {"number", std::to_string(actor->number)}}, value(*actor));
    }
  };
  each("worker_last_seen_seconds", "gauge", "Since the aggregator last heard of it.",
       [](const ActorState& a) { return a.last_seen_seconds; });
  each("worker_clock", "gauge", "Pushes that it has had judged.", [](const ActorState& a) { return number(a.clock); });
  each("worker_version", "gauge", "Newest parameters that it was sent.", [](const ActorState& a) { return number(a.version); });
  each("worker_samples_total", "counter", "Training samples that it has worked on.",
       [](const ActorState& a) { return std::isnan(a.samples) ? 0.0 : a.samples; });
  each("worker_cpu_ratio", "gauge", "Cores that it keeps busy.", [](const ActorState& a) { return a.cpu_ratio; });
  each("worker_memory_bytes", "gauge", "Resident memory.", [](const ActorState& a) { return a.memory_bytes; });
}

void write_layers(Exposition& out, const DashboardState& state) {
  const std::vector<LayerState> layers = layers_of(state);
  const auto each = [&](std::string_view name, std::string_view help, double LayerState::*figure, double unit = 1) {
    out.family(name, "gauge", help);
    for (const LayerState& layer : layers) out.sample({{"layer", layer.name}}, layer.*figure / unit);
  };
  each("layer_density_ratio", "Entries of the layer that a push carries, 0 to 1; mean over workers.", &LayerState::density);
  each("layer_push_bytes", "Bytes a parameter in a push, without headers; mean over workers.", &LayerState::bits, 8);
  each("layer_residual_norm", "Norm of what compression holds back; mean over workers.", &LayerState::residual);
  each("layer_entropy_ratio", "Normalised entropy of what is compressed, 0 to 1; mean over workers.", &LayerState::entropy);
}
}  // namespace

std::string prometheus_text(const DashboardState& state, const ServerFigures& server) {
  Exposition out;
  write_process(out, state, server);
  write_run(out, state);
  write_parameters(out, state);
  write_traffic(out, state);
  write_workers(out, state);
  write_layers(out, state);
  return out.take();
}

}  // namespace hourglass
