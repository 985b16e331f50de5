// SPDX-License-Identifier: Apache-2.0
// What can go wrong in a simulated cluster, and when: a script that people write as TOML, or a schedule that a seed draws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "messages/job.h"

namespace hourglass {

enum class FaultKind : std::uint8_t {
  crash,      ///< the process vanishes; after `restart_after` another takes its place
  stop,       ///< it is asked to leave (SIGTERM), and drains; likewise
  freeze,     ///< it stands still, hearts and all (SIGSTOP), for `lasts`
  hang,       ///< its main loop stands still, its heart beats on
  slow,       ///< it computes `factor` times as long
  cut,        ///< no message gets from `who` to `to` (and back), and those under way are lost
  clog,       ///< messages from `who` to `to` (and back) are held back until the end, then all arrive
  lossy,      ///< the link loses `factor` of its messages, and delivers half as many twice
  full_disk,  ///< whatever it writes fails
  join,       ///< one more process of that role
};
inline constexpr std::uint8_t kFaultKinds = 10;
std::string_view name_of(FaultKind kind);

/// "conv-worker 2": whoever is in the third place of its role when the fault comes; without a place, one that the seed picks.
struct Whom {
  Role role = Role::conv_worker;
  std::optional<std::size_t> place;
};
std::string to_string(const Whom& whom);

struct Fault {
  FaultKind kind = FaultKind::crash;
  Duration at{};  ///< since the start of the cluster
  Whom who;
  std::optional<Whom> to;                 ///< of cut, clog, lossy; empty: everybody
  bool one_way = false;                   ///< only from `who` to `to`
  Duration lasts{};                       ///< of what passes
  double factor = 0;                      ///< of slow and lossy
  std::optional<Duration> restart_after;  ///< of crash and stop; empty: never
  bool keeps_disk = true;                 ///< does its successor find the same disk?
};

constexpr std::size_t kFaultsMax = 10'000;

/// Reads a script: [[fault]] tables with the keys kind, at, who, to, one_way, for, factor, restart_after, keeps_disk (seconds are numbers).
/// Errors: bad_config, "FILE:LINE:COLUMN: what is wrong and what is allowed".
Result<std::vector<Fault>> parse_faults(std::string_view text, const std::string& name);
/// The same as a script.
std::string print_faults(const std::vector<Fault>& faults);

/// A schedule for this job: `count` faults between 0 and `within`, of every kind and role. Every process that ends is followed by
/// another, but for CONV workers that leave while others stay; everything heals. `spare_aggregator`: it neither crashes nor leaves.
std::vector<Fault> random_faults(const Job& job, std::size_t count, Duration within, bool spare_aggregator, Random& random);

}  // namespace hourglass
