// SPDX-License-Identifier: Apache-2.0
#include "services/chaos/tormentor.h"

#include <algorithm>
#include <csignal>
#include <fstream>

#include "services/hosting/log.h"
#include "services/hosting/text_file.h"

namespace hourglass::chaos {
namespace {

constexpr double kSampleEvery = 1;
/// A process that was given up hears of it with its next heartbeat.
constexpr double kHearsWithin = 3;
constexpr std::uint64_t kLogBytesRead = 1U << 20;

/// The state letter of /proc/<process>/stat; 0 where it is gone.
char state_of(pid_t process) {
  const auto text = read_text("/proc/" + std::to_string(process) + "/stat");
  if (!text) return 0;
  const std::size_t bracket = text->rfind(')');
  return bracket == std::string::npos || bracket + 2 >= text->size() ? '\0' : (*text)[bracket + 2];
}

bool log_says(const std::string& path, std::uint64_t from, const std::string& words) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  std::string text(kLogBytesRead, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text.find(words) != std::string::npos;
}

/// What a process of this role logs once it is of use again.
std::string at_work_words(Role role) {
  if (role == Role::aggregator) return ": phase phase=training";
  return role == Role::monitor ? ": joined" : ": at work";
}

/// SIGTERM to the aggregator is how a run is stopped: it dies instead.
Action possible(Action drawn, Role role) { return drawn == Action::term && role == Role::aggregator ? Action::kill : drawn; }

int signal_of(Action action) {
  switch (action) {
    case Action::kill: return SIGKILL;
    case Action::stop: return SIGSTOP;
    case Action::term: return SIGTERM;
  }
  return 0;
}

bool is_over(const std::string& phase) { return phase == "finished"; }
bool has_work(const std::string& phase) { return phase == "training"; }
/// An aggregator's next life waits for its members first.
bool goes_on(const std::string& phase) { return has_work(phase) || phase == "waiting"; }

}  // namespace

std::string_view name_of(Recovery recovery) {
  switch (recovery) {
    case Recovery::awaited: return "awaited";
    case Recovery::at_work: return "at_work";
    case Recovery::kept_working: return "kept_working";
    case Recovery::run_ended: return "run_ended";
    case Recovery::struck_again: return "struck_again";
  }
  return "";
}

Tormentor::Tormentor(NemesisPlan plan) : nemesis_(std::move(plan)), next_(nemesis_.next()) {}

Tormentor::~Tormentor() { close(); }

void Tormentor::close() {
  for (Row& row : rows_) {
    if (row.stopped_until && row.process > 0) ::kill(row.process, SIGCONT);
    row.stopped_until.reset();
    if (row.expected_to_end && row.blow) blows_[*row.blow].seen = row.process > 0 && state_of(row.process) == 0;
    if (row.blow) settle(row, Recovery::run_ended, 0);
  }
}

Tormentor::Row& Tormentor::row_of(const ChildView& child) {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.name == child.name; });
  if (found != rows_.end()) return *found;
  Row row;
  row.name = child.name;
  row.role = child.role;
  rows_.push_back(std::move(row));
  return rows_.back();
}

void Tormentor::look(const std::vector<ChildView>& children, const StatusReport& status, double now) {
  if (!run_began_) run_began_ = now;
  phase_ = status.phase;
  samples_total_ = std::max(samples_total_, status.samples_total);
  if (!began_ && has_work(phase_)) began_ = now;
  const bool sample = now - sampled_ >= kSampleEvery;
  if (sample) sampled_ = now;
  for (const ChildView& child : children) {
    Row& row = row_of(child);
    notice(row, child, now);
    release(row, child, now);
    follow(row, child, now);
    if (sample && child.process > 0) memory_.sample(child.name, child.process, now);
  }
  if (began_ && next_ && now - *began_ >= next_->at) strike(children, now);
}

