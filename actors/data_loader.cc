// SPDX-License-Identifier: Apache-2.0
#include "actors/data_loader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "actors/lease_table.h"
#include "base/mutant.h"
#include "runtime/membership_client.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr std::uint32_t kTickTimer = 1;
constexpr Duration kTick = 500ms;
/// A batch that its worker does not list as held so long after it was sent was lost on the way.
constexpr Duration kLostAfter = 4s;
constexpr double kLossDecay = 0.98;  ///< of the running training loss, per lease

class DataLoader final : public Handles<DataLoader, Welcome, Refuse, Roster, RunPhase, HeartbeatReply, BatchRequest, DataProgress> {
 public:
  DataLoader(DatasetSource source, ProcessIdentity identity) : membership_(std::move(identity), {}), source_(std::move(source)) {}

  void start(Context& context) override {
    membership_.start(context);
    context.wake_after(kTick, kTickTimer);
  }

  void wake(Context& context, std::uint32_t timer) override {
    if (membership_.wake(context, timer) || timer != kTickTimer) return;
    context.wake_after(kTick, kTickTimer);
    tell(context);
    report_paused(context);
  }

  void stop(Context& context) override { membership_.leave(context, ExitCode::ok, "asked to leave"); }

  void on(Context& context, ActorId, Welcome&& message) {
    if (membership_.on(context, std::move(message))) begin(context);
  }
  void on(Context& context, ActorId, Refuse&& message) { membership_.on(context, message); }
  void on(Context& context, ActorId, HeartbeatReply&& message) { membership_.on(context, message); }

  void on(Context& context, ActorId, Roster&& message) {
    if (!membership_.on(context, std::move(message)) || !leases_) return;
    leases_->keep_only([&](ActorId worker) { return membership_.find(worker) != nullptr; });
    std::erase_if(requests_, [&](const auto& row) { return membership_.find(row.first) == nullptr; });
    std::erase_if(early_, [&](const auto& row) { return membership_.find(row.first) == nullptr; });
  }

  void on(Context& context, ActorId, RunPhase&& message) {
    if (!membership_.on(context, message)) return;
    if (membership_.phase() == Phase::finished) return membership_.leave(context, ExitCode::ok, "the run is over");
    if (membership_.phase() == Phase::evaluating && leases_) leases_->begin_evaluation(true);
    tell(context);
    serve_early(context);
  }

  /// What an earlier data loader of this run had done, perhaps nothing: this one goes on from there.
  void on(Context& context, ActorId from, DataProgress&& message) {
    if (from != kAggregator || !leases_ || resumed_ || message.generation != membership_.generation()) return;
    if (!leases_->resume(message, earlier_ ? &*earlier_ : nullptr)) {
      return membership_.leave(context, ExitCode::config,
                               "the run's data cursor does not fit this dataset: is it another one than before?");
    }
    resumed_ = true;
    tell(context);
    serve_early(context);
  }

  void on(Context& context, ActorId from, BatchRequest&& message) {
    if (membership_.find(from) == nullptr) return context.count("requests_refused", 1);
    if (!ready()) {  // to say that there is no data would make it idle, and the others begin without it
      early_[from] = std::move(message);
      return;
    }
    serve(context, from, message);
  }

 private:
  [[nodiscard]] const Job& job() const { return membership_.job(); }

  [[nodiscard]] bool ready() const { return leases_ && resumed_ && membership_.phase() != Phase::waiting; }

  void serve_early(Context& context) {
    if (!ready()) return;
    for (const auto& [from, message] : std::exchange(early_, {})) {
      if (membership_.find(from) != nullptr) serve(context, from, message);
    }
  }

  void serve(Context& context, ActorId from, const BatchRequest& message) {
    std::uint64_t& newest = requests_[from];
    if (message.sequence <= newest) return context.count("requests_late", 1);
    newest = message.sequence;
    for (const LeaseResult& result : message.done) complete(context, from, result);
    leases_->reclaim(from, message.holding, context.now() - kLostAfter);
    const Phase phase = membership_.phase();
    Supply supply = leases_->finished() ? Supply::finished : Supply::none_now;
    std::size_t working = leases_->held_by(from) - std::min<std::size_t>(message.settling, leases_->held_by(from));
    while (working < message.capacity && ((phase == Phase::training && !membership_.held()) || phase == Phase::evaluating)) {
      const Lease* lease = leases_->issue(from, context.now(), phase == Phase::training);
      if (lease == nullptr) break;
      supply = Supply::more;
      if (!send(context, from, *lease)) break;
      ++working;
    }
    if (working >= message.capacity && !leases_->finished()) supply = Supply::more;
    (void)context.send(from, LeaseUpdate{message.sequence, supply});  // lost: the next request is answered
    if (leases_->finished()) tell(context);
    report_paused(context);
  }

