// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/role_process.h"

#include <unistd.h>

#include <chrono>
#include <random>

#include "base/check.h"
#include "runtime/zmq/zmq_reactor.h"
#include "services/hosting/health_file.h"
#include "services/hosting/log.h"
#include "services/hosting/ports.h"
#include "services/hosting/stop_signals.h"
#include "services/hosting/text_file.h"
#include "services/version.h"

namespace hourglass {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr Duration kPatience = 200ms;
constexpr auto kFirstWord = 2s;  ///< without an answer from the aggregator
constexpr auto kWaitingRepeat = 5s;

zmq::StopFlag& stop_flag() {
  static zmq::StopFlag flag;
  return flag;
}

void on_stop(int /*number*/) { stop_flag().request(); }

void log_of_reactor(Severity severity, std::string_view event, const Fields& fields) {
  if (event == "joined") {
    for (const auto& [key, value] : fields) {
      if (key == "number") set_log_number(static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10)));
    }
  }
  log_line(severity, event, fields);
}

ActorId draw_id(Role role) {
  if (role == Role::aggregator) return kAggregator;
  std::uint32_t index = 0;
  while (index == 0) index = static_cast<std::uint32_t>(random_bits());
  return {role, index};
}

zmq::ZmqOptions options_of(Role role, ActorId id, const Settings& settings) {
  zmq::ZmqOptions options;
  options.self = id;
  const std::string listen = settings.listen.empty() ? (role == Role::aggregator ? kAggregatorListen : kWorkerListen) : settings.listen;
  options.bind = "tcp://" + listen;
  options.aggregator = role == Role::aggregator ? "" : settings.aggregator;
  options.credit_bytes = settings.job.credit_bytes;
  options.silence_max = from_seconds(settings.job.dead_after_seconds);
  // Opening a storage tidies its folder up, so it has one owner.
  if (role == Role::aggregator) options.storage_folder = settings.run_dir.empty() ? "." : settings.run_dir;
  options.log = log_of_reactor;
  options.stop = &stop_flag();
  return options;
}

ExitCode cannot_listen(const Error& error, const std::string& bind) {
  const std::uint16_t port = port_of(bind);
  const std::string owner = error.code == Errc::io && port != 0 ? port_owner(port) : "";
  log_line(Severity::error, "cannot listen",
           {{"address", bind},
            {"cause", error.text + (owner.empty() ? std::string() : "; port " + std::to_string(port) + " is held by " + owner)}});
  return error.code == Errc::io ? ExitCode::unavailable : ExitCode::config;
}

bool has_heard(const Metrics& metrics) {
  for (auto at = metrics.values().lower_bound("received."); at != metrics.values().end() && at->first.compare(0, 9, "received.") == 0;
       ++at) {
    if (at->second > 0) return true;
  }
  return false;
}

/// Says, until the first message arrives, what this process waits for.
class FirstWord {
 public:
  explicit FirstWord(std::string aggregator) : aggregator_(std::move(aggregator)), next_(Clock::now() + kFirstWord) {}
  bool heard(const Metrics& metrics) {
    if (aggregator_.empty() || heard_) return true;
    heard_ = has_heard(metrics);
    if (!heard_ && Clock::now() >= next_) {
      next_ = Clock::now() + kWaitingRepeat;
      log_line(Severity::info, "waiting for aggregator at " + aggregator_);
    }
    return heard_;
  }

 private:
  std::string aggregator_;
  Clock::time_point next_;
  bool heard_ = false;
};

}  // namespace

std::uint64_t random_bits() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

Status write_port_file(const std::string& path, std::uint16_t port) {
  return path.empty() ? Status() : write_text(path, std::to_string(port) + "\n");
}

void start_role_log(Role role, const Settings& settings) {
  const std::string name = settings.name.empty() ? own_host_name() : settings.name;
  start_log({settings.log_format, settings.log_level, std::string(name_of(role)), name});
  set_check_actor(std::string(name_of(role)) + " " + name);
}

ExitCode run_role(Role role, const Settings& settings, const ActorMaker& make_actor) {
  if (role != Role::aggregator && settings.aggregator.empty()) {
    log_line(Severity::error,
             "process.aggregator is missing: give --aggregator host:port, HOURGLASS_AGGREGATOR or [process] aggregator in a job file");
    return ExitCode::config;
  }
  stop_flag();  // made before a handler can need it
  catch_stops(on_stop);
  const ActorId id = draw_id(role);
  const zmq::ZmqOptions options = options_of(role, id, settings);
  auto reactor = zmq::ZmqReactor::create(options);
  if (!reactor.ok()) return cannot_listen(reactor.error(), options.bind);
  zmq::ZmqReactor& loop = **reactor;
  if (const Status told = write_port_file(settings.port_file, loop.bound_port()); !told.ok()) {
    log_line(Severity::error, told.error().text);
    return ExitCode::io;
  }
  log_line(Severity::info, "listening", {{"endpoint", loop.bound_endpoint()}, {"actor", to_string(id)}, {"build", build_name()}});
  ProcessIdentity identity;
  identity.build = build_name();
  identity.incarnation = random_bits();
  identity.name = settings.name.empty() ? own_host_name() : settings.name;
  identity.host = settings.host;
  identity.port = loop.bound_port();
  identity.process = static_cast<std::uint32_t>(getpid());
  loop.host(id, make_actor(std::move(identity)));
  HealthFile health(health_path(settings), std::string(name_of(role)));
  FirstWord first_word(role == Role::aggregator ? "" : settings.aggregator);
  Clock::time_point renew{};
  while (loop.step(kPatience)) {
    const bool ready = first_word.heard(loop.metrics());
    if (Clock::now() < renew) continue;
    renew = Clock::now() + std::chrono::duration_cast<Clock::duration>(from_seconds(kHealthRenewSeconds));
    health.renew(ready);
  }
  const ExitCode code = loop.exit_code();
  log_line(code == ExitCode::ok ? Severity::info : Severity::error, "ended",
           {{"reason", loop.exit_reason()}, {"exit_code", std::to_string(static_cast<int>(code))}});
  return code;
}

}  // namespace hourglass