/// Deaths and replacements.
void Tormentor::notice(Row& row, const ChildView& child, double now) {
  if (child.process == row.process) return;
  if (row.process > 0) {
    if (row.expected_to_end && row.blow) blows_[*row.blow].seen = true;
    if (!row.expected_to_end && !child.left) losses_.push_back({now - *run_began_, row.name, row.process});
    row.stopped_until.reset();
  }
  row.expected_to_end = false;
  row.process = child.process;
  row.log_from = child.log_begin;
}

void Tormentor::release(Row& row, const ChildView& child, double now) {
  if (!row.stopped_until) return;
  Blow& blow = blows_[*row.blow];
  const char state = state_of(row.process);
  blow.seen = blow.seen || state == 'T';
  if (now < *row.stopped_until && !is_over(phase_)) return;
  row.stopped_until.reset();
  row.since = now;
  row.joins_again = false;
  row.log_from = size_of(child.log_file);
  ::kill(row.process, SIGCONT);
  log_line(Severity::info, "chaos: " + row.name + " goes on", {{"process", std::to_string(row.process)}});
}

/// Is it back?
void Tormentor::follow(Row& row, const ChildView& child, double now) {
  if (!row.blow || row.stopped_until || row.expected_to_end) return;
  if (!goes_on(phase_)) return settle(row, Recovery::run_ended, now);
  if (child.process == 0) return;
  if (blows_[*row.blow].action == Action::stop && !row.joins_again) {
    row.joins_again = log_says(child.log_file, row.log_from, "joining again");
    if (!row.joins_again && now - row.since > kHearsWithin) return settle(row, Recovery::kept_working, now);
    if (!row.joins_again) return;
  }
  if (log_says(child.log_file, row.log_from, at_work_words(row.role))) settle(row, Recovery::at_work, now);
}

void Tormentor::settle(Row& row, Recovery recovery, double now) {
  Blow& blow = blows_[*row.blow];
  blow.recovery = recovery;
  row.blow.reset();
  if (recovery != Recovery::at_work) return;
  blow.recovered_seconds = now - row.since;
  log_line(Severity::info, "chaos: " + row.name + " is back at work", {{"after", show_seconds(blow.recovered_seconds)}});
}

void Tormentor::strike(const std::vector<ChildView>& children, double now) {
  const Strike strike = *next_;
  if (is_over(phase_)) return next_.reset();
  std::vector<Role> roles;
  for (const Role role : nemesis_.roles()) {
    if (std::any_of(children.begin(), children.end(), [&](const ChildView& child) { return child.role == role; })) roles.push_back(role);
  }
  if (roles.empty()) return next_.reset();
  std::vector<const ChildView*> candidates;
  for (const ChildView& child : children) {
    const Row& row = row_of(child);
    if (child.role == roles[strike.role % roles.size()] && child.process > 0 && !row.stopped_until && !row.expected_to_end) {
      candidates.push_back(&child);
    }
  }
  if (candidates.empty()) return;  // nobody of that role lives at the moment: as soon as somebody does
  const ChildView& child = *candidates[strike.victim % candidates.size()];
  Row& row = row_of(child);
  if (row.blow) settle(row, Recovery::struck_again, now);
  Blow blow;
  blow.at = now - *run_began_;
  blow.name = child.name;
  blow.role = child.role;
  blow.action = possible(strike.action, child.role);
  blow.process = child.process;
  blow.stop_seconds = blow.action == Action::stop ? strike.stop_seconds : 0;
  blow.phase = phase_;
  row.blow = blows_.size();
  row.since = now;
  row.expected_to_end = blow.action != Action::stop;
  if (blow.action == Action::stop) row.stopped_until = now + strike.stop_seconds;
  blows_.push_back(blow);
  Fields fields = {{"process", std::to_string(child.process)}, {"phase", phase_}};
  if (blow.action == Action::stop) fields.emplace_back("seconds", show_short(strike.stop_seconds));
  log_line(Severity::info, "chaos: " + std::string(name_of(blow.action)) + " " + child.name, fields);
  ::kill(child.process, signal_of(blow.action));
  next_ = nemesis_.next();
}

}  // namespace hourglass::chaos
