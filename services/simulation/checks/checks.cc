// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/checks/checks.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace hourglass::checks {

Checks::Checks(SimulatedCluster& cluster)
    : cluster_(cluster), order_(violations_), pushes_(cluster.job(), violations_), leases_(cluster.job(), pushes_, violations_) {
  cluster_.reactor().add_post_tap([this](const sim::Delivery& delivery) { posted(delivery); });
  cluster_.reactor().add_tap([this](const sim::Delivery& delivery) { handled(delivery); });
}

template <class M>
std::optional<M> Checks::read(const sim::Delivery& delivery) {
  auto message = decode<M>(*delivery.envelope.body);
  if (message.ok()) return std::move(*message);
  violations_.add(delivery.at, "well-formed",
                  std::string(name_of(delivery.envelope.type)) + " of " + to_string(delivery.envelope.from) + ": " + message.error().text);
  return std::nullopt;
}

void Checks::posted(const sim::Delivery& delivery) {
  const Envelope& envelope = delivery.envelope;
  order_.traffic(delivery.at, envelope, delivery.to);
  switch (envelope.type) {
    case MessageType::push_verdict:
      if (const auto m = read<PushVerdict>(delivery)) pushes_.posts(delivery.at, envelope.from, delivery.to, *m);
      return;
    case MessageType::parameter_update:
      if (const auto m = read<ParameterUpdate>(delivery)) {
        order_.posts(delivery.at, envelope.from, delivery.to, *m);
        if (envelope.from == kAggregator) pushes_.posts(delivery.at, *m);
      }
      return;
    case MessageType::batch:
      if (!delivery.taken) return;  // the loader takes the lease back
      if (const auto m = read<Batch>(delivery)) leases_.posts(delivery.at, envelope.from, delivery.to, *m);
      return;
    case MessageType::data_progress:
      if (envelope.from == kAggregator) return;
      if (const auto m = read<DataProgress>(delivery)) leases_.posts(delivery.at, envelope.from, *m);
      return;
    default: return envelope.from == kAggregator ? posted_by_aggregator(delivery) : posted_by_worker(delivery);
  }
}

void Checks::posted_by_aggregator(const sim::Delivery& delivery) {
  switch (delivery.envelope.type) {
    case MessageType::welcome:
      if (const auto m = read<Welcome>(delivery))
        order_.posts(delivery.at, *m), pushes_.posts(delivery.at, delivery.to, *m, journal_whole());
      return;
    case MessageType::roster:
      if (const auto m = read<Roster>(delivery)) order_.posts(delivery.at, *m), pushes_.posts(*m);
      return;
    case MessageType::run_phase:
      if (const auto m = read<RunPhase>(delivery)) order_.posts(delivery.at, *m);
      return;
    case MessageType::snapshot_chunk:
      if (const auto m = read<SnapshotChunk>(delivery)) pushes_.posts(delivery.at, *m);
      return;
    default: return;
  }
}

void Checks::posted_by_worker(const sim::Delivery& delivery) {
  const ActorId from = delivery.envelope.from;
  switch (delivery.envelope.type) {
    case MessageType::hello:
      if (const auto m = read<Hello>(delivery)) attempts_[from] = m->attempt;
      return;
    case MessageType::gradient_push:
      if (const auto m = read<GradientPush>(delivery)) {
        order_.generation(delivery.at, from, m->generation);
        pushes_.posts(delivery.at, from, *m);
      }
      return;
    case MessageType::activations:
      if (const auto m = read<Activations>(delivery)) order_.posts(delivery.at, from, *m);
      return;
    case MessageType::parameter_request:
      if (const auto m = read<ParameterRequest>(delivery)) order_.posts(delivery.at, from, *m);
      return;
    case MessageType::batch_request:
      if (const auto m = read<BatchRequest>(delivery)) {
        const Metrics& metrics = cluster_.reactor().metrics_of(from);
        leases_.posts(delivery.at, from, *m, metrics.value("steps_nonfinite") + metrics.value("batches_nonfinite") > 0);
      }
      return;
    default: return;
  }
}

void Checks::handled(const sim::Delivery& delivery) {
  const Envelope& envelope = delivery.envelope;
  switch (envelope.type) {
    case MessageType::gradient_push:
      if (const auto m = read<GradientPush>(delivery)) pushes_.handles(delivery.at, delivery.to, envelope.from, *m);
      return;
    case MessageType::push_verdict:
      if (const auto m = read<PushVerdict>(delivery)) pushes_.handles(delivery.to, *m);
      return;
    case MessageType::batch_request:
      if (const auto m = read<BatchRequest>(delivery)) leases_.handles(delivery.at, delivery.to, envelope.from, *m);
      return;
    case MessageType::welcome:
      if (const auto m = read<Welcome>(delivery); m && heeds(delivery.to, *m)) {
        order_.handles(delivery.to, *m);
        pushes_.handles(delivery.to, *m);
        leases_.handles(delivery.to, *m);
      }
      return;
    default: return;
  }
}

