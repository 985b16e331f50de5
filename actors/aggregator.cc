// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "actors/aggregator/admission.h"
#include "actors/aggregator/checkpoints.h"
#include "actors/aggregator/command_book.h"
#include "actors/aggregator/fc_state.h"
#include "actors/aggregator/final_replicas.h"
#include "actors/aggregator/liveness.h"
#include "actors/aggregator/member_table.h"
#include "actors/aggregator/run_books.h"
#include "actors/aggregator/run_report.h"
#include "actors/aggregator/stall_watch.h"
#include "actors/group_server.h"
#include "actors/job_model.h"
#include "actors/tree.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr std::uint32_t kTickTimer = 1;
constexpr std::uint32_t kSecondTimer = 2;
constexpr Duration kTick = 100ms;
constexpr Duration kRosterRepeat = 5s;
constexpr Duration kWaitingLog = 5s;
constexpr Duration kReplaceSilentAfter = 3s;  ///< a newcomer takes the place of a member silent for so long
constexpr Duration kCollectRepeat = 5s;
constexpr Duration kFarewellMax = 4s;  ///< for members to say goodbye at the end
constexpr Duration kPauseWithin = 2s;  ///< of a requested stop, for what is under way
constexpr std::string_view kModelFile = "model.safetensors";

class Aggregator final : public Handles<Aggregator, Hello, Heartbeat, Activity, PhaseReached, Goodbye, DataProgress, EvaluationResult,
                                        GradientPush, ParameterRequest, SnapshotChunk, StateRequest, StateChunk, MetricReport, RunCommand> {
 public:
  Aggregator(AggregatorOptions options, ProcessIdentity identity)
      : options_(std::move(options)), identity_(std::move(identity)), checkpoints_(options_.recovery, options_.run, options_.generation) {}

  void start(Context& context) override {
    auto model = make_job_model(options_.job);
    if (!model.ok()) return context.exit(ExitCode::config, model.error().text);
    model_ = std::move(*model);
    if (const Status begun = checkpoints_.recovery().begin(context, job(), model_->hash); !begun.ok()) {
      return context.exit(begun.error().code == Errc::bad_data ? ExitCode::config : ExitCode::io, begun.error().text);
    }
    options_.run = checkpoints_.recovery().run();
    options_.generation = checkpoints_.recovery().generation();
    for (const Group group : {Group::conv, Group::fc}) {
      if (group == Group::fc && !cut()) break;
      const bool owned_elsewhere = group == Group::fc && fc_alone();
      auto downlink =
          compress::ErrorFeedback::make(owned_elsewhere ? "dense" : job().downlink, model_->segments(group), model_->initial(group).size());
      if (!downlink.ok()) return context.exit(ExitCode::config, downlink.error().text);
      auto parts = make_group_parts(job(), group, owned_elsewhere, model_->initial(group).size());
      if (!parts.ok()) return context.exit(ExitCode::config, parts.error().text);
      // With a bound above 0 the CONV clocks bound the FC workers too: each of their steps takes a CONV worker's batch, so others apply at
      // most (2s+1)(P-1) versions meanwhile. A bound of its own would deadlock with it wherever FC workers serve unequal numbers of CONV
      // workers.
      params::StalenessBound bound;
      const bool bounded = group == Group::conv ? job().staleness != kUnlimited : job().staleness == 0 && !owned_elsewhere;
      if (bounded) bound.slack = static_cast<std::uint64_t>(job().staleness);
      (group == Group::conv ? conv_ : fc_)
          .emplace(group, params::ParameterStore(model_->initial(group), std::move(*downlink), std::move(parts->rule)), bound,
                   job().publish_every, options_.run, options_.generation, std::move(parts->policies));
    }
    if (fc_alone()) fc_state_.emplace(model_->fc.size());
    if (const Status there = checkpoints_.go_on(context, parts(), job()); !there.ok())
      return context.exit(ExitCode::bad_data, there.error().text);
    started_ = roster_sent_ = waiting_logged_ = phase_since_ = context.now();
    liveness_.emplace(context.now());
    if (over()) phase_ = Phase::finished;
    context.wake_after(kTick, kTickTimer);
    context.wake_after(1s, kSecondTimer);
  }

  void wake(Context& context, std::uint32_t timer) override {
    if (timer == kTickTimer) {
      context.wake_after(kTick, kTickTimer);
      conv_->tick(context);
      if (fc_) fc_->tick(context);
      advance(context);
    } else if (timer == kSecondTimer) {
      context.wake_after(1s, kSecondTimer);
      remove_the_dead(context);
      if (phase_ == Phase::training) message_ = held_ ? "paused by command" : stall_.look(context, *conv_, members_);
      tell_pause(context);
      if (context.now() - roster_sent_ >= kRosterRepeat) send_roster(context);
      if (phase_ == Phase::training) checkpoints_.look(context, parts(), job());
      books_.update_rates(context.now(), total_socket_bytes(facts(context)));
      report(context);
    }
  }

  /// Lets what is under way end, and saves what the run can be resumed from.
  void stop(Context& context) override {
    if (phase_ == Phase::finished) return;
    stopped_ = true;
    if (phase_ != Phase::training || !checkpoints_.recovery().enabled()) return finish(context);
    checkpoints_.abandon();
    message_ = "stopping";
    enter(context, Phase::pausing);
    advance(context);
  }

  void on(Context& context, ActorId from, Hello&& message) {
    if (MemberTable::Row* row = members_.find(from)) {
      if (row->incarnation == message.incarnation && row->attempt >= message.attempt) return welcome(context, *row);
      if (row->incarnation != message.incarnation) {
        return refuse(context, from, Refusal::duplicate,
                      "actor " + to_string(from) + " is held by a live process at " + row->member.endpoint);
      }
      remove(context, from);  // it was told that nobody knows it, and starts afresh
    }
    if (const std::string bad = protocol_mismatch(message, identity_.build); !bad.empty())
      return refuse(context, from, Refusal::protocol, bad);
    if (phase_ == Phase::finished) return refuse(context, from, Refusal::run_over, "this run has ended");
    if (!make_room(context, from, message)) return;
    const std::string endpoint = endpoint_of(message, source_address());
    auto row = members_.add(from, message, endpoint, context.now());
    if (!row.ok()) return refuse(context, from, Refusal::role_full, row.error().text);
    context.log(
        Severity::info, "member joined",
        {{"peer", to_string(from)}, {"number", std::to_string((*row)->member.number)}, {"host", message.name}, {"endpoint", endpoint}});
    if (job().tree_arity > 0) {
      const std::uint64_t known = conv_->known_clock(from);
      (*row)->first_clock = first_clock_of(std::max<std::uint64_t>((*row)->membership, known == 0 ? 0 : membership_of(known) + 1));
      if (in_conv_group(from)) arrange_tree(context);
    } else if (from.role == Role::conv_worker) {
      (*row)->first_clock = conv_->join(from);
    }
    if (from.role == Role::fc_worker && fc_) (*row)->first_clock = fc_->join(from);
    welcome(context, **row);
    if (from.role == Role::data_loader) (void)context.send(from, cursor());
    roster_changed(context);
    (void)context.send(from, phase_now());
    advance(context);
  }

  void on(Context& context, ActorId from, Heartbeat&& message) {
    MemberTable::Row* row = members_.find(from);
    if (row == nullptr) return refuse(context, from, Refusal::unknown_member, "unknown member; say hello");
    row->last_seen = context.now();
    row->progress_age_ms = message.progress_age_ms;
    (void)context.send(from, HeartbeatReply{options_.generation});
  }

  void on(Context& context, ActorId from, Activity&& message) {
    MemberTable::Row* row = members_.find(from);
    if (row == nullptr || message.generation != options_.generation || message.sequence < row->activity_sequence) return;
    row->activity_sequence = message.sequence;
    if (row->member.active == message.active) return;
    row->member.active = message.active;
    if (in_conv_group(from)) conv_->set_active(context, from, message.active);
    if (from.role == Role::fc_worker && fc_) fc_->set_active(context, from, message.active);
    roster_changed(context);
  }

  void on(Context& context, ActorId from, PhaseReached&& message) {
    if (message.generation != options_.generation || message.phase != phase_ || members_.find(from) == nullptr) return;
    reached_[from] = {message.version, message.digest};
    advance(context);
  }

  void on(Context& context, ActorId from, Goodbye&& message) {
    if (members_.find(from) == nullptr) return;
    context.log(Severity::info, "member left", {{"peer", to_string(from)}, {"reason", message.reason}});
    remove(context, from, true);
    advance(context);
  }

  void on(Context& context, ActorId from, DataProgress&& message) {
    if (from.role != Role::data_loader || members_.find(from) == nullptr || message.generation != options_.generation) return;
    if (books_.take(message)) advance(context);
  }

  void on(Context& context, ActorId from, EvaluationResult&& message) {
    if (members_.find(from) == nullptr || message.generation != options_.generation) return;
    if (!books_.take(message, phase_ >= Phase::evaluating, context.now(), training_socket_bytes(facts(context)))) return;
    context.log(Severity::info, "evaluated",
                {{"samples", std::to_string(message.samples_done)},
                 {"loss", std::to_string(message.loss_sum / static_cast<double>(message.count))},
                 {"accuracy", std::to_string(static_cast<double>(message.hits) / static_cast<double>(message.count))}});
    if (!books_.alarm().empty()) context.log(Severity::error, books_.alarm(), {});
    if (!message.final_parameters) {
      collect(context);  // the FC worker's state, so that its death costs at most what came after
      if (phase_ == Phase::training) checkpoints_.begin(context, parts(), job(), books_.newest_accuracy());
    }
    report(context);
    advance(context);
  }

  void on(Context& context, ActorId from, GradientPush&& message) {
    const MemberTable::Row* row = members_.find(from);
    if (row == nullptr) {
      context.count("refused.pushes_of_strangers", 1);
      return refuse(context, from, Refusal::unknown_member, "unknown member; say hello");
    }
    if (message.clock < row->first_clock) welcome(context, *row);  // it may not know that it was lost, and joined again by a late Hello
    GroupServer* group = message.group == Group::conv ? &*conv_ : (fc_ && !fc_alone() ? &*fc_ : nullptr);
    if (group == nullptr || (message.group == Group::conv) != in_conv_group(from)) {
      return context.count("refused.pushes_of_strangers", 1);
    }
    const Instant began = context.now();
    const std::uint64_t flow = flow_id(Flow::push, from, message.clock);
    group->on(context, from, std::move(message));
    context.span(SpanKind::apply, began, {.in = flow});
    advance(context);
  }

  void on(Context& context, ActorId from, ParameterRequest&& message) {
    if (members_.find(from) == nullptr) return refuse(context, from, Refusal::unknown_member, "unknown member; say hello");
    if (message.group == Group::conv && in_conv_group(from)) conv_->on(context, from, message);
    if (message.group == Group::fc && from.role == Role::fc_worker && fc_) fc_->on(context, from, message);
  }

  /// State of the only FC worker.
  void on(Context& context, ActorId from, SnapshotChunk&& message) {
    if (!fc_alone() || from.role != Role::fc_worker || members_.find(from) == nullptr || message.generation != options_.generation ||
        message.group != Group::fc) {
      return;
    }
    if (message.version < fc_->store().version()) return;
    const std::uint64_t refused = fc_state_->refused();
    auto values = fc_state_->take(message);
    if (fc_state_->refused() != refused) context.log(Severity::error, "the FC worker's state is not finite; the last good one is kept", {});
    if (!values) return;
    if (message.version > fc_->store().version()) checkpoints_.outdate_fc_state();
    fc_->store().replace(std::move(*values), message.version);
    fc_collected_ = true;
    save_model(context);
    advance(context);
  }

  void on(Context& context, ActorId from, StateRequest&& message) {
    const MemberTable::Row* row = members_.find(from);
    if (row == nullptr || message.generation != options_.generation) return;
    const Bytes* state = checkpoints_.state_for(*row, parts(), job());
    (void)context.send(from, state_piece(message, state == nullptr ? Bytes() : *state));
  }

  void on(Context& context, ActorId from, StateChunk&& message) {
    if (members_.find(from) == nullptr) return;
    checkpoints_.take(context, from, message);
    advance(context);
  }

  void on(Context&, ActorId from, MetricReport&& message) { members_.take(from, message); }

  void on(Context& context, ActorId from, RunCommand&& message) {
    if (from.role != Role::monitor || members_.find(from) == nullptr || message.generation != options_.generation) {
      return context.count("refused.commands", 1);
    }
    commands_.take(context, from, message, [&](Order order) { return carry_out(context, order); });
    if (std::exchange(stop_asked_, false)) stop(context);
  }

 private:
  [[nodiscard]] const Job& job() const { return options_.job; }

  /// Why it cannot be done, or nothing.
  std::string carry_out(Context& context, Order order) {
    if (order == Order::stop) {
      if (phase_ == Phase::finished || phase_ == Phase::pausing) return "the run is ending already";
      stop_asked_ = true;  // once the answer is on its way
      return "";
    }
    if (phase_ != Phase::training) return "the run is not in training";
    if (order == Order::checkpoint) {
      if (!checkpoints_.recovery().enabled()) return "this run keeps no checkpoints";
      if (!checkpoints_.under_way()) checkpoints_.begin(context, parts(), job(), std::nullopt);
      return "";
    }
    if (held_ == (order == Order::pause)) return held_ ? "the run is paused already" : "the run is not paused";
    held_ = order == Order::pause;
    send_roster(context);  // with the phase
    report(context);
    return "";
  }
  [[nodiscard]] bool cut() const { return job().fc_workers > 0; }
  [[nodiscard]] bool fc_alone() const { return job().fc_workers == 1; }
  RunParts parts() { return {*model_, *conv_, fc_ ? &*fc_ : nullptr, books_, members_}; }

  [[nodiscard]] DataProgress cursor() const {
    DataProgress out = books_.progress();
    out.generation = options_.generation;
    out.evaluated = books_.evaluated_samples();
    return out;
  }

  /// Everybody has ended what was under way, and the data loader has told so.
  bool paused(Context& context) {
    const auto all_reached = [&](Role role) {
      const auto ids = members_.ids(role);
      return std::ranges::all_of(ids, [&](ActorId id) { return reached_.contains(id); });
    };
    if (context.now() - phase_since_ >= kPauseWithin) return true;
    if (!all_reached(Role::conv_worker)) return false;
    if (!std::exchange(conv_paused_, true)) std::erase_if(reached_, [](const auto& row) { return row.first.role == Role::fc_worker; });
    const auto loaders = members_.ids(Role::data_loader);
    const bool told = std::ranges::all_of(
        loaders, [&](ActorId id) { return reached_.contains(id) && reached_.at(id).version == books_.progress().samples_done; });
    return told && all_reached(Role::fc_worker);
  }

  /// The last checkpoint has the states of those that have come to rest.
  void pause(Context& context) {
    if (!checkpoints_.under_way()) {
      if (!paused(context)) return;
      books_.training_ended(context.now());
      std::vector<ActorId> who;
      for (const Role role : {Role::conv_worker, Role::fc_worker}) {
        for (const ActorId id : members_.ids(role)) {
          if (reached_.contains(id) || (role == Role::fc_worker && fc_alone())) who.push_back(id);
        }
      }
      checkpoints_.begin_last(context, who);
    }
    if (checkpoints_.end_if_due(context, parts(), job(), phase_, identity_.build)) finish(context);
  }

  static bool in_conv_group(ActorId id) { return id.role == Role::conv_worker || id.role == Role::tree_node; }

  /// The conv group's members here are those that have no tree node above them.
  void arrange_tree(Context& context) {
    const Tree tree(job(), members_.roster(0, 0).members);
    for (const auto& [id, row] : members_.rows()) {
      if (!in_conv_group(id)) continue;
      const bool mine = tree.parent(id) == kAggregator;
      if (mine && !conv_->contains(id)) {
        conv_->join(id);
        (void)conv_->set_active(context, id, row.member.active);
      } else if (!mine && conv_->contains(id)) {
        conv_->leave(context, id, true);
      }
      conv_->expect(id, tree.workers_below(id));
    }
  }

  void refuse(Context& context, ActorId to, Refusal code, const std::string& text) {
    context.count("refused", 1);
    if (code != Refusal::unknown_member) context.log(Severity::warning, "refused", {{"peer", to_string(to)}, {"cause", text}});
    (void)context.send(to, Refuse{code, text});
  }

  void welcome(Context& context, const MemberTable::Row& row) {
    Welcome message;
    message.protocol = kProtocolMax;
    message.run = options_.run;
    message.generation = options_.generation;
    message.attempt = row.attempt;
    message.first_clock = row.first_clock;
    message.number = row.member.number;
    const Role role = row.member.id.role;
    if (const GroupServer* group = role == Role::fc_worker ? (fc_ ? &*fc_ : nullptr) : &*conv_; group != nullptr) {
      // Without a tree nobody else has settled anything: of one that is not known nothing is contained.
      auto marks = group->marks(row.member.id);
      if (!marks && (job().tree_arity == 0 || role == Role::fc_worker)) marks.emplace();
      message.has_marks = marks.has_value();
      message.contained = marks ? marks->contained : 0;
      message.rejected = marks ? marks->rejected : 0;
      message.has_state = checkpoints_.state_for(row, parts(), job()) != nullptr;
    }
    message.model_hash = model_->hash;
    message.job = job();
    (void)context.send(row.member.id, message);  // lost: Hello is repeated
  }

  /// Is there a place for one more of this role? A member that has fallen silent makes room.
  bool make_room(Context& context, ActorId from, const Hello& hello) {
    const std::size_t places = places_for(from.role, job());
    if (members_.count(from.role) < places) return true;
    const auto silent = members_.silent(from.role, context.now() - kReplaceSilentAfter);
    if (silent && places > 0) {
      context.log(Severity::warning, "a silent member makes room for a new one", {{"peer", to_string(*silent)}, {"new", to_string(from)}});
      remove(context, *silent);
      return true;
    }
    refuse(context, from, from.role == Role::aggregator ? Refusal::bad_request : Refusal::role_full,
           no_place_left(from.role, hello, job(), members_));
    return false;
  }

  void remove(Context& context, ActorId id, bool drained = false) {
    count_lost(context, id, drained);
    members_.remove(id, context.now());
    reached_.erase(id);
    checkpoints_.forget(id);
    commands_.forget(id);
    if (in_conv_group(id)) conv_->leave(context, id);
    if (job().tree_arity > 0) arrange_tree(context);
    if (id.role == Role::fc_worker && fc_) fc_->leave(context, id);
    roster_changed(context);
  }

  /// What error feedback or a tree node held when it vanished is gone; one that leaves has sent it.
  void count_lost(Context& context, ActorId id, bool drained) {
    const auto& metrics = members_.find(id)->metrics;
    const auto held = metrics.find("residual_norm");  // of its last report
    const double norm = held == metrics.end() ? 0 : held->second;
    const bool nothing = norm == 0 && (drained || id.role != Role::tree_node);  // a node may have merged what no report told yet
    if (nothing || phase_ == Phase::finished) return;
    context.count("residuals_lost", 1);
    context.count("residual_norm_lost", norm);
    context.log(Severity::warning, "a member is gone with what it held back", {{"peer", to_string(id)}, {"norm", std::to_string(norm)}});
  }

  void remove_the_dead(Context& context) {
    const auto dead = liveness_->look(context, members_, from_seconds(job().dead_after_seconds), options_.generation);
    for (const ActorId id : dead) remove(context, id);
    if (!dead.empty()) advance(context);
  }

  void tell_pause(Context& context) {
    if (phase_ != Phase::training) return;
    const std::string paused = paused_for(job(), members_);
    if (paused != paused_) context.log(Severity::warning, paused.empty() ? "training goes on" : paused, {});
    paused_ = paused;
    if (!paused.empty()) message_ = paused;
  }

  void roster_changed(Context& context) {
    ++roster_revision_;
    send_roster(context);
  }

  void send_roster(Context& context) {
    roster_sent_ = context.now();
    const Parcel parcel = pack(members_.roster(options_.generation, roster_revision_));
    const Parcel phase = pack(phase_now());
    for (const auto& [id, row] : members_.rows()) {
      (void)context.post(id, parcel);
      (void)context.post(id, phase);
      if (id.role == Role::data_loader) (void)context.send(id, cursor());  // where to begin, for one that missed it
    }
  }

  [[nodiscard]] RunPhase phase_now() const { return {options_.generation, phase_, held_}; }

  void enter(Context& context, Phase phase) {
    phase_ = phase;
    held_ = false;
    phase_since_ = context.now();
    reached_.clear();
    context.log(Severity::info, "phase", {{"phase", std::string(name_of(phase))}});
    const Parcel parcel = pack(phase_now());
    for (const auto& [id, row] : members_.rows()) (void)context.post(id, parcel);
    report(context);
  }

  /// Goes on to the next phase as soon as the present one has what it needs.
  void advance(Context& context) {
    switch (phase_) {
      case Phase::waiting:
        if (everybody_joined(context)) {
          message_.clear();
          send_roster(context);
          books_.training_began(context.now());
          checkpoints_.recovery().postpone(context.now());
          enter(context, Phase::training);
        }
        return;
      case Phase::training:
        (void)checkpoints_.end_if_due(context, parts(), job(), phase_, identity_.build);
        if (books_.progress().finished) {
          books_.training_ended(context.now());
          enter(context, Phase::flushing);
        }
        return;
      case Phase::flushing:
        if (!flushed(context)) return;
        enter(context, Phase::collecting);
        fc_collected_ = !fc_alone();
        collect(context);
        return;
      case Phase::collecting:
        if (fc_collected_) return enter(context, Phase::evaluating);
        if (members_.count(Role::fc_worker) == 0 && context.now() - phase_since_ > from_seconds(job().dead_after_seconds)) {
          context.log(Severity::error, "the FC worker was lost with its last steps; its last collected state is the final one", {});
          return enter(context, Phase::evaluating);
        }
        if (context.now() - collect_asked_ > kCollectRepeat) collect(context);
        return;
      case Phase::evaluating:
        if (books_.final_evaluated()) finish(context);
        return;
      case Phase::finished: return farewell(context);
      case Phase::pausing: return pause(context);
    }
  }

  bool everybody_joined(Context& context) {
    const bool loader = members_.count(Role::data_loader) > 0 && books_.progress().samples_total > 0;
    const std::string missing = missing_members(job(), members_, loader);
    if (missing.empty()) return true;
    message_ = "waiting for " + missing;
    // Who was there before a restart is back soon, or gone.
    const double patience =
        checkpoints_.recovery().resumed() ? std::min(job().start_timeout_seconds, job().dead_after_seconds) : job().start_timeout_seconds;
    const bool enough = loader && members_.count(Role::conv_worker) > 0 && (!cut() || members_.count(Role::fc_worker) > 0);
    if (enough && context.now() - started_ > from_seconds(patience)) {
      context.log(Severity::warning, "starting with fewer workers than asked for", {{"missing", message_}});
      return true;
    }
    if (context.now() - waiting_logged_ >= kWaitingLog) {
      waiting_logged_ = context.now();
      context.log(Severity::info, message_, {});
    }
    return false;
  }

  /// Every worker has pushed what it held, and has taken the final values.
  bool flushed(Context& context) {
    message_ = "waiting for workers to flush";
    if (members_.count(Role::conv_worker) == 0) return false;
    bool all = true;
    for (GroupServer* group : {&*conv_, fc_ && !fc_alone() ? &*fc_ : nullptr}) {
      if (group == nullptr) continue;
      if (!group->everybody_flushed()) return false;
      FinalReplicas& final = group == &*conv_ ? final_conv_ : final_fc_;
      all = final.settled(context, *group, members_.ids(group == &*conv_ ? Role::conv_worker : Role::fc_worker), reached_) && all;
    }
    // What it says now comes after any state that it sent before.
    if (fc_alone()) all = all && std::ranges::all_of(members_.ids(Role::fc_worker), [&](ActorId id) { return reached_.contains(id); });
    message_.clear();
    return all;
  }

  void collect(Context& context) {
    collect_asked_ = context.now();
    if (!fc_alone()) {
      save_model(context);
      return;
    }
    for (const ActorId id : members_.ids(Role::fc_worker))
      (void)context.send(id, ParameterRequest{options_.generation, Group::fc, false, 0});
  }

  void finish(Context& context) {
    // Before anybody is told and leaves: a later life could not go on without them.
    if (!stopped_ && save_model(context) && save_result(context).ok()) checkpoints_.recovery().ending(context);
    enter(context, Phase::finished);
    farewell(context);
  }

  /// An earlier life has saved the run: what is left to do is to tell those who do not know.
  [[nodiscard]] bool over() const { return checkpoints_.recovery().over(); }

  Status save_result(Context& context) {
    const std::string result = result_json(facts(context), stopped_ ? "stopped" : "finished", std::string(kModelFile));
    return context.storage().write("result.json", as_span(result));
  }

  /// Leaves when everybody has: their last reports complete the books.
  void farewell(Context& context) {
    const bool somebody = over() || !members_.rows().empty();
    if (left_ || (somebody && context.now() - phase_since_ < kFarewellMax)) return;
    left_ = true;
    if (over()) {
      checkpoints_.recovery().finish(context);
      return context.exit(ExitCode::ok, "finished; the run was saved before");
    }
    const bool saved = save_model(context);
    const Status written = save_result(context);
    write_status(context);
    if (!stopped_ && saved && written.ok()) checkpoints_.recovery().finish(context);
    if (!saved || !written.ok())
      return context.exit(ExitCode::io, "the run could not be saved: " + (written.ok() ? save_error_ : written.error().text));
    context.exit(ExitCode::ok, stopped_ ? "stopped; the run is saved" : "finished; the run is saved");
  }

  bool save_model(Context& context) {
    const Status status = context.storage().write(kModelFile, model_file(parts(), job()));
    if (status.ok()) return true;
    save_error_ = status.error().text;
    context.count("save_failures", 1);
    context.log(Severity::error, "the model could not be saved; training goes on", {{"cause", save_error_}});
    return false;
  }

  [[nodiscard]] std::uint64_t fc_version() const {
    if (!fc_) return 0;
    if (!fc_alone()) return fc_->store().version();
    return std::max(fc_->store().version(), static_cast<std::uint64_t>(members_.total(Role::fc_worker, "version")));
  }

  [[nodiscard]] RunFacts facts(Context& context) const {
    RunFacts facts;
    facts.job = &options_.job;
    facts.members = &members_;
    facts.own_metrics = &context.metrics();
    facts.conv = &*conv_;
    facts.fc = fc_ ? &*fc_ : nullptr;
    facts.fc_version = fc_version();
    facts.bytes_per_second = books_.bytes_per_second();
    facts.replicas.compared = final_conv_.counts().compared + final_fc_.counts().compared;
    facts.replicas.differing = final_conv_.counts().differing + final_fc_.counts().differing;
    RunStatus& s = facts.status;
    s.run = options_.run;
    s.generation = options_.generation;
    s.phase = phase_;
    s.held = held_;
    s.model = job().model;
    s.dataset = job().dataset;
    s.epochs = job().epochs;
    books_.fill(s, context.now());
    s.staleness_bound = job().staleness;
    s.message = message_;
    s.alarm = checkpoints_.recovery().alarm();
    if (s.alarm.empty()) s.alarm = books_.alarm();
    return facts;
  }

  void write_status(Context& context) { (void)context.storage().write("status.json", as_span(status_json(facts(context)))); }

  void report(Context& context) {
    if (over()) return;
    write_status(context);
    const auto monitors = members_.ids(Role::monitor);
    if (monitors.empty()) return;
    const RunStatus status = full_status(facts(context), context.now());
    MetricReport own;
    own.sequence = ++reports_;
    own.uptime_seconds = seconds(context.now() - started_);
    for (const auto& [name, value] : context.metrics()) {
      if (own.values.size() < limits::kMetrics && std::isfinite(value)) own.values.push_back({name, value});
    }
    SpanRing::Taken taken = context.spans().take(started_);
    own.spans = std::move(taken.spans);
    own.spans_dropped = taken.dropped;
    const Parcel status_parcel = pack(status), own_parcel = pack(own);
    for (const ActorId id : monitors) {
      (void)context.post(id, status_parcel);
      (void)context.post(id, own_parcel);
    }
  }

  AggregatorOptions options_;
  ProcessIdentity identity_;
  std::optional<JobModel> model_;
  std::optional<GroupServer> conv_, fc_;
  MemberTable members_;
  std::uint64_t roster_revision_ = 0;
  Phase phase_ = Phase::waiting;
  Instant started_{}, phase_since_{}, roster_sent_{}, waiting_logged_{}, collect_asked_{};
  std::map<ActorId, FinalReplicas::Told> reached_;
  FinalReplicas final_conv_, final_fc_;
  RunBooks books_;
  StallWatch stall_;
  std::optional<Liveness> liveness_;          ///< from the start on
  std::optional<FcStateCollector> fc_state_;  ///< where there is one FC worker
  bool fc_collected_ = false;
  Checkpoints checkpoints_;
  bool conv_paused_ = false;
  CommandBook commands_;
  bool held_ = false;        ///< no batch is handed out
  bool stop_asked_ = false;  ///< by a command
  bool stopped_ = false;
  bool left_ = false;
  std::string message_, paused_, save_error_;
  std::uint64_t reports_ = 0;
};

}  // namespace

std::unique_ptr<Actor> make_aggregator(AggregatorOptions options, ProcessIdentity identity) {
  return std::make_unique<Aggregator>(std::move(options), std::move(identity));
}

}  // namespace hourglass
