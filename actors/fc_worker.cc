// SPDX-License-Identifier: Apache-2.0
#include "actors/fc_worker.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "actors/answer_book.h"
#include "actors/group_member.h"
#include "actors/kept_state.h"
#include "actors/layer_figures.h"
#include "actors/replica_digest.h"
#include "actors/round.h"
#include "actors/worker_parts.h"
#include "learning/nn/loss.h"
#include "learning/params/arithmetic.h"
#include "learning/params/server_rule.h"
#include "runtime/membership_client.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr std::uint32_t kTickTimer = 1;
constexpr std::uint32_t kStepTimer = 2;
constexpr Duration kTick = 500ms;
/// A synchronous step waits for one batch of every CONV worker. A batch may never come: it was answered by another FC worker, as two
/// rosters differed for a moment, or by an earlier life of this one. So it waits no longer than this, or than a multiple of the longest
/// wait that ended well.
constexpr Duration kSynchronousWait = 20s;
constexpr int kSynchronousPatience = 4;
constexpr Duration kLeaveWithin = 4s;
constexpr std::size_t kQueueMax = 4096;  ///< batches of all CONV workers

/// A batch that waits for its step, decoded.
struct Queued {
  ActorId from;
  std::uint64_t batch = 0;
  double progress = 0;
  std::uint64_t roster_revision = 0;
  SynchronousRound::Place place;
  std::vector<float> values;
  std::vector<std::uint16_t> labels;
};

