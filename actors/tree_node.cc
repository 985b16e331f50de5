// SPDX-License-Identifier: Apache-2.0
#include "actors/tree_node.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "actors/group_member.h"
#include "actors/group_server.h"
#include "actors/job_model.h"
#include "actors/kept_state.h"
#include "actors/tree.h"
#include "runtime/membership_client.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr std::uint32_t kTickTimer = 1;
constexpr std::uint32_t kGatherTimer = 2;
constexpr Duration kTick = 500ms;
constexpr Duration kGatherMax = 100ms;  ///< without a staleness bound: for children to contribute to a push
constexpr Duration kLeaveWithin = 4s;   ///< of a requested stop
constexpr std::size_t kEarlyMax = limits::kMembers;

class TreeNode final : public Handles<TreeNode, Welcome, Refuse, Roster, RunPhase, HeartbeatReply, GradientPush, ParameterRequest,
                                      PushVerdict, ParameterUpdate, SnapshotChunk> {
 public:
  explicit TreeNode(ProcessIdentity identity) : membership_(std::move(identity), {Role::tree_node}) {}

  void start(Context& context) override {
    membership_.start(context);
    context.wake_after(kTick, kTickTimer);
  }

  void wake(Context& context, std::uint32_t timer) override {
    if (membership_.wake(context, timer)) return;
    if (timer == kTickTimer) {
      context.wake_after(kTick, kTickTimer);
      if (member_) {
        member_->tick(context, server_->owes());
        server_->tick(context);
        tell_activity(context, true);
        note_residual(context);
      }
    }
    pump(context);
  }

  void stop(Context& context) override {
    leaving_ = true;
    leaving_since_ = context.now();
    if (server_) server_->close();
    pump(context);
    if (!member_) membership_.leave(context, ExitCode::ok, "asked to leave");
  }

  void on(Context& context, ActorId, Welcome&& message) {
    if (membership_.on(context, std::move(message))) begin(context);
  }
  void on(Context& context, ActorId, Refuse&& message) { membership_.on(context, message); }
  void on(Context& context, ActorId, HeartbeatReply&& message) { membership_.on(context, message); }

  void on(Context& context, ActorId, Roster&& message) {
    if (!membership_.on(context, std::move(message)) || !server_ || membership_.find(context.self()) == nullptr) return;
    const Tree tree(membership_.job(), membership_.roster().members);
    for (const ActorId id : server_->members()) {
      if (!tree.is_child(id, context.self())) server_->leave(context, id, membership_.find(id) != nullptr);
    }
    for (const Member& member : membership_.roster().members) {
      if (!tree.is_child(member.id, context.self())) continue;
      const bool fresh = !server_->contains(member.id);
      if (fresh) server_->join(member.id);
      server_->expect(member.id, tree.workers_below(member.id));
      (void)server_->set_active(context, member.id, member.active);
      const auto early = early_.find(member.id);
      if (fresh && early != early_.end()) server_->on(context, member.id, early->second);
      if (early != early_.end()) early_.erase(early);
    }
    const auto old = member_->parent();
    const bool gone = old && *old != kAggregator && membership_.find(*old) == nullptr;
    member_->follow(context, tree.parent(context.self()), gone);
    pump(context);
  }

  void on(Context& context, ActorId, RunPhase&& message) {
    if (!membership_.on(context, message)) return;
    if (membership_.phase() == Phase::finished) {
      note_residual(context);
      return membership_.leave(context, ExitCode::ok, "the run is over");
    }
    pump(context);
  }

  void on(Context& context, ActorId from, GradientPush&& message) {
    if (!server_ || message.group != Group::conv || membership_.find(from) == nullptr)
      return context.count("refused.pushes_of_strangers", 1);
    const std::uint64_t base = message.base_version;
    const std::uint32_t samples = message.samples;
    const std::uint64_t merged = server_->ledger().applied();
    const Instant began = context.now();
    const std::uint64_t flow = flow_id(Flow::push, from, message.clock);
    server_->on(context, from, std::move(message));
    context.span(SpanKind::apply, began, {.in = flow});
    if (server_->ledger().applied() > merged) {
      base_version_ = gathered_ == 0 ? base : std::min(base_version_, base);
      samples_ += samples;
      if (gathered_++ == 0) {
        gathering_since_ = context.now();
        if (unbounded()) context.wake_after(kGatherMax, kGatherTimer);
      }
      contributors_.insert(from);
      context.count("pushes_merged", 1);
    }
    pump(context);
  }

  void on(Context& context, ActorId from, ParameterRequest&& message) {
    if (!server_ || message.group != Group::conv) return;
    if (!server_->contains(from) && early_.size() < kEarlyMax) early_[from] = message;  // its roster may be newer than ours
    server_->on(context, from, message);
  }

  void on(Context& context, ActorId, PushVerdict&& message) {
    if (!member_ || !member_->on(context, message)) return;
    if (!std::exchange(at_work_, true)) context.log(Severity::info, "at work", {{"clock", std::to_string(message.clock)}});
    pump(context);
  }
  void on(Context& context, ActorId from, ParameterUpdate&& message) {
    if (member_ && member_->on(context, from, message)) pass_down(context);
  }
  void on(Context& context, ActorId from, SnapshotChunk&& message) {
    if (member_ && member_->on(context, from, std::move(message))) pass_down(context);
  }

 private:
  [[nodiscard]] bool unbounded() const { return membership_.job().staleness == kUnlimited; }

  /// Its last report is what the aggregator knows of a node that vanishes.
  void note_residual(Context& context) const {
    if (member_) context.gauge("residual_norm", member_->replica().merge().residual_norm());
  }

  void begin(Context& context) {
    const Welcome& welcome = membership_.welcome();
    auto model = make_job_model(welcome.job);
    if (!model.ok()) return membership_.leave(context, ExitCode::config, model.error().text);
    if (model->hash != welcome.model_hash) {
      return membership_.leave(context, ExitCode::protocol,
                               "this build lays out the model differently from the aggregator's: update the older one");
    }
    auto merge = params::MergeNode::make(welcome.job.compress, welcome.job.tree_keep, model->conv_segments, model->conv.size());
    if (!merge.ok()) return membership_.leave(context, ExitCode::config, merge.error().text);
    const auto lossless = compress::is_lossless(welcome.job.downlink);
    if (!lossless.ok()) return membership_.leave(context, ExitCode::config, lossless.error().text);
    params::StalenessBound bound;
    if (!unbounded()) bound.slack = static_cast<std::uint64_t>(welcome.job.staleness);
    member_.reset();
    params::Relay relay(std::move(model->conv), std::move(*merge), *lossless);
    if (server_ && server_->store().size() == relay.size()) {
      const double norm = server_->store().merge().residual_norm();
      note_inheritance(context, relay.inherit(std::move(server_->store()), marks_of(welcome)), norm);
    }
    server_.emplace(Group::conv, std::move(relay), bound, 1, welcome.run, welcome.generation);
    member_.emplace(Group::conv, server_->store(), welcome);
    if (leaving_) server_->close();
    sent_.clear();
    early_.clear();
    contributors_.clear();
    round_ = gathered_ = 0;
    samples_ = 0;
    active_ = true;
    at_work_ = false;
  }

  /// Forwards what is due, and leaves when there is nothing more to forward.
  void pump(Context& context) {
    if (!member_) return;
    round_ = std::min(round_, server_->clocks().slowest());  // the fastest of the idle may have left
    const bool flushing = membership_.phase() == Phase::flushing;
    if (leaving_ || (flushing && server_->everybody_flushed())) {
      // Once more where something came after it, or came back rejected.
      const bool more = gathered_ > 0 || (member_->unsettled() == 0 && !member_->replica().merge().empty());
      if ((!member_->flush_made() || more) && !member_->refused()) forward(context, true);
    } else if (!flushing && round_complete(context) && !member_->full() && !member_->refused()) {
      forward(context, false);
    }
    tell_activity(context, false);
    if (!leaving_) return;
    const bool settled = member_->flush_made() && member_->unsettled() == 0;
    if (!settled && context.now() - leaving_since_ < kLeaveWithin) return;
    note_residual(context);
    membership_.leave(context, settled ? ExitCode::ok : ExitCode::temporary,
                      settled ? "asked to leave" : "asked to leave; a push stayed unanswered");
  }

  [[nodiscard]] bool round_complete(Context& context) const {
    const params::ClockTable& clocks = server_->clocks();
    if (!unbounded() && clocks.slowest() > round_) return true;  // also where every push of it was rejected: the parent counts rounds
    if (gathered_ == 0) return false;
    if (clocks.active_count() == 0) return true;
    if (!unbounded()) return false;
    if (context.now() - gathering_since_ >= kGatherMax) return true;
    const std::vector<ActorId> children = server_->members();
    return std::all_of(children.begin(), children.end(), [&](ActorId id) { return !clocks.active(id) || contributors_.contains(id); });
  }

  void forward(Context& context, bool flush) {
    const std::uint64_t clock = member_->clock();
    Gathered gathered;
    gathered.workers = static_cast<std::uint32_t>(server_->workers(round_, flush));
    for (const ActorId id : server_->members()) gathered.carried.push_back({id, server_->clocks().pushed(id)});
    sent_.emplace_back(clock, gathered.carried);
    const std::uint64_t base = gathered_ == 0 ? member_->replica().version() : base_version_;
    const Instant began = context.now();
    (void)member_->push(context, base, samples_, 0, flush, true, std::move(gathered));
    context.span(SpanKind::encode, began, {.out = flow_id(Flow::push, context.self(), clock)});
    round_ = server_->clocks().slowest();
    gathered_ = 0;
    samples_ = 0;
    contributors_.clear();
  }

  /// The parent has answered: so are the children.
  void pass_down(Context& context) {
    for (; !sent_.empty() && sent_.front().first < member_->applied_clock(); sent_.pop_front()) {
      for (const Carried& child : sent_.front().second) server_->contained(child.id, child.clock);
    }
    pump(context);
    if (member_->flushed()) server_->publish_final(context);
    if ((!active_ && !unbounded()) || !member_->ready()) return;
    if (member_->admitted() == ParameterUpdate::kNoBound) return server_->admit(context, std::nullopt);
    // Our unit `clock` is the children's round `round_`.
    const std::uint64_t admitted = round_ + member_->admitted();
    if (admitted >= member_->clock()) server_->admit(context, admitted - member_->clock());
  }

  /// An idle node holds nobody back. It says so when its last push is settled, and what its children did with it.
  void tell_activity(Context& context, bool repeat) {
    if (membership_.phase() == Phase::waiting) return;
    const bool active = server_->clocks().active_count() > 0 || gathered_ > 0 || member_->unsettled() > 0;
    const bool changed = active != active_;
    active_ = active;
    if (changed) {
      ++activity_sequence_;
      if (!unbounded()) server_->hold();  // the clocks will have moved when it wakes
      if (!unbounded() && active && member_->parent()) member_->await_update(context);
    }
    const Member* me = membership_.find(context.self());
    if (changed || (repeat && me != nullptr && me->active != active_)) {
      (void)context.send(kAggregator, Activity{membership_.generation(), activity_sequence_, active_});
    }
  }

  MembershipClient membership_;
  std::optional<RelayServer> server_;  ///< owns the relay
  std::optional<RelayMember> member_;
  std::map<ActorId, ParameterRequest> early_;                        ///< of children that our roster does not have yet
  std::deque<std::pair<std::uint64_t, std::vector<Carried>>> sent_;  ///< by clock of our pushes that the values here do not contain
  std::uint64_t round_ = 0;                                          ///< the children's pace that our next push completes
  std::uint64_t gathered_ = 0;                                       ///< pushes merged since our last one
  std::set<ActorId> contributors_;                                   ///< who made them
  std::uint64_t base_version_ = 0;                                   ///< oldest of them
  std::uint32_t samples_ = 0;
  Instant gathering_since_{};
  bool active_ = true;
  bool at_work_ = false;  ///< a push of this membership has been settled
  std::uint64_t activity_sequence_ = 0;
  bool leaving_ = false;
  Instant leaving_since_{};
};

}  // namespace

std::unique_ptr<Actor> make_tree_node(ProcessIdentity identity) { return std::make_unique<TreeNode>(std::move(identity)); }

}  // namespace hourglass
