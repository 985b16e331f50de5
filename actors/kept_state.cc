// SPDX-License-Identifier: Apache-2.0
#include "actors/kept_state.h"

#include "learning/params/server_rule.h"

namespace hourglass {

void inherit(Context& context, const Welcome& welcome, params::Replica&& earlier, params::Replica& next) {
  if (earlier.size() != next.size() || params::warms_up_uncompressed(welcome.job)) {
    context.count("residuals_lost", earlier.residual_norm() > 0 ? 1 : 0);
    return;
  }
  const double norm = earlier.residual_norm();
  note_inheritance(context, next.inherit(std::move(earlier), marks_of(welcome)), norm);
}

std::optional<params::PushMarks> marks_of(const Welcome& welcome) {
  return welcome.has_marks ? std::optional(params::PushMarks{welcome.contained, welcome.rejected}) : std::nullopt;
}

void note_inheritance(Context& context, const params::Inheritance& taken, double norm) {
  context.count("pushes_returned", static_cast<double>(taken.returned));
  context.count("pushes_lost", static_cast<double>(taken.lost));
  if (!taken.kept_residual) {
    context.count("residuals_lost", 1);
    context.count("residual_norm_lost", norm);
  }
  if (taken.returned + taken.lost == 0) return;
  context.log(Severity::warning, "pushes did not come through",
              {{"returned_to_residual", std::to_string(taken.returned)}, {"lost", std::to_string(taken.lost)}});
}

void KeptState::begin(Context& context, const Welcome& welcome) {
  fetch_.reset();
  picture_.clear();
  number_ = 0;
  if (!welcome.has_state) return;
  fetch_.emplace(kAggregator, welcome.generation, 0);
  fetch_->ask(context);
}

void KeptState::tick(Context& context) {
  if (fetch_) fetch_->tick(context);
}

std::optional<WorkerState> KeptState::take(Context& context, ActorId from, const StateChunk& chunk) {
  if (!fetch_) return std::nullopt;
  const auto whole = fetch_->take(context, from, chunk);
  if (!whole) return std::nullopt;
  fetch_.reset();
  auto state = decode_worker_state(*whole);
  if (state.ok()) return std::move(*state);
  context.log(Severity::warning, "the state of an earlier process cannot be read; this one starts afresh", {{"cause", state.error().text}});
  return WorkerState{};
}

WorkerState state_of(Context& context, const params::Optimizer& optimizer, std::span<const float> residual, std::uint64_t version) {
  WorkerState out;
  out.version = version;
  ArchiveWriter saved;
  optimizer.save(saved);
  out.optimizer = saved.take();
  out.residual.assign(residual.begin(), residual.end());
  out.random = context.random().state();
  return out;
}

void adopt_state(Context& context, const WorkerState& state, params::Optimizer& optimizer, params::Replica* replica) {
  if (state.random != Random::State{}) context.random().resume(state.random);
  ArchiveWriter before;
  optimizer.save(before);
  ArchiveReader in(state.optimizer);
  optimizer.load(in);
  if (!in.complete()) {
    const Bytes fresh = before.take();
    ArchiveReader back(fresh);
    optimizer.load(back);
  }
  const bool held = replica == nullptr || state.residual.empty() ||
                    (state.residual.size() == replica->size() && replica->adopt_residual(state.residual).ok());
  if (!held) context.count("residuals_lost", 1);
  context.log(Severity::info, "went on from an earlier process's state",
              {{"optimizer", in.complete() ? "kept" : "afresh"}, {"residual", held ? "kept" : "lost"}});
}

}  // namespace hourglass
