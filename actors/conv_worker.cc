// SPDX-License-Identifier: Apache-2.0
#include "actors/conv_worker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "actors/group_member.h"
#include "actors/kept_state.h"
#include "actors/layer_figures.h"
#include "actors/lease_book.h"
#include "actors/local_units.h"
#include "actors/replica_digest.h"
#include "actors/tree.h"
#include "actors/worker_parts.h"
#include "base/mutant.h"
#include "learning/data/dataset.h"
#include "learning/nn/loss.h"
#include "learning/params/arithmetic.h"
#include "learning/params/noise_meter.h"
#include "learning/params/server_rule.h"
#include "runtime/membership_client.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr std::uint32_t kTickTimer = 1;
constexpr std::uint32_t kPumpTimer = 2;
constexpr Duration kTick = 500ms;
constexpr Duration kActivationsRepeatAfter = 5s;
constexpr Duration kLeaveWithin = 4s;  ///< of a requested stop: what is under way by then is given up

/// A batch between its forward and its backward pass.
struct UnderWay {
  std::uint64_t lease = 0;
  Mode mode = Mode::train;
  std::uint32_t samples = 0;
  double progress = 0;
  std::uint64_t version = 0;  ///< parameters of the forward pass
  std::shared_ptr<const std::vector<float>> parameters;
  std::unique_ptr<nn::Tape> tape;
  std::vector<float> input;  ///< the tape may refer to it
  Parcel parcel;
  ActorId fc;
  Instant sent{};
  std::uint64_t gradients_flow = 0;  ///< of the answer, in the trace
};

