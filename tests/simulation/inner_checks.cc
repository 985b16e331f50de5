// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/inner_checks.h"

#include <cmath>

#include "actors/job_model.h"
#include "base/bytes.h"
#include "base/check.h"
#include "learning/compress/compressor.h"
#include "learning/compress/error_feedback.h"

namespace hourglass {
namespace {

constexpr double kTolerance = 1e-4;  ///< of all that was ever stepped: floats are rounded on the way

/// A projection on fixed signs: what is conserved in every coordinate is conserved in it.
double project(std::span<const float> values) {
  double sum = 0;
  std::uint64_t bits = 0x9E3779B97F4A7C15;
  for (const float value : values) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    sum += (bits & 1) != 0 ? value : -value;
  }
  return sum;
}

double project(const GradientPush& push, std::size_t size) {
  std::vector<float> values(size, 0.0F);
  for (const GradientBlock& block : push.blocks) HG_CHECK(compress::accumulate(block, values).ok(), "pushes here fit their group");
  return project(values);
}

}  // namespace

InnerChecks::InnerChecks(Trial& trial) : trial_(trial) {
  const Job& job = trial.cluster().job();
  const auto model = make_job_model(job);
  HG_CHECK(model.ok(), "a trial's model is valid");
  conv_size_ = model->conv.size();
  fc_size_ = model->fc.size();
  const auto memory = compress::ErrorFeedback::make(job.compress, model->conv_segments, conv_size_);
  HG_CHECK(memory.ok(), "a trial's compressor is valid");
  conserves_ = memory->conserves();
  trial.cluster().reactor().add_post_tap([this](const sim::Delivery& delivery) { see_posted(delivery); });
  trial.cluster().reactor().add_tap([this](const sim::Delivery& delivery) { see_handled(delivery); });
  HG_CHECK(witness == nullptr, "one witness at a time");
  witness = this;
}

InnerChecks::~InnerChecks() { witness = nullptr; }

void InnerChecks::published(std::uint64_t version, std::span<const float> values) {
  if (trial_.cluster().reactor().acting() != kAggregator) return;
  published_[{values.size(), version}].insert(fingerprint(std::as_bytes(values)));
}

void InnerChecks::followed(std::uint64_t version, std::span<const float> values) {
  const auto truth = published_.find({values.size(), version});
  if (version == 0 || truth == published_.end()) return;  // initial values; the only FC worker's own
  ++copies_compared_;
  if (truth->second.contains(fingerprint(std::as_bytes(values)))) return;
  trial_.checks().add_to().add(trial_.cluster().reactor().now(), "no torn parameters",
                               to_string(trial_.cluster().reactor().acting()) + " holds other values as version " +
                                   std::to_string(version) + " than were published");
}

void InnerChecks::stepped(std::span<const float> delta) {
  Mass& mass = masses_[trial_.cluster().reactor().acting()];
  mass.stepped += project(delta);
  for (const float value : delta) mass.size += std::abs(value);
}

void InnerChecks::held(std::span<const float> residual) {
  Mass& mass = masses_[trial_.cluster().reactor().acting()];
  mass.held = project(residual);
  mass.pushed = mass.stepped;
  mass.returned_then = mass.returned;
  ++mass.made;
}

void InnerChecks::see_handled(const sim::Delivery& delivery) {
  if (delivery.envelope.type == MessageType::welcome) {
    const auto welcome = decode<Welcome>(*delivery.envelope.body);
    const std::tuple joined{welcome->generation, welcome->attempt, welcome->first_clock};
    Mass& mass = masses_[delivery.to];
    if (joined <= mass.joined || !trial_.checks().heeds(delivery.to, *welcome)) return;
    mass = {};
    mass.joined = joined;
    mass.next = welcome->first_clock;
  } else if (delivery.envelope.type == MessageType::push_verdict) {
    const auto verdict = decode<PushVerdict>(*delivery.envelope.body);
    Mass& mass = masses_[delivery.to];
    const auto open = mass.open.find(verdict->clock);
    if (open == mass.open.end()) return;
    if (verdict->verdict != Verdict::applied) mass.returned += open->second;
    mass.open.erase(open);
  }
}

void InnerChecks::see_posted(const sim::Delivery& delivery) {
  if (delivery.envelope.type != MessageType::gradient_push || delivery.envelope.from.role == Role::tree_node) return;
  const auto push = decode<GradientPush>(*delivery.envelope.body);
  Mass& mass = masses_[delivery.envelope.from];
  if (push->clock < mass.next) return;  // a repeat
  mass.next = push->clock + 1;
  const double sent = project(*push, group_size(push->group));
  mass.sent += sent;
  mass.open[push->clock] = sent;
  if (++mass.posted != mass.made) return;
  if (!mass.inherited) {
    mass.inherited = mass.sent - mass.returned_then + mass.held - mass.pushed;
  } else {
    weigh(delivery.at, delivery.envelope.from, mass);
  }
}

void InnerChecks::weigh(Instant at, ActorId worker, const Mass& mass) {
  if (!conserves_ || trial_.cluster().reactor().metrics_of(worker).value("steps_nonfinite") > 0) return;
  ++masses_weighed_;
  const double away = *mass.inherited + mass.pushed - (mass.sent - mass.returned_then + mass.held);
  if (std::abs(away) <= kTolerance * (1 + mass.size)) return;
  trial_.checks().add_to().add(at, "error feedback loses nothing",
                               to_string(worker) + " has stepped " + std::to_string(mass.pushed) + ", sent " + std::to_string(mass.sent) +
                                   ", got back " + std::to_string(mass.returned_then) + " and holds " + std::to_string(mass.held));
}

}  // namespace hourglass
