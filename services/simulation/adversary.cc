// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/adversary.h"

#include <algorithm>
#include <memory>

namespace hourglass {

Adversary::Adversary(SimulatedCluster& cluster, std::vector<Fault> faults, std::uint64_t seed)
    : cluster_(cluster), faults_(std::move(faults)), random_(Random(seed).fork("adversary")) {
  for (const Fault& fault : faults_) {
    healed_at_ = std::max(healed_at_, fault.at + std::max(fault.lasts, fault.restart_after.value_or(Duration::zero())));
    cluster_.reactor().at(Instant(fault.at), [this, &fault] {
      if (!cluster_.finished()) strike(fault);
    });
  }
}

std::optional<std::size_t> Adversary::pick(const Whom& whom) {
  std::vector<std::size_t> living;
  for (std::size_t place = 0; place < cluster_.places(whom.role); ++place) {
    if (cluster_.reactor().live(cluster_.at(whom.role, place)) && whom.place.value_or(place) == place) living.push_back(place);
  }
  if (living.empty()) return std::nullopt;
  return living[random_.below(living.size())];
}

void Adversary::strike(const Fault& fault) {
  if (fault.kind == FaultKind::join) {
    ++happened_.at(static_cast<std::size_t>(fault.kind));
    return say("join: " + to_string(cluster_.add(fault.who.role)));
  }
  const auto place = pick(fault.who);
  if (!place) return say(std::string(name_of(fault.kind)) + ": no living " + to_string(fault.who));
  const ActorId victim = cluster_.at(fault.who.role, *place);
  ++happened_.at(static_cast<std::size_t>(fault.kind));
  say(std::string(name_of(fault.kind)) + ": " + to_string(victim) + " (" + std::string(name_of(victim.role)) + " " +
      std::to_string(*place) + ")");
  switch (fault.kind) {
    case FaultKind::crash:
    case FaultKind::stop: return end(fault, *place, victim);
    case FaultKind::freeze: return cluster_.reactor().freeze(victim, fault.lasts);
    case FaultKind::hang: return cluster_.reactor().hang(victim, fault.lasts);
    case FaultKind::slow: return slow(fault, victim);
    case FaultKind::cut:
    case FaultKind::clog:
    case FaultKind::lossy: return trouble_links(fault, victim);
    case FaultKind::full_disk: return fill_disk(fault, *place);
    case FaultKind::join: return;
  }
}

void Adversary::end(const Fault& fault, std::size_t place, ActorId victim) {
  ++ended_.at(static_cast<std::size_t>(victim.role));
  if (fault.kind == FaultKind::crash) {
    cluster_.reactor().crash(victim);
  } else {
    cluster_.reactor().terminate(victim);
  }
  if (!fault.restart_after) return;
  // One that was asked to leave may take a while: its successor waits for it, as a supervisor would.
  const auto restart = std::make_shared<std::function<void()>>();
  *restart = [this, role = victim.role, place, victim, keeps_disk = fault.keeps_disk, weak = std::weak_ptr(restart)] {
    constexpr Duration kLookAgain = std::chrono::milliseconds(500);
    if (cluster_.finished() || cluster_.at(role, place) != victim) return;
    if (cluster_.reactor().live(victim)) {
      after(kLookAgain, [again = weak.lock()] { (*again)(); });
      return;
    }
    say("restart: " + to_string(cluster_.restart(role, place, keeps_disk)) + (keeps_disk ? "" : ", its disk is empty"));
  };
  after(*fault.restart_after, [restart] { (*restart)(); });
}

void Adversary::slow(const Fault& fault, ActorId victim) {
  Instant& until = slow_until_[victim];
  until = std::max(until, cluster_.reactor().now() + fault.lasts);
  cluster_.reactor().slow_down(victim, fault.factor);
  after(fault.lasts, [this, victim] {
    if (cluster_.reactor().now() >= slow_until_[victim]) cluster_.reactor().slow_down(victim, 1);
  });
}

std::vector<Adversary::Pair> Adversary::links(const Fault& fault, ActorId victim) {
  std::vector<ActorId> others;
  if (fault.to) {
    if (const auto place = pick(*fault.to)) others.push_back(cluster_.at(fault.to->role, *place));
  } else {
    others = cluster_.reactor().live_actors();
  }
  std::vector<Pair> out;
  for (const ActorId other : others) {
    if (other == victim) continue;
    out.emplace_back(victim, other);
    if (!fault.one_way) out.emplace_back(other, victim);
  }
  return out;
}

void Adversary::trouble_links(const Fault& fault, ActorId victim) {
  sim::Network& network = cluster_.reactor().network();
  const Instant until = cluster_.reactor().now() + fault.lasts;
  for (const Pair& pair : links(fault, victim)) {
    if (fault.kind == FaultKind::clog) {
      network.clog(pair.first, pair.second, until);
    } else if (fault.kind == FaultKind::cut) {
      network.block_one_way(pair.first, pair.second);
      cut_until_[pair] = std::max(cut_until_[pair], until);
      after(fault.lasts, [this, pair] {
        if (cluster_.reactor().now() >= cut_until_[pair]) cluster_.reactor().network().heal_one_way(pair.first, pair.second);
      });
    } else {
      sim::Link link = network.default_link();
      const sim::Link usual = link;
      link.loss = std::max(link.loss, fault.factor);
      link.duplication = std::max(link.duplication, fault.factor / 2);
      network.set_link(pair.first, pair.second, link);
      lossy_until_[pair] = std::max(lossy_until_[pair], until);
      after(fault.lasts, [this, pair, usual] {
        if (cluster_.reactor().now() >= lossy_until_[pair]) cluster_.reactor().network().set_link(pair.first, pair.second, usual);
      });
    }
  }
}

void Adversary::fill_disk(const Fault& fault, std::size_t place) {
  const std::string name = cluster_.storage_name(fault.who.role, place);
  full_until_[name] = std::max(full_until_[name], cluster_.reactor().now() + fault.lasts);
  cluster_.reactor().storage(name).set_full(true);
  after(fault.lasts, [this, name] {
    if (cluster_.reactor().now() >= full_until_[name]) cluster_.reactor().storage(name).set_full(false);
  });
}

void Adversary::after(Duration delay, std::function<void()> action) {
  cluster_.reactor().at(cluster_.reactor().now() + delay, std::move(action));
}

void Adversary::say(const std::string& what) {
  if (log_) log_(what);
}

}  // namespace hourglass