class ConvWorker final : public Handles<ConvWorker, Welcome, Refuse, Roster, RunPhase, HeartbeatReply, LeaseUpdate, Batch,
                                        ActivationGradients, PushVerdict, ParameterUpdate, SnapshotChunk, StateRequest, StateChunk> {
 public:
  ConvWorker(DatasetSource source, ProcessIdentity identity)
      : membership_(std::move(identity), {Role::data_loader, Role::fc_worker, Role::tree_node}), source_(std::move(source)) {}

  void start(Context& context) override {
    membership_.start(context);
    context.wake_after(kTick, kTickTimer);
  }

  void wake(Context& context, std::uint32_t timer) override {
    if (membership_.wake(context, timer)) return;
    if (timer == kPumpTimer) return pump(context);
    if (timer != kTickTimer) return;
    context.wake_after(kTick, kTickTimer);
    if (!group_) return leave_if_drained(context);
    group_->tick(context);
    kept_.tick(context);
    repeat_activations(context);
    tell_activity(context);
    ask_for_data(context, true);
    pump(context);
    report_phase(context);
    leave_if_drained(context);
  }

  void stop(Context& context) override {
    leaving_since_ = context.now();
    leaving_ = true;
    leases_.give_back();
    ask_for_data(context, true);
    leave_if_drained(context);
  }

  void on(Context& context, ActorId, Welcome&& message) {
    if (membership_.on(context, std::move(message))) begin(context);
  }
  void on(Context& context, ActorId, Refuse&& message) { membership_.on(context, message); }
  void on(Context& context, ActorId, HeartbeatReply&& message) { membership_.on(context, message); }

  void on(Context& context, ActorId, Roster&& message) {
    if (!membership_.on(context, std::move(message))) return;
    follow_tree(context);
    for (auto& [number, batch] : under_way_) {  // an FC worker that has left takes its unanswered batches with it, even if it comes back
      if (!cut() || membership_.find(batch.fc) != nullptr) continue;
      batch.fc = {};
      send_activations(context, batch);
    }
    ask_for_data(context, true);
    pump(context);
  }

  void on(Context& context, ActorId, RunPhase&& message) {
    if (!membership_.on(context, message)) return;
    if (membership_.phase() == Phase::finished) return membership_.leave(context, ExitCode::ok, "the run is over");
    if (membership_.phase() == Phase::pausing) leases_.give_back();
    ask_for_data(context, true);
    pump(context);
  }

  void on(Context& context, ActorId, LeaseUpdate&& message) {
    leases_.on(message);
    run_dry(context);
    ask_for_data(context, false);
    pump(context);
    leave_if_drained(context);
  }

  void on(Context& context, ActorId, Batch&& message) {
    if (samples_) {
      const Instant began = context.now();
      const Status restored = samples_->restore(message);
      if (!restored.ok()) return membership_.leave(context, ExitCode::bad_data, restored.error().text);
      context.span(SpanKind::load, began);
    }
    if (!group_ || !fits(message)) {
      context.count("batches_refused", 1);
      return;
    }
    const Mode mode = message.mode;
    if (!leases_.receive(std::move(message))) return;
    if (leaving_ || membership_.phase() == Phase::pausing) {  // was under way when the stop came
      leases_.give_back();
      return ask_for_data(context, true);
    }
    if (mode == Mode::train) set_active(context, true);
    pump(context);
  }

  void on(Context& context, ActorId, ActivationGradients&& message) {
    const auto found = under_way_.find(message.batch);
    if (found == under_way_.end()) {
      context.count("gradients_unknown", 1);  // a repeat
      return;
    }
    UnderWay& batch = found->second;
    const LeaseResult result{batch.lease, batch.samples, message.loss_sum, message.hits};
    if (batch.mode == Mode::train) {
      boundary_.resize(std::size_t{batch.samples} * job_model_->model.conv->output().size());
      if (message.tensor.rows != batch.samples || !compress::decode_boundary(message.tensor, boundary_).ok()) {
        context.count("gradients_invalid", 1);
        return;  // the repeat of its activations asks again
      }
      learn(context, batch, boundary_, result);
    } else {
      leases_.done(result);
    }
    under_way_.erase(found);
    ask_for_data(context, false);
    run_dry(context);
    pump(context);
  }

  void on(Context& context, ActorId, PushVerdict&& message) {
    if (!group_) return;
    const auto settled = group_->on(context, message);
    if (!settled) return;
    if (!std::exchange(at_work_, true)) context.log(Severity::info, "at work", {{"clock", std::to_string(*settled)}});
    leases_.settled(*settled);
    ask_for_data(context, false);
    run_dry(context);
    leave_if_drained(context);
    pump(context);
  }

  void on(Context& context, ActorId from, ParameterUpdate&& message) {
    const Instant began = context.now();
    if (!group_ || !group_->on(context, from, message)) return;
    context.span(SpanKind::apply, began);
    if (message.local_steps > 0) units_.set({message.local_steps, std::max(1U, message.step_batches)});
    after_update(context);
  }
  void on(Context& context, ActorId from, SnapshotChunk&& message) {
    if (group_ && group_->on(context, from, std::move(message))) after_update(context);
  }

  void on(Context& context, ActorId from, StateRequest&& message) {
    if (!group_ || from != kAggregator || message.generation != membership_.generation() || kept_.awaited()) return;
    kept_.answer(context, from, message,
                 [&] { return state_of(context, *optimizer_, group_->replica().residual(), group_->replica().version()); });
  }
  void on(Context& context, ActorId from, StateChunk&& message) {
    const auto state = kept_.take(context, from, message);
    if (!state) return;
    adopt_state(context, *state, *optimizer_, &group_->replica());
    pump(context);
  }

 private:
  [[nodiscard]] const Job& job() const { return membership_.job(); }
  [[nodiscard]] bool cut() const { return job_model_ && job_model_->model.fc != nullptr; }
  [[nodiscard]] bool synchronous() const { return job().staleness == 0; }
  [[nodiscard]] std::uint32_t outstanding_max() const { return synchronous() ? 1 : job().outstanding; }
  /// One more than may be under way hides the loader's round trip. In synchronous mode each step takes the next batches of the epoch, so
  /// nothing is asked for ahead.
  [[nodiscard]] std::uint32_t capacity() const {
    return leaving_ || membership_.phase() == Phase::pausing ? 0 : outstanding_max() + (synchronous() ? 0 : 1);
  }

  void begin(Context& context) {
    auto parts = make_worker_parts(membership_.welcome(), Group::conv);
    if (!parts.ok()) return membership_.leave(context, exit_code_of(parts.error()), parts.error().text);
    under_way_.clear();  // before the networks that their tapes belong to
    job_model_ = std::move(parts->model);
    if (group_) inherit(context, membership_.welcome(), std::move(group_->replica()), parts->replica);
    const bool same_optimizer = params::adds(job()) && optimizer_spec_ == job().optimizer && gradient_.size() == job_model_->conv.size();
    if (!optimizer_ || !same_optimizer) optimizer_ = std::move(parts->optimizer);  // else its momentum goes on
    optimizer_spec_ = job().optimizer;
    schedule_ = std::move(parts->schedule);
    codec_ = parts->boundary;
    gradients_ = parts->gradients;
    gradient_.resize(job_model_->conv.size());
    leases_.restart();
    units_ = LocalUnits({job().local_steps, 1});
    step_sum_.assign(gradient_.size(), 0.0F);
    noise_ = std::move(parts->noise);
    unit_samples_ = 0;
    active_ = true;
    if (job().local_data && !samples_) {
      auto samples = Samples::load(source_, job());
      if (!samples.ok()) return membership_.leave(context, Samples::exit_code_of(samples.error()), samples.error().text);
      samples_.emplace(std::move(*samples));
    }
    at_work_ = false;
    group_.emplace(Group::conv, std::move(parts->replica), membership_.welcome());
    layers_.emplace(job_model_->model.conv->parameters(), job_model_->conv_segments);
    kept_.begin(context, membership_.welcome());
    if (job().tree_arity == 0) group_->start(context);  // else the roster tells the parent
  }

  void follow_tree(Context& context) {
    if (!group_ || job().tree_arity == 0 || membership_.find(context.self()) == nullptr) return;
    const Tree tree(job(), membership_.roster().members);
    const auto old = group_->parent();
    const bool gone = old && *old != kAggregator && membership_.find(*old) == nullptr;
    group_->follow(context, tree.parent(context.self()), gone);
  }

  [[nodiscard]] bool fits(const Batch& batch) const {
    const Job& j = job();
    const std::size_t samples = batch.labels.size();
    const bool labels_fit = std::all_of(batch.labels.begin(), batch.labels.end(), [&](std::uint16_t label) { return label < j.classes; });
    return samples > 0 && labels_fit && batch.images.size() == samples * j.channels * j.height * j.width &&
           batch.mean.size() == j.channels && batch.deviation.size() == j.channels;
  }

  void ask_for_data(Context& context, bool repeat) {
    if (!group_) return;
    const auto loaders = membership_.members(Role::data_loader);
    const Phase phase = membership_.phase();
    if (loaders.empty() || phase == Phase::waiting || phase == Phase::finished) return;
    leases_.request(context, loaders.front().id, capacity(), repeat);
  }

  /// Starts what the bound, the window and the data at hand allow.
  void pump(Context& context) {
    if (!group_) return;
    flush_if_due(context);
    if (kept_.awaited()) return;
    while (under_way_.size() < outstanding_max()) {
      if (cut() && membership_.members(Role::fc_worker).empty()) return;
      const bool train = membership_.phase() == Phase::training && group_->admits(units_.next(group_->clock()));
      std::optional<Batch> batch = leases_.next(train);
      if (!batch) return;
      forward(context, std::move(*batch));
      ask_for_data(context, false);
      if (!cut()) {  // messages are looked at between whole steps
        context.wake_after(0ns, kPumpTimer);
        return;
      }
    }
  }

  void forward(Context& context, Batch&& batch) {
    const Instant began = context.now();
    context.spans().wait_until(began);
    UnderWay state;
    state.lease = batch.lease;
    state.mode = batch.mode;
    state.samples = static_cast<std::uint32_t>(batch.labels.size());
    state.progress = batch.progress;
    state.version = group_->replica().version();
    state.parameters = group_->replica().working();
    state.input.resize(batch.images.size());
    data::normalise(batch.images, job().channels, std::size_t{job().height} * job().width, batch.mean, batch.deviation, state.input);
    nn::Network& network = *job_model_->model.conv;
    const std::size_t width = network.output().size();
    boundary_.resize(state.samples * width);
    const bool train = batch.mode == Mode::train;
    state.tape = network.forward(*state.parameters, state.input, state.samples, boundary_, train);
    context.span(train ? SpanKind::forward : SpanKind::evaluate, began, {.in = flow_id(Flow::batch, context.self(), batch.lease)});
    if (train) {
      context.gauge("unit", static_cast<double>(units_.next(group_->clock())));
      units_.started();
    }
    context.count(train ? "samples_forward" : "samples_evaluated", state.samples);
    if (!cut()) {
      logit_gradient_.resize(train ? boundary_.size() : 0);
      const nn::LossResult loss = nn::softmax_cross_entropy(boundary_, batch.labels, job().classes, logit_gradient_);
      const LeaseResult result{state.lease, state.samples, loss.loss_sum, loss.hits};
      if (train) {
        learn(context, state, logit_gradient_, result);
      } else {
        leases_.done(result);
      }
      return;
    }
    if (!params::all_finite(boundary_)) {  // a diverged model: nothing can be learned from this batch, and nothing may be spread
      context.count("batches_nonfinite", 1);
      if (train) units_.dropped();
      leases_.done({state.lease, state.samples, state.samples * nn::kLossMax, 0});
      context.wake_after(0ns, kPumpTimer);
      return;
    }
    const Instant coding = context.now();
    Activations message;
    message.batch = ++batches_;
    state.gradients_flow = flow_id(Flow::gradients, context.self(), message.batch);
    message.mode = batch.mode;
    message.conv_version = state.version;
    message.progress = batch.progress;
    message.roster_revision = membership_.roster().revision;
    for (const auto& [number, earlier] : under_way_) message.under_way.push_back(number);
    message.under_way.push_back(message.batch);
    message.tensor = compress::encode_boundary(boundary_, state.samples, width, codec_, context.random());
    message.labels = std::move(batch.labels);
    state.parcel = pack(message);
    UnderWay& kept = under_way_.emplace(message.batch, std::move(state)).first->second;
    send_activations(context, kept);
    context.span(SpanKind::encode, coding, {.out = flow_id(Flow::activations, context.self(), message.batch)});
  }

  /// Stable while the roster is: worker i of P sends to FC worker i mod F.
  [[nodiscard]] std::optional<ActorId> my_fc(Context& context) const {
    const auto fc = membership_.members(Role::fc_worker);
    if (fc.empty()) return std::nullopt;
    const auto conv = membership_.members(Role::conv_worker);
    const auto me = std::find_if(conv.begin(), conv.end(), [&](const Member& m) { return m.id == context.self(); });
    return fc[static_cast<std::size_t>(me - conv.begin()) % fc.size()].id;
  }

  void send_activations(Context& context, UnderWay& batch) {
    const auto fc = my_fc(context);
    if (!fc) return;
    batch.fc = *fc;
    batch.sent = context.now();
    if (!context.post(*fc, batch.parcel).ok()) context.count("activations_unsent", 1);  // repeated by repeat_activations()
  }

  void repeat_activations(Context& context) {
    if (!cut()) return;
    for (auto& [number, batch] : under_way_) {
      if (context.now() - batch.sent < kActivationsRepeatAfter) continue;
      context.count("activations_repeated", 1);
      send_activations(context, batch);
    }
  }

  /// Backward pass; where that completes one, an optimizer step; where that completes a unit, a push.
  void learn(Context& context, UnderWay& batch, std::span<const float> output_gradient, LeaseResult result) {
    const Instant began = context.now();
    context.spans().wait_until(began);
    job_model_->model.conv->backward(*batch.parameters, *batch.tape, output_gradient, gradient_, {});
    context.span(SpanKind::backward, began, {.in = batch.gradients_flow});
    if (noise_) noise_->take(gradient_, batch.samples);
    unit_version_ = units_.begun() ? std::min(unit_version_, batch.version) : batch.version;
    unit_progress_ = batch.progress;
    unit_samples_ += batch.samples;
    const bool due = units_.learned();
    if ((!due || units_.step_batches() > 1) && params::all_finite(gradient_)) {
      params::add(step_sum_, gradient_);
    }
    batch.tape.reset();
    if (due) step(context, std::move(batch.parameters));
    batch.parameters.reset();
    leases_.computed(result);
    context.count("samples", batch.samples);
    context.count("loss_sum", result.loss_sum);
    context.count("hits", result.hits);
    if (units_.complete()) push(context, false);
  }

  /// The optimizer's step on the gradients since the last one.
  void step(Context& context, std::shared_ptr<const std::vector<float>> parameters) {
    const Instant began = context.now();
    if (const auto batches = static_cast<float>(units_.step_batches()); batches > 1) {
      for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] = step_sum_[i] / batches;
      std::fill(step_sum_.begin(), step_sum_.end(), 0.0F);
    }
    const double rate = gradients_ ? 1.0 / units_.steps() : job().learning_rate * schedule_->factor(unit_progress_);
    if (!params::step_if_usable(*optimizer_, *parameters, gradient_, rate)) context.count("steps_nonfinite", 1);
    parameters.reset();  // else the replica would copy what nobody else reads
    group_->replica().step(gradient_);
    units_.stepped();
    context.span(SpanKind::step, began);
  }

  void push(Context& context, bool flush) {
    if (units_.step_batches() > 0) step(context, group_->replica().working());
    const std::uint64_t clock = group_->clock();
    const std::uint64_t base = units_.begun() ? unit_version_ : group_->replica().version();
    Gathered said;
    if (noise_ && !flush) said.noise = noise_->read();
    if (!flush) layers_->look(context, group_->replica());
    const Instant began = context.now();
    const bool made =
        group_->push(context, base, unit_samples_, unit_progress_, flush, job().flush_residual && !gradients_, std::move(said));
    if (made && !flush) layers_->pushed(context, group_->replica());
    if (made) {
      context.span(SpanKind::encode, began, {.out = flow_id(Flow::push, context.self(), clock)});
      leases_.pushed(clock);
    } else {
      leases_.dropped();
    }
    units_.close();
    unit_samples_ = 0;
    context.gauge("residual_norm", group_->replica().residual_norm());
  }

  /// No data for now: an incomplete unit is pushed as it is, else its leases would stay open and the epoch with them; then nobody waits for
  /// us.
  void run_dry(Context& context) {
    if (!group_ || leases_.supply() == Supply::more || leases_.waiting() > 0 || !under_way_.empty()) return;
    if (units_.begun()) push(context, false);
    if (leases_.empty()) set_active(context, false);
  }

  void flush_if_due(Context& context) {
    const bool due = membership_.phase() == Phase::flushing || leaving_;
    if (due) leases_.give_back_training();  // all data is used up: a batch that comes now was taken back, and used by somebody else
    const bool drained = (under_way_.empty() && leases_.waiting() == 0) || mutant(Mutant::flush_before_drain);
    if (due && !group_->flush_made() && !group_->refused() && drained) push(context, true);
    report_phase(context);
  }

  void report_phase(Context& context) {
    const Phase phase = membership_.phase();
    if (!(phase == Phase::flushing && group_->flushed()) && !(phase == Phase::pausing && paused(context))) return;
    const params::Replica& replica = group_->replica();
    (void)context.send(kAggregator, PhaseReached{membership_.generation(), phase, replica.version(), digest_of(replica.published())});
  }

  /// What was begun is done, pushed and settled, and the data loader knows.
  bool paused(Context& context) {
    if (!under_way_.empty() || leases_.waiting() > 0) return false;
    if (units_.begun()) push(context, false);
    return group_->unsettled() == 0 && leases_.empty() && leases_.reported();
  }

  void after_update(Context& context) {
    if (group_->frozen()) optimizer_->freeze();
    pump(context);
    leave_if_drained(context);
  }

  void set_active(Context& context, bool active) {
    if (active_ == active) return;
    active_ = active;
    ++activity_sequence_;
    (void)context.send(kAggregator, Activity{membership_.generation(), activity_sequence_, active_});
    if (active && job().staleness != kUnlimited) group_->await_update(context);
  }

  /// The roster shows what the aggregator believes.
  void tell_activity(Context& context) {
    const Member* me = membership_.find(context.self());
    if (me != nullptr && me->active != active_)
      (void)context.send(kAggregator, Activity{membership_.generation(), activity_sequence_, active_});
  }

  void leave_if_drained(Context& context) {
    if (!leaving_) return;
    if (group_) flush_if_due(context);
    const bool drained = !group_ || (group_->flush_made() && group_->unsettled() == 0 && leases_.empty() && leases_.reported());
    if (drained) return membership_.leave(context, ExitCode::ok, "asked to leave");
    if (context.now() - leaving_since_ < kLeaveWithin) return;
    const bool unsent = group_->unsettled() > 0;
    membership_.leave(context, unsent ? ExitCode::temporary : ExitCode::ok,
                      unsent ? "asked to leave; a push stayed unanswered" : "asked to leave");
  }

  MembershipClient membership_;
  DatasetSource source_;
  std::optional<Samples> samples_;  ///< of a job with local data
  std::optional<JobModel> job_model_;
  std::optional<GroupMember> group_;
  std::optional<LayerFigures> layers_;  ///< where group_ is
  std::unique_ptr<params::Optimizer> optimizer_;
  std::string optimizer_spec_;
  KeptState kept_;
  std::unique_ptr<params::Schedule> schedule_;
  compress::BoundarySpec codec_;
  bool gradients_ = false;  ///< see WorkerParts
  LeaseBook leases_;
  std::map<std::uint64_t, UnderWay> under_way_;
  std::uint64_t batches_ = 0;  ///< names batches towards FC workers
  LocalUnits units_;
  std::optional<params::NoiseMeter> noise_;  ///< where the job's local policy wants to know
  std::vector<float> step_sum_;              ///< gradients of a step that takes several batches
  std::uint32_t unit_samples_ = 0;
  std::uint64_t unit_version_ = 0;
  double unit_progress_ = 0;
  std::vector<float> gradient_, boundary_, logit_gradient_;
  bool active_ = true;
  bool at_work_ = false;  ///< a push of this membership has been settled
  std::uint64_t activity_sequence_ = 0;
  bool leaving_ = false;
  Instant leaving_since_{};
};

}  // namespace

std::unique_ptr<Actor> make_conv_worker(DatasetSource source, ProcessIdentity identity) {
  return std::make_unique<ConvWorker>(std::move(source), std::move(identity));
}

}  // namespace hourglass