  void begin(Context& context) {
    const std::string wanted = job().dataset + " " + std::to_string(job().seed);
    if (!samples_ || loaded_ != wanted) {  // else from an earlier generation
      auto samples = Samples::load(source_, job());
      if (!samples.ok()) return membership_.leave(context, Samples::exit_code_of(samples.error()), samples.error().text);
      samples_.emplace(std::move(*samples));
      loaded_ = wanted;
    }
    const std::size_t train = samples_->split(Mode::train).size(), test = samples_->split(Mode::evaluate).size();
    context.log(Severity::info, "dataset loaded",
                {{"dataset", job().dataset}, {"train", std::to_string(train)}, {"test", std::to_string(test)}});
    if (leases_ && resumed_) earlier_ = leases_->progress();
    const std::uint64_t first_id = mutant(Mutant::lease_numbers_reused) ? 1 : context.random().next() >> 1;
    leases_.emplace(LeasePlan{train, test, job().batch, job().epochs, job().samples, job().evaluate_every, job().seed, first_id});
    requests_.clear();
    early_.clear();
    resumed_ = at_work_ = false;
    evaluations_.clear();
    loss_known_ = false;
    tell(context);
  }

  /// Nothing is with workers any more, and the aggregator has been told where the data stands.
  void report_paused(Context& context) {
    if (!leases_ || membership_.phase() != Phase::pausing || leases_->outstanding() > 0) return;
    tell(context);
    (void)context.send(kAggregator, PhaseReached{membership_.generation(), Phase::pausing, leases_->progress().samples_done});
  }

  void complete(Context& context, ActorId from, const LeaseResult& result) {
    const auto mode = leases_->complete(from, result);
    if (!mode) return;  // a repeat, or a lease that went to somebody else meanwhile
    if (*mode == Mode::train && result.samples > 0) {
      const double loss = result.loss_sum / result.samples;
      loss_ = loss_known_ ? kLossDecay * loss_ + (1 - kLossDecay) * loss : loss;
      loss_known_ = true;
      context.count("samples", result.samples);
    }
    if (auto evaluation = leases_->take_evaluation()) {
      evaluation->generation = membership_.generation();
      evaluations_.push_back(*evaluation);
    }
    tell_evaluations(context);
  }

  bool send(Context& context, ActorId worker, const Lease& lease) {
    const Instant began = context.now();
    Batch batch;
    batch.lease = lease.id;
    batch.mode = lease.mode;
    batch.epoch = lease.epoch;
    batch.progress = lease.progress;
    batch.ids = lease.samples;
    HG_CHECK(samples_->gather(batch).ok(), "leases are of samples that there are");
    if (job().local_data) Samples::strip(batch);
    if (context.send(worker, batch).ok()) {
      context.span(SpanKind::load, began, {.out = flow_id(Flow::batch, worker, lease.id)});
      if (!std::exchange(at_work_, true)) context.log(Severity::info, "at work", {{"epoch", std::to_string(lease.epoch)}});
      return true;
    }
    leases_->give_back(lease.id);
    return false;
  }

  void tell(Context& context) {
    if (!leases_) return;
    DataProgress progress = leases_->progress();
    progress.loss = loss_;
    progress.generation = membership_.generation();
    (void)context.send(kAggregator, progress);  // repeated twice a second
    tell_evaluations(context);
  }

  /// Few and small: each is repeated until the run ends, the aggregator knows them by number.
  void tell_evaluations(Context& context) {
    for (const EvaluationResult& result : evaluations_) (void)context.send(kAggregator, result);
    if (evaluations_.size() > 1) evaluations_.erase(evaluations_.begin(), evaluations_.end() - 1);
  }

  MembershipClient membership_;
  DatasetSource source_;
  std::optional<Samples> samples_;
  std::string loaded_;  ///< what they are
  std::optional<LeaseTable> leases_;
  std::optional<DataProgress> earlier_;        ///< of this process under an earlier generation of the aggregator
  bool resumed_ = false;                       ///< the aggregator has said where to begin
  bool at_work_ = false;                       ///< a batch of this membership is on its way
  std::map<ActorId, std::uint64_t> requests_;  ///< newest request of each worker
  std::map<ActorId, BatchRequest> early_;      ///< of members, before there is anything to hand out
  std::vector<EvaluationResult> evaluations_;
  double loss_ = 0;
  bool loss_known_ = false;
};

}  // namespace

std::unique_ptr<Actor> make_data_loader(DatasetSource source, ProcessIdentity identity) {
  return std::make_unique<DataLoader>(std::move(source), std::move(identity));
}

}  // namespace hourglass