class FcWorker final : public Handles<FcWorker, Welcome, Refuse, Roster, RunPhase, HeartbeatReply, Activations, PushVerdict,
                                      ParameterRequest, ParameterUpdate, SnapshotChunk, StateRequest, StateChunk> {
 public:
  explicit FcWorker(ProcessIdentity identity) : membership_(std::move(identity), {}) {}

  void start(Context& context) override {
    membership_.start(context);
    context.wake_after(kTick, kTickTimer);
  }

  void wake(Context& context, std::uint32_t timer) override {
    if (membership_.wake(context, timer)) return;
    if (timer == kStepTimer) return step_if_due(context);
    if (timer != kTickTimer) return;
    context.wake_after(kTick, kTickTimer);
    if (group_) {
      group_->tick(context);
      kept_.tick(context);
      tell_activity(context);
      step_if_due(context);
      report_phase(context);
    }
    leave_if_drained(context);
  }

  void stop(Context& context) override {
    leaving_ = true;
    leaving_since_ = context.now();
    leave_if_drained(context);
  }

  void on(Context& context, ActorId, Welcome&& message) {
    if (membership_.on(context, std::move(message))) begin(context);
  }
  void on(Context& context, ActorId, Refuse&& message) { membership_.on(context, message); }
  void on(Context& context, ActorId, HeartbeatReply&& message) { membership_.on(context, message); }

  void on(Context& context, ActorId, Roster&& message) {
    if (!membership_.on(context, std::move(message))) return;
    for (auto row = answers_.begin(); row != answers_.end();) {
      const auto here = row++;
      if (membership_.find(here->first) != nullptr) continue;
      round_.forget(here->first);
      answers_.erase(here);
    }
    std::erase_if(queue_, [&](const Queued& q) { return !answers_.contains(q.from); });
    tell_activity(context);
    step_if_due(context);
  }

  void on(Context& context, ActorId, RunPhase&& message) {
    if (!membership_.on(context, message)) return;
    if (membership_.phase() == Phase::finished) {
      send_state(context);
      return membership_.leave(context, ExitCode::ok, "the run is over");
    }
    step_if_due(context);
    report_phase(context);
  }

  void on(Context& context, ActorId from, Activations&& message) {
    if (!group_ || !fits(message)) {
      context.count("activations_refused", 1);
      return;
    }
    if (membership_.find(from) == nullptr) {
      context.count("activations_of_strangers", 1);  // its roster is ahead of ours, or it has left; it will repeat
      return;
    }
    if (message.mode == Mode::evaluate) return evaluate(context, from, message);
    AnswerBook& known = answers_[from];
    const AnswerBook::Seen seen = known.look(message.batch, message.under_way);
    if (seen != AnswerBook::Seen::never) {
      context.count("activations_repeated", 1);
      if (seen == AnswerBook::Seen::answered) (void)context.post(from, known.answer_to(message.batch));
      return;
    }
    if (queue_.size() >= kQueueMax) {
      context.count("activations_over_limit", 1);
      return;  // it will repeat
    }
    Queued queued{from, message.batch, message.progress, message.roster_revision, {}, {}, std::move(message.labels)};
    queued.values.resize(std::size_t{message.tensor.rows} * message.tensor.columns);
    if (!compress::decode_boundary(message.tensor, queued.values).ok()) return context.count("activations_invalid", 1);
    known.take(message.batch);
    if (synchronous()) queued.place = round_.came(from, message.conv_version);
    if (queue_.empty()) waiting_since_ = context.now();
    queue_.push_back(std::move(queued));
    context.gauge("queue", static_cast<double>(queue_.size()));
    context.wake_after(0ns, kStepTimer);  // what else has arrived joins the step
  }

  void on(Context& context, ActorId, PushVerdict&& message) {
    if (!group_ || !group_->on(context, message)) return;
    step_if_due(context);
    leave_if_drained(context);
  }
  void on(Context& context, ActorId, ParameterRequest&& message) {
    if (message.generation == membership_.generation() && message.group == Group::fc) send_state(context);
  }
  void on(Context& context, ActorId from, ParameterUpdate&& message) {
    if (group_ && group_->on(context, from, message)) after_update(context);
  }
  void on(Context& context, ActorId from, SnapshotChunk&& message) {
    if (group_ && group_->on(context, from, std::move(message))) after_update(context);
  }

  void on(Context& context, ActorId from, StateRequest&& message) {
    if (!ready() || from != kAggregator || message.generation != membership_.generation()) return;  // it asks again
    kept_.answer(context, from, message, [&] {
      WorkerState state = state_of(context, *optimizer_, group_->replica().residual(), version());
      if (alone()) state.parameters = *own_;
      return state;
    });
    if (alone()) sent_version_ = own_version_;
  }
  void on(Context& context, ActorId from, StateChunk&& message) {
    const auto state = kept_.take(context, from, message);
    if (!state) return;
    adopt_state(context, *state, *optimizer_, alone() ? nullptr : &group_->replica());
    step_if_due(context);
  }

 private:
  [[nodiscard]] const Job& job() const { return membership_.job(); }
  /// The only FC worker owns the fc group: its steps are final, and its state travels only for checkpoints.
  [[nodiscard]] bool alone() const { return job().fc_workers == 1; }
  [[nodiscard]] bool synchronous() const { return job().staleness == 0; }
  [[nodiscard]] nn::Network& network() { return *job_model_->model.fc; }
  [[nodiscard]] std::uint64_t version() const { return alone() ? own_version_ : group_->replica().version(); }
  [[nodiscard]] std::shared_ptr<const std::vector<float>> parameters() const { return alone() ? own_ : group_->replica().working(); }

  void begin(Context& context) {
    if (job().fc_workers == 0) return membership_.leave(context, ExitCode::config, "this job has no FC part (cluster.fc_workers = 0)");
    auto parts = make_worker_parts(membership_.welcome(), Group::fc);
    if (!parts.ok()) return membership_.leave(context, exit_code_of(parts.error()), parts.error().text);
    job_model_ = std::move(parts->model);
    const Welcome& welcome = membership_.welcome();
    const bool same_life = group_ && run_ == welcome.run && generation_ == welcome.generation;
    if (group_) inherit(context, welcome, std::move(group_->replica()), parts->replica);
    // The only FC worker goes on with what it has where the aggregator does; else it goes back to the checkpoint, with the CONV part.
    const bool same_optimizer =
        (params::adds(job()) || alone()) && optimizer_spec_ == job().optimizer + job().server && gradient_.size() == job_model_->fc.size();
    if (!optimizer_ || !same_optimizer || (alone() && !same_life)) optimizer_ = std::move(parts->optimizer);
    optimizer_spec_ = job().optimizer + job().server;
    run_ = welcome.run;
    generation_ = welcome.generation;
    schedule_ = std::move(parts->schedule);
    codec_ = parts->boundary;
    masks_ = parts->masks;
    gradients_ = parts->gradients;
    gradient_.resize(job_model_->fc.size());
    if (!own_ || !same_life) {
      own_ = std::make_shared<std::vector<float>>(job_model_->fc);
      own_version_ = sent_version_ = 0;
    }
    queue_.clear();
    round_ = {};
    longest_wait_ = {};
    answers_.clear();
    in_unit_ = unit_samples_ = 0;
    active_ = true;
    at_work_ = false;
    group_.emplace(Group::fc, std::move(parts->replica), membership_.welcome());
    layers_.emplace(job_model_->model.fc->parameters(), job_model_->fc_segments);
    steps_ = group_->clock() * job().local_steps;
    if (!alone() || !same_life) kept_.begin(context, welcome);
    group_->start(context);
  }

  /// Takes what the aggregator kept of an earlier FC worker's state.
  void adopt(Context& context) {
    if (group_->replica().version() <= own_version_) return;
    own_ = std::make_shared<std::vector<float>>(group_->replica().published().begin(), group_->replica().published().end());
    own_version_ = sent_version_ = group_->replica().version();
    context.log(Severity::info, "took over an earlier FC worker's state", {{"version", std::to_string(own_version_)}});
  }

  [[nodiscard]] bool fits(const Activations& message) {
    return message.tensor.rows > 0 && message.tensor.rows == message.labels.size() && message.tensor.columns == network().input().size() &&
           std::all_of(message.labels.begin(), message.labels.end(), [&](std::uint16_t label) { return label < job().classes; });
  }

  void evaluate(Context& context, ActorId from, const Activations& message) {
    if (!ready()) return;  // an earlier FC worker's state may be on its way here; the CONV worker repeats
    const Instant began = context.now();
    context.spans().wait_until(began);
    const std::size_t rows = message.tensor.rows;
    activations_.resize(rows * message.tensor.columns);
    if (!compress::decode_boundary(message.tensor, activations_).ok()) return context.count("activations_invalid", 1);
    logits_.resize(rows * job().classes);
    network().forward(*parameters(), activations_, rows, logits_, false);
    const nn::LossResult loss = nn::softmax_cross_entropy(logits_, message.labels, job().classes, {});
    ActivationGradients answer;
    answer.batch = message.batch;
    answer.fc_version = version();
    answer.loss_sum = loss.loss_sum;
    answer.hits = loss.hits;
    (void)context.send(from, answer);  // lost: the CONV worker repeats its activations
    context.span(SpanKind::evaluate, began, {.in = flow_id(Flow::activations, from, message.batch)});
    context.count("samples_evaluated", static_cast<double>(rows));
  }

  /// CONV workers that send here, while they have data to work on.
  [[nodiscard]] std::vector<ActorId> served(Context& context) const {
    const auto fc = membership_.members(Role::fc_worker);
    const auto conv = membership_.members(Role::conv_worker);
    std::vector<ActorId> out;
    for (std::size_t i = 0; i < conv.size(); ++i) {
      if (conv[i].active && !fc.empty() && fc[i % fc.size()].id == context.self()) out.push_back(conv[i].id);
    }
    return out;
  }

  void step_if_due(Context& context) {
    if (!group_ || leaving_) return;
    flush_if_due(context);
    if (queue_.empty() || !ready() || (!alone() && !group_->admits(steps_ / job().local_steps))) return;
    if (synchronous() && !everybody_is_here(context)) return;
    std::vector<Queued> taken;
    std::size_t rows = 0;
    const std::size_t rows_max = synchronous() ? std::numeric_limits<std::size_t>::max() : job().fc_batch_samples;
    while (!queue_.empty() && (taken.empty() || rows + queue_.front().labels.size() <= rows_max)) {
      rows += queue_.front().labels.size();
      taken.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    if (synchronous()) {  // the order of arrival must not reach the sums
      std::stable_sort(taken.begin(), taken.end(), [&](const Queued& a, const Queued& b) { return number_of(a.from) < number_of(b.from); });
    }
    step(context, taken, rows);
    waiting_since_ = context.now();
    context.gauge("queue", static_cast<double>(queue_.size()));
    if (!queue_.empty()) context.wake_after(0ns, kStepTimer);
  }

  [[nodiscard]] std::uint32_t number_of(ActorId id) const {
    const Member* member = membership_.find(id);
    return member == nullptr ? 0 : member->number;
  }

  [[nodiscard]] std::vector<SynchronousRound::Place> places() const {
    std::vector<SynchronousRound::Place> out;
    for (const Queued& queued : queue_) out.push_back(queued.place);
    return out;
  }

  bool everybody_is_here(Context& context) {
    // Rosters and batches come over different connections: whom a CONV worker knew when it sent, we must know before we count heads.
    const bool outdated =
        std::any_of(queue_.begin(), queue_.end(), [&](const Queued& q) { return q.roster_revision > membership_.roster().revision; });
    const Duration waited = context.now() - waiting_since_;
    if (membership_.phase() == Phase::pausing) return true;
    if (!outdated && round_.complete(served(context), places())) {
      longest_wait_ = std::max(longest_wait_, waited);
      return true;
    }
    if (waited < std::max(kSynchronousWait, kSynchronousPatience * longest_wait_)) return false;
    context.count("rounds_split", 1);
    context.log(Severity::warning, "a synchronous round goes on without a batch that does not come", {});
    return true;
  }

  /// Forward, loss and backward of what was taken, as one atomic step; then the answers.
  void step(Context& context, const std::vector<Queued>& taken, std::size_t rows) {
    const Instant began = context.now();
    context.spans().wait_until(began);
    for (std::size_t i = 1; i < taken.size(); ++i) {  // one step takes several batches: a flow ends at its beginning for each
      context.spans().add(SpanKind::forward, began, began, {.in = flow_id(Flow::activations, taken[i].from, taken[i].batch)});
    }
    const std::size_t width = network().input().size();
    activations_.clear();
    labels_.clear();
    double progress = 0;
    for (const Queued& batch : taken) {
      activations_.insert(activations_.end(), batch.values.begin(), batch.values.end());
      labels_.insert(labels_.end(), batch.labels.begin(), batch.labels.end());
      progress = std::max(progress, batch.progress);
    }
    HG_CHECK(activations_.size() == rows * width, "every row is as wide as the fc part's input");
    const auto parameters = this->parameters();
    logits_.resize(rows * job().classes);
    logit_gradient_.resize(logits_.size());
    activation_gradient_.resize(activations_.size());
    const auto tape = network().forward(*parameters, activations_, rows, logits_, true);
    const nn::LossResult loss = nn::softmax_cross_entropy(logits_, labels_, job().classes, logit_gradient_);
    context.span(SpanKind::forward, began, {.in = flow_id(Flow::activations, taken.front().from, taken.front().batch)});
    const Instant back = context.now();
    network().backward(*parameters, *tape, logit_gradient_, gradient_, activation_gradient_);
    if (!params::all_finite(activation_gradient_)) {
      context.count("batches_nonfinite", 1);
      std::fill(activation_gradient_.begin(), activation_gradient_.end(), 0.0F);
    }
    if (masks_) {
      for (std::size_t i = 0; i < activations_.size(); ++i) activation_gradient_[i] = activations_[i] == 0 ? 0.0F : activation_gradient_[i];
    }
    context.span(SpanKind::backward, back);
    answer(context, taken, rows);
    learn(context, parameters, taken.size(), progress, static_cast<std::uint32_t>(rows));
    if (!std::exchange(at_work_, true)) context.log(Severity::info, "at work", {{"version", std::to_string(version())}});
    context.count("steps", 1);
    context.count("samples", static_cast<double>(rows));
    context.count("loss_sum", loss.loss_sum);
    context.count("hits", loss.hits);
  }

  /// Each CONV worker gets the gradient of the mean loss over its own samples.
  void answer(Context& context, const std::vector<Queued>& taken, std::size_t rows) {
    const std::size_t width = network().input().size();
    std::size_t at = 0;
    for (const Queued& batch : taken) {
      const Instant began = context.now();
      const std::size_t own = batch.labels.size();
      const auto part = std::span(activation_gradient_).subspan(at * width, own * width);
      const float scale = static_cast<float>(rows) / static_cast<float>(own);
      if (own != rows) {
        for (float& value : part) value *= scale;
      }
      const auto logits = std::span(logits_).subspan(at * job().classes, own * job().classes);
      const nn::LossResult loss = nn::softmax_cross_entropy(logits, batch.labels, job().classes, {});
      ActivationGradients out;
      out.batch = batch.batch;
      out.fc_version = version();
      out.loss_sum = loss.loss_sum;
      out.hits = loss.hits;
      out.tensor = compress::encode_boundary(part, own, width, codec_, context.random());
      Parcel kept = pack(out);
      (void)context.post(batch.from, kept);  // lost: the repeat of its activations fetches it
      answers_[batch.from].answer(batch.batch, std::move(kept));
      context.span(SpanKind::encode, began, {.out = flow_id(Flow::gradients, batch.from, batch.batch)});
      at += own;
    }
  }

  void learn(Context& context, const std::shared_ptr<const std::vector<float>>& parameters, std::size_t batches, double progress,
             std::uint32_t rows) {
    const Instant began = context.now();
    // The learning rate is that of one batch of every CONV worker together: as on the conv side, where each push weighs 1/P. How many
    // batches happen to be taken at a time must not matter.
    const double scale = static_cast<double>(batches) / static_cast<double>(std::max<std::size_t>(1, served(context).size()));
    const double rate = gradients_ ? 1.0 / job().local_steps : job().learning_rate * schedule_->factor(progress) * scale;
    if (!params::step_if_usable(*optimizer_, *parameters, gradient_, rate)) context.count("steps_nonfinite", 1);
    ++steps_;
    if (alone()) {
      params::add(*own_, gradient_);
      ++own_version_;
      context.gauge("version", static_cast<double>(own_version_));
      return context.span(SpanKind::step, began);
    }
    unit_version_ = in_unit_ == 0 ? group_->replica().version() : unit_version_;
    group_->replica().step(gradient_);
    context.span(SpanKind::step, began);
    unit_samples_ += rows;
    unit_progress_ = progress;
    if (++in_unit_ >= job().local_steps) push(context, false);
  }

  void push(Context& context, bool flush) {
    const Instant began = context.now();
    const std::uint64_t clock = group_->clock();
    const std::uint64_t base = in_unit_ == 0 ? group_->replica().version() : unit_version_;
    if (!flush) layers_->look(context, group_->replica());
    const bool made = group_->push(context, base, unit_samples_, unit_progress_, flush, job().flush_residual && !gradients_);
    if (made && !flush) layers_->pushed(context, group_->replica());
    if (made) {
      context.span(SpanKind::encode, began, {.out = flow_id(Flow::push, context.self(), clock)});
    } else {
      steps_ -= in_unit_;
    }
    in_unit_ = unit_samples_ = 0;
    context.gauge("residual_norm", group_->replica().residual_norm());
  }

  void flush_if_due(Context& context) {
    if (alone() || group_->flush_made() || !queue_.empty()) return;
    if (membership_.phase() == Phase::flushing || leaving_) push(context, true);
  }

  void report_phase(Context& context) {
    const Phase phase = membership_.phase();
    if (!group_ || (phase != Phase::flushing && phase != Phase::pausing)) return;
    if (phase == Phase::pausing && !paused(context)) return;
    if (phase == Phase::flushing && !alone() && !group_->flushed()) return;
    const std::uint32_t digest = digest_of(alone() ? std::span<const float>(*own_) : group_->replica().published());
    (void)context.send(kAggregator, PhaseReached{membership_.generation(), phase, version(), digest});
  }

  /// What has come is done, and pushed.
  bool paused(Context& context) {
    if (!queue_.empty()) return false;
    if (alone()) return true;
    if (in_unit_ > 0) push(context, false);
    return group_->unsettled() == 0;
  }

  /// The parameters and the state here are the run's.
  [[nodiscard]] bool ready() const { return group_ && group_->ready() && !kept_.awaited(); }

  void after_update(Context& context) {
    if (group_->frozen()) optimizer_->freeze();
    if (alone()) adopt(context);
    step_if_due(context);
    report_phase(context);
    leave_if_drained(context);
  }

  /// An FC worker that serves nobody must not hold back the others' clocks.
  void tell_activity(Context& context) {
    if (!group_ || alone()) return;
    const bool active = !served(context).empty();
    const Member* me = membership_.find(context.self());
    if (active != active_) {
      active_ = active;
      ++activity_sequence_;
      if (active && job().staleness != kUnlimited) group_->await_update(context);
    }
    if (me != nullptr && me->active != active_)
      (void)context.send(kAggregator, Activity{membership_.generation(), activity_sequence_, active_});
  }

  void send_state(Context& context) {
    if (!group_ || !alone()) return;
    constexpr std::size_t kChunk = limits::kChunkBytes / sizeof(float);
    for (std::size_t offset = 0; offset < own_->size(); offset += kChunk) {
      SnapshotChunk chunk;
      chunk.generation = membership_.generation();
      chunk.group = Group::fc;
      chunk.version = own_version_;
      chunk.total = own_->size();
      chunk.offset = offset;
      chunk.values = to_bytes(std::span<const float>(*own_).subspan(offset, std::min(kChunk, own_->size() - offset)));
      if (!context.send(kAggregator, chunk).ok()) return;  // the aggregator asks again
    }
    sent_version_ = own_version_;
  }

  void leave_if_drained(Context& context) {
    if (!leaving_) return;
    if (!group_) return membership_.leave(context, ExitCode::ok, "asked to leave");
    const bool late = context.now() - leaving_since_ >= kLeaveWithin;
    if (alone()) {
      if (sent_version_ != own_version_) send_state(context);
      if (sent_version_ == own_version_) return membership_.leave(context, ExitCode::ok, "asked to leave");
      if (late)
        membership_.leave(context, ExitCode::temporary, "asked to leave; the aggregator could not be given the FC part's newest state");
      return;
    }
    queue_.clear();  // the CONV workers repeat it to those who stay
    flush_if_due(context);
    if (group_->unsettled() == 0) return membership_.leave(context, ExitCode::ok, "asked to leave");
    if (late) membership_.leave(context, ExitCode::temporary, "asked to leave; a push stayed unanswered");
  }

  MembershipClient membership_;
  std::optional<JobModel> job_model_;
  std::optional<GroupMember> group_;
  std::optional<LayerFigures> layers_;  ///< where group_ is
  std::unique_ptr<params::Optimizer> optimizer_;
  std::string optimizer_spec_;
  KeptState kept_;
  std::uint64_t run_ = 0;  ///< of the newest membership
  std::uint32_t generation_ = 0;
  std::unique_ptr<params::Schedule> schedule_;
  compress::BoundarySpec codec_;
  bool masks_ = false;  ///< as the next, see WorkerParts
  bool gradients_ = false;
  std::shared_ptr<std::vector<float>> own_;  ///< where alone
  std::uint64_t own_version_ = 0;
  std::uint64_t sent_version_ = 0;  ///< newest that the aggregator was given
  std::deque<Queued> queue_;
  Instant waiting_since_{};
  SynchronousRound round_;
  Duration longest_wait_{};  ///< of rounds that were complete
  std::map<ActorId, AnswerBook> answers_;
  std::vector<float> activations_, activation_gradient_, logits_, logit_gradient_, gradient_;
  std::vector<std::uint16_t> labels_;
  std::uint64_t steps_ = 0;
  std::uint64_t in_unit_ = 0;
  std::uint32_t unit_samples_ = 0;
  std::uint64_t unit_version_ = 0;
  double unit_progress_ = 0;
  bool active_ = true;
  bool at_work_ = false;  ///< a step of this membership is done
  std::uint64_t activity_sequence_ = 0;
  bool leaving_ = false;
  Instant leaving_since_{};
};

}  // namespace

std::unique_ptr<Actor> make_fc_worker(ProcessIdentity identity) { return std::make_unique<FcWorker>(std::move(identity)); }

}  // namespace hourglass
