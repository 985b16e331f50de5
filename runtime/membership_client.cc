// SPDX-License-Identifier: Apache-2.0
#include "runtime/membership_client.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/mutant.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr std::uint32_t kHelloTimer = MembershipClient::kTimerFirst;
constexpr std::uint32_t kReportTimer = MembershipClient::kTimerFirst + 1;
constexpr Duration kHelloPauseFirst = 250ms;
constexpr Duration kHelloPauseMax = 2s;
constexpr Duration kRefusedPause = 1s;
constexpr Duration kReportEvery = 1s;
/// A member that has heard nothing for so long gives up: whoever supervises it decides what next.
constexpr Duration kGiveUpAfter = 300s;
}  // namespace

MembershipClient::MembershipClient(ProcessIdentity identity, std::set<Role> reach)
    : identity_(std::move(identity)), reach_(std::move(reach)) {
  reach_.insert(Role::monitor);
}

void MembershipClient::start(Context& context) {
  started_ = last_heard_ = context.now();
  hello_pause_ = kHelloPauseFirst;
  say_hello(context);
  context.wake_after(kReportEvery, kReportTimer);
}

void MembershipClient::say_hello(Context& context) {
  Hello hello;
  hello.build = identity_.build;
  hello.incarnation = identity_.incarnation;
  hello.attempt = attempt_;
  hello.name = identity_.name;
  hello.host = identity_.host;
  hello.port = identity_.port;
  hello.process = identity_.process;
  (void)context.send(kAggregator, hello);  // an aggregator out of reach is why this repeats
  context.wake_after(hello_pause_, kHelloTimer);
  hello_pause_ = std::min(hello_pause_ * 2, kHelloPauseMax);
}

bool MembershipClient::wake(Context& context, std::uint32_t timer) {
  if (timer == kHelloTimer) {
    if (!joined()) say_hello(context);
    return true;
  }
  if (timer == kReportTimer) {
    if (joined() && context.now() - last_heard_ > kGiveUpAfter) {
      context.exit(ExitCode::unavailable, "the aggregator has been silent for 300 s; is it still running?");
      return true;
    }
    report(context, false);
    context.wake_after(kReportEvery, kReportTimer);
    return true;
  }
  return false;
}

bool MembershipClient::on(Context& context, Welcome&& message) {
  heard(context);
  if (message.attempt != attempt_) return false;
  // The same once more, or of an earlier life or membership that comes late. A later first clock says that this process was lost meanwhile,
  // and is a new member.
  const auto age = [](const Welcome& w) { return std::pair(w.generation, w.first_clock); };
  if (joined() && welcome_->run == message.run && age(message) <= age(*welcome_)) return false;
  context.log(
      Severity::info, "joined",
      {{"number", std::to_string(message.number)}, {"generation", std::to_string(message.generation)}, {"model", message.job.model}});
  welcome_ = std::move(message);
  joined_ = true;
  roster_ = {};
  phase_ = Phase::waiting;
  return true;
}

void MembershipClient::join_again(Context& context) {
  if (joined()) {
    ++attempt_;
    context.log(Severity::warning, "the aggregator no longer knows this process; joining again", {});
  }
  joined_ = false;
  hello_pause_ = kHelloPauseFirst;
  say_hello(context);
}

void MembershipClient::on(Context& context, const Refuse& message) {
  heard(context);
  switch (message.code) {
    case Refusal::unknown_member: join_again(context); return;
    case Refusal::role_full:
      context.log(Severity::warning, "refused for now", {{"cause", message.text}});
      context.wake_after(kRefusedPause, kHelloTimer);
      return;
    case Refusal::protocol: context.exit(ExitCode::protocol, message.text); return;
    case Refusal::run_over: context.exit(ExitCode::ok, message.text); return;
    case Refusal::duplicate:
      if (joined()) return context.count("refusals_of_others", 1);  // meant for a second process with our id: we hold it
      [[fallthrough]];
    case Refusal::bad_request: context.exit(ExitCode::failure, message.text); return;
  }
}

bool MembershipClient::on(Context& context, Roster&& message) {
  heard(context);
  if (!joined() || message.generation != generation() ||
      (roster_.revision != 0 && message.revision <= roster_.revision && !mutant(Mutant::old_roster_taken)))
    return false;
  roster_ = std::move(message);
  std::set<ActorId> present;
  for (const Member& member : roster_.members) {
    if (!reach_.contains(member.id.role) || member.endpoint.empty() || member.id == context.self()) continue;
    present.insert(member.id);
    context.introduce(member.id, member.endpoint);
  }
  for (const ActorId gone : introduced_) {
    if (!present.contains(gone)) context.forget(gone);
  }
  introduced_ = std::move(present);
  return true;
}

bool MembershipClient::on(Context& context, const RunPhase& message) {
  heard(context);
  if (!joined() || message.generation != generation()) return false;
  if (message.phase == phase_ && message.held != held_) {
    held_ = message.held;
    context.log(Severity::info, held_ ? "paused" : "goes on", {});
    return true;
  }
  if (order_of(message.phase) <= order_of(phase_)) return false;
  phase_ = message.phase;
  held_ = message.held;
  context.log(Severity::info, "phase", {{"phase", std::string(name_of(phase_))}});
  return true;
}

void MembershipClient::on(Context& context, const HeartbeatReply& message) {
  if (message.generation == generation()) return heard(context);
  // The aggregator's next life took a late Hello for a new one, and its Welcome was lost.
  if (joined() && message.generation > generation()) join_again(context);
}

void MembershipClient::report(Context& context, bool last) {
  if (!joined()) return;
  MetricReport report;
  report.sequence = ++reports_;
  report.uptime_seconds = seconds(context.now() - started_);
  report.last = last;
  for (const auto& [name, value] : context.metrics()) {
    if (report.values.size() >= limits::kMetrics) break;
    if (std::isfinite(value) && name.size() <= limits::kNameBytes) report.values.push_back({name, value});
  }
  const Parcel without_spans = pack(report);
  SpanRing::Taken taken = context.spans().take(started_);
  report.spans = std::move(taken.spans);
  report.spans_dropped = taken.dropped;
  const auto monitors = members(Role::monitor);
  const Parcel parcel = monitors.empty() ? without_spans : pack(report);
  for (const Member& monitor : monitors) {
    if (monitor.id != context.self()) (void)context.post(monitor.id, parcel);  // lossy by design
  }
  (void)context.post(kAggregator, without_spans);  // the books of the run: history rows tell bytes as of the last second
}

void MembershipClient::leave(Context& context, ExitCode code, const std::string& reason) {
  if (left_) return;
  left_ = true;
  report(context, true);
  if (joined()) (void)context.send(kAggregator, Goodbye{reason});
  context.exit(code, reason);
}

const Member* MembershipClient::find(ActorId id) const {
  const auto found = std::find_if(roster_.members.begin(), roster_.members.end(), [&](const Member& m) { return m.id == id; });
  return found == roster_.members.end() ? nullptr : &*found;
}

std::vector<Member> MembershipClient::members(Role role) const {
  std::vector<Member> out;
  for (const Member& member : roster_.members) {
    if (member.id.role == role) out.push_back(member);
  }
  std::sort(out.begin(), out.end(), [](const Member& a, const Member& b) { return a.number < b.number; });
  return out;
}

}  // namespace hourglass
