// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/zmq_reactor.h"

#include <algorithm>
#include <random>
#include <utility>

#include "runtime/zmq/loop.h"
#include "runtime/zmq/process_gauges.h"

namespace hourglass::zmq {
namespace {

constexpr Duration kDutyInterval = std::chrono::seconds(1);
constexpr double kFilesSpare = 2;  ///< a process takes two when it connects

std::uint64_t any_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

/// For actors that were given no folder.
class NoStorage final : public Storage {
 public:
  Status write(std::string_view name, std::span<const std::byte>) override { return refuse(name); }
  Status append(std::string_view name, std::span<const std::byte>) override { return refuse(name); }
  Result<Bytes> read(std::string_view name) override { return refuse(name); }
  Result<std::vector<std::string>> list(std::string_view) override { return refuse("the list of files"); }
  Status remove(std::string_view name) override { return refuse(name); }

 private:
  static Error refuse(std::string_view name) { return {Errc::io, std::string(name) + ": this process was given no run folder"}; }
};

}  // namespace

ZmqReactor::Loop::Loop(ZmqOptions options)
    : options_(std::move(options)),
      began_(std::chrono::steady_clock::now()),
      random_(options_.seed ? *options_.seed : any_seed()),
      storage_(std::make_unique<NoStorage>()) {}

Status ZmqReactor::Loop::open() {
  if (!options_.storage_folder.empty()) {
    auto files = FileStorage::open(options_.storage_folder);
    if (!files.ok()) return files.error();
    files_ = files->get();
    storage_ = std::move(*files);
  }
  auto office = PostOffice::open(options_, metrics_, [this](std::string_view event, const std::string& peer, const std::string& cause) {
    log(Severity::warning, event, {{"peer", peer}, {"cause", cause}});
  });
  if (!office.ok()) return office.error();
  office_ = std::move(*office);
  return {};
}

void ZmqReactor::Loop::host(std::unique_ptr<Actor> actor) {
  HG_CHECK(!actor_, "one actor per process");
  actor_ = std::move(actor);
}

void ZmqReactor::Loop::log(Severity severity, std::string_view event, Fields fields) {
  if (!options_.log) return;
  if (severity == Severity::warning) {
    const auto peer = std::ranges::find(fields, "peer", &Fields::value_type::first);
    if (peer != fields.end()) {
      const LogLimiter::Verdict verdict = limiter_.ask(event, peer->second, now());
      if (!verdict.pass) return;
      if (verdict.suppressed > 0) fields.emplace_back("suppressed", std::to_string(verdict.suppressed));
    }
  }
  options_.log(severity, event, fields);
}

void ZmqReactor::Loop::exit(ExitCode code, std::string reason) {
  if (exiting_) return;
  exiting_ = true;
  exit_code_ = code;
  exit_reason_ = std::move(reason);
}

bool ZmqReactor::Loop::step(Duration patience) {
  if (ended_) return false;
  HG_CHECK(actor_ != nullptr, "no actor is hosted");
  office_->pulse().busy();
  if (!started_) {
    started_ = true;
    actor_->start(*this);
  }
  look_at_stop_flag();
  const bool woken = !exiting_ && run_timers();
  if (!exiting_) {
    office_->send_waiting(now());
    if (now() >= next_duty_) look_after();
    office_->pulse().idle();
    office_->wait(woken ? Duration::zero() : std::min(patience, until_next_duty()));
    office_->pulse().busy();
    office_->receive([this](Envelope&& envelope) {
      office_->pulse().busy();
      actor_->receive(*this, envelope);
      return !exiting_;
    });
  }
  if (exiting_) finish();
  return !ended_;
}

void ZmqReactor::Loop::look_at_stop_flag() {
  if (!options_.stop || options_.stop->requests() == 0) return;
  options_.stop->acknowledge();
  if (!stop_deadline_) {
    stop_deadline_ = now() + options_.stop_limit;
    log(Severity::info, "stop requested", {});
    actor_->stop(*this);
  }
  if (options_.stop->requests() > 1) exit(ExitCode::temporary, "stopped before it had drained: asked twice");
  if (now() >= *stop_deadline_) exit(ExitCode::temporary, "stopped before it had drained: the time limit is over");
}

bool ZmqReactor::Loop::run_timers() {
  const Instant due = now();
  bool any = false;
  for (int i = 0; i < kTimersPerTurn && !exiting_; ++i) {
    const auto timer = timers_.take_due(due);
    if (!timer) break;
    any = true;
    office_->pulse().busy();
    actor_->wake(*this, *timer);
  }
  return any;
}

Duration ZmqReactor::Loop::until_next_duty() const {
  Instant next = next_duty_;
  if (const auto timer = timers_.next()) next = std::min(next, *timer);
  if (stop_deadline_) next = std::min(next, *stop_deadline_);
  return std::max(next - now(), Duration::zero());
}

void ZmqReactor::Loop::look_after() {
  next_duty_ = now() + kDutyInterval;
  office_->look_after(now());
  set_process_gauges(metrics_, now() - Instant{});
  if (const double most = open_files_max(); metrics_.value("open_files") + kFilesSpare > most) {
    const std::string limit = std::to_string(static_cast<std::uint64_t>(most));
    log(Severity::warning, "no file descriptors left: nobody else can connect, those who are connected go on",
        {{"peer", office_->bound_endpoint()}, {"cause", limit + " open files are the limit; start it with a higher one (ulimit -n)"}});
  }
  if (!files_) return;
  if (const Status synced = files_->sync_appended(); !synced.ok()) {
    count("storage.sync_failed", 1);
    log(Severity::warning, "the run folder cannot be synced", {{"peer", options_.storage_folder}, {"cause", synced.error().text}});
  }
}

void ZmqReactor::Loop::finish() {
  const Instant deadline = now() + options_.linger;
  for (office_->send_waiting(now()); !office_->all_sent() && now() < deadline; office_->send_waiting(now())) {
    office_->wait(deadline - now(), PostOffice::For::room);
  }
  if (files_) (void)files_->sync_appended();  // the process ends; there is nobody left to tell
  office_->close();
  actor_.reset();
  ended_ = true;
}

ZmqReactor::ZmqReactor(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
ZmqReactor::~ZmqReactor() = default;

Result<std::unique_ptr<ZmqReactor>> ZmqReactor::create(ZmqOptions options) {
  auto loop = std::make_unique<Loop>(std::move(options));
  if (const Status opened = loop->open(); !opened.ok()) return opened.error();
  return std::unique_ptr<ZmqReactor>(new ZmqReactor(std::move(loop)));
}

void ZmqReactor::host(ActorId id, std::unique_ptr<Actor> actor) {
  HG_CHECK(id == loop_->self(), "the actor's id is not the one of the options");
  loop_->host(std::move(actor));
}

bool ZmqReactor::step(Duration patience) { return loop_->step(patience); }

ExitCode ZmqReactor::run() {
  while (loop_->step(std::chrono::seconds(1))) {
  }
  return loop_->exit_code();
}

std::uint16_t ZmqReactor::bound_port() const {
  const std::string& text = loop_->office().bound_endpoint();
  return static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
}
std::string ZmqReactor::bound_endpoint() const { return loop_->office().bound_endpoint(); }
ExitCode ZmqReactor::exit_code() const { return loop_->exit_code(); }
const std::string& ZmqReactor::exit_reason() const { return loop_->exit_reason(); }
const Metrics& ZmqReactor::metrics() const { return loop_->all_metrics(); }

}  // namespace hourglass::zmq