bool Checks::heeds(ActorId member, const Welcome& welcome) const {
  const auto said = attempts_.find(member);
  return said != attempts_.end() && said->second == welcome.attempt;
}

void Checks::at_end(bool finished, bool loss_falls) {
  if (!finished) return violations_.add(now(), "liveness", "all is healed, and training does not end: " + cluster_.file("status.json"));
  const sim::Exit* exit = cluster_.reactor().exit_of(kAggregator);
  if (exit != nullptr && exit->code == ExitCode::io && cluster_.reactor().storage("aggregator").full()) return;  // as it should
  if (exit != nullptr && exit->code != ExitCode::ok) return violations_.add(now(), "liveness", "the aggregator ends with: " + exit->reason);
  const std::size_t credit = cluster_.network_options().credit_bytes;
  if (cluster_.reactor().credit_used_max() > std::max(credit, cluster_.reactor().largest_message())) {
    violations_.add(now(), "memory within credit",
                    std::to_string(cluster_.reactor().credit_used_max()) + " bytes were queued for one peer");
  }
  const auto result = nlohmann::json::parse(cluster_.file("result.json"), nullptr, false);
  if (!result.is_object()) return violations_.add(now(), "liveness", "no result.json");
  if (result.value("status", "") != "finished") violations_.add(now(), "liveness", "the run's status is " + result.value("status", "none"));
  ledger(cluster_.file("result.json"));
  const auto samples = result.at("samples").get<std::uint64_t>();
  if (cluster_.job().samples > 0 && samples != cluster_.job().samples) {
    violations_.add(now(), "each sample once", "the run ends with " + std::to_string(samples) + " samples done");
  }
  leases_.at_end(now(), samples, result.at("samples_repeated").get<std::uint64_t>());
  const auto& loss = result.at("loss");
  const double guess = std::log(static_cast<double>(cluster_.job().classes));
  if (!loss.is_number()) {
    violations_.add(now(), "the loss falls", "there is no final evaluation");
  } else if (!std::isfinite(loss.get<double>()) || (loss_falls && loss.get<double>() >= guess)) {
    violations_.add(now(), "the loss falls", "the test loss is " + loss.dump() + "; guessing has " + std::to_string(guess));
  }
}

/// received = applied + rejected by reason + rolled back, as the run says it and as it was counted here.
void Checks::ledger(const std::string& text) {
  const auto result = nlohmann::json::parse(text);
  const auto& ledger = result.at("ledger");
  const auto rolled_back = ledger.at("rolled_back").get<std::uint64_t>();
  std::uint64_t settled = ledger.at("applied").get<std::uint64_t>() + rolled_back;
  for (const auto& [reason, count] : ledger.at("rejected").items()) settled += count.get<std::uint64_t>();
  const auto wrong = [&](const std::string& what, std::uint64_t said, std::uint64_t counted) {
    if (said != counted) {
      violations_.add(now(), "the ledger balances",
                      what + ": the run says " + std::to_string(said) + ", counted are " + std::to_string(counted));
    }
  };
  wrong("received", ledger.at("received").get<std::uint64_t>(), settled);
  const PushCheck::Books &conv = pushes_.books(Group::conv), &fc = pushes_.books(Group::fc);
  if (cluster_.job().tree_arity > 0) return;  // "applied" may also be what a parent knows of a node that is gone
  if (!pushes_.restarted() || journal_whole()) wrong("received", ledger.at("received").get<std::uint64_t>(), conv.received + fc.received);
  if (pushes_.restarted()) return;
  wrong("applied", ledger.at("applied").get<std::uint64_t>(), conv.versions + fc.versions);
  wrong("the conv group's version", result.at("versions").at("conv").get<std::uint64_t>(), conv.versions);
  if (cluster_.job().fc_workers > 1) wrong("the fc group's version", result.at("versions").at("fc").get<std::uint64_t>(), fc.versions);
  for (const auto& [reason, count] : ledger.at("rejected").items()) {
    std::uint64_t counted = 0;
    for (const PushCheck::Books* books : {&conv, &fc}) {
      for (const auto& [verdict, times] : books->by_verdict) counted += name_of(verdict) == reason ? times : 0;
    }
    wrong("rejected as " + reason, count.get<std::uint64_t>(), counted);
  }
}

}  // namespace hourglass::checks
