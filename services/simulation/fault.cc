// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/fault.h"

#include <algorithm>
#include <array>
#include <utility>

#include "actors/tree.h"

namespace hourglass {
namespace {

constexpr std::array<std::string_view, kFaultKinds> kNames = {"crash", "stop", "freeze", "hang",      "slow",
                                                              "cut",   "clog", "lossy",  "full_disk", "join"};

Duration between(Random& random, double low, double high) {
  return from_seconds(static_cast<double>(static_cast<std::uint64_t>(1000 * (low + (high - low) * random.uniform()))) / 1000);
}

/// Roles of which this job has processes, the more interesting ones more often.
std::vector<Role> victims(const Job& job, bool aggregator) {
  const std::pair<Role, std::size_t> shares[] = {{Role::conv_worker, 3},
                                                 {Role::data_loader, 1},
                                                 {Role::fc_worker, job.fc_workers > 0 ? 2 : 0},
                                                 {Role::tree_node, Tree::nodes_wanted(job) > 0 ? 3 : 0},
                                                 {Role::aggregator, aggregator ? 2 : 0}};
  std::vector<Role> out;
  for (const auto& [role, times] : shares) {
    for (std::size_t i = 0; i < times; ++i) out.push_back(role);
  }
  return out;
}

Fault random_fault(const Job& job, Duration within, bool spare_aggregator, Random& random) {
  Fault out;
  out.at = between(random, 0, seconds(within));
  const std::uint64_t draw = random.below(20);
  out.kind = draw < 7    ? FaultKind::crash
             : draw < 9  ? FaultKind::stop
             : draw < 11 ? FaultKind::freeze
             : draw < 12 ? FaultKind::hang
             : draw < 13 ? FaultKind::slow
             : draw < 15 ? FaultKind::cut
             : draw < 16 ? FaultKind::clog
             : draw < 18 ? FaultKind::lossy
             : draw < 19 ? FaultKind::full_disk
                         : FaultKind::join;
  const bool ends = out.kind == FaultKind::crash || out.kind == FaultKind::stop;
  const auto roles = victims(job, !ends || !spare_aggregator);
  out.who.role = roles[random.below(roles.size())];
  out.lasts = between(random, 0.2, 9);
  switch (out.kind) {
    case FaultKind::crash:
    case FaultKind::stop:
      out.restart_after = between(random, 0, random.below(3) == 0 ? 0.3 : 4);     // soon enough for what was on its way, now and then
      out.keeps_disk = random.below(2) == 0 || out.who.role == Role::aggregator;  // without its disk it is another run
      if (out.who.role == Role::aggregator) out.kind = FaultKind::crash;          // asked to leave, it ends the run
      break;
    case FaultKind::slow: out.factor = static_cast<double>(2 + random.below(9)); break;
    case FaultKind::full_disk: out.who = {Role::aggregator, 0}; break;  // the others write nothing
    case FaultKind::join: out.who.role = Role::conv_worker; break;
    case FaultKind::lossy: out.factor = 0.1 + static_cast<double>(random.below(6)) / 10; [[fallthrough]];
    case FaultKind::cut:
    case FaultKind::clog: {
      const auto peers = victims(job, true);
      if (random.below(3) != 0) out.to = Whom{random.below(2) == 0 ? Role::aggregator : peers[random.below(peers.size())], {}};
      out.one_way = random.below(2) == 0;
      break;
    }
    case FaultKind::freeze:
    case FaultKind::hang: break;
  }
  return out;
}

}  // namespace

std::string_view name_of(FaultKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::string to_string(const Whom& whom) { return std::string(name_of(whom.role)) + (whom.place ? " " + std::to_string(*whom.place) : ""); }

std::vector<Fault> random_faults(const Job& job, std::size_t count, Duration within, bool spare_aggregator, Random& random) {
  std::vector<Fault> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(random_fault(job, within, spare_aggregator, random));
    const Fault crash = out.back();
    if (crash.kind != FaultKind::crash || crash.who.role != Role::aggregator || random.below(4) == 0) continue;
    Fault late;  // what was sent to one life comes to the next
    late.kind = FaultKind::clog;
    late.at = std::max(Duration::zero(), crash.at - between(random, 0, 0.5));
    late.who.role = Role::conv_worker;
    late.to = crash.who;
    late.one_way = true;
    late.lasts = crash.at - late.at + *crash.restart_after + between(random, 0, 2);
    out.push_back(late);
  }
  std::stable_sort(out.begin(), out.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
  return out;
}

}  // namespace hourglass
