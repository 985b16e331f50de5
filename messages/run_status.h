// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "messages/fields.h"
#include "messages/push_verdict.h"
#include "messages/run_phase.h"

namespace hourglass {

/// One row of the run's history.
struct HistoryRow {
  double seconds = 0;         ///< since training began
  std::uint64_t samples = 0;  ///< training samples completed
  std::uint64_t bytes = 0;    ///< socket bytes of all actors so far, by their last reports
  double loss = 0;            ///< test set
  double accuracy = 0;        ///< test set, 0..1

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.real(m.seconds);
    v.number(m.samples);
    v.number(m.bytes);
    v.real(m.loss);
    v.real(m.accuracy);
  }
};

/// One member as the aggregator sees it.
struct MemberStatus {
  ActorId id;
  std::uint32_t number = 0;
  std::string name;
  std::string endpoint;
  bool active = false;
  bool gone = false;
  std::uint64_t clock = 0;
  std::uint64_t version = 0;     ///< newest that it was sent
  double last_seen_seconds = 0;  ///< ago
  std::uint64_t progress_age_ms = 0;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.choice(m.id.role, kLastRole);
    v.number(m.id.index);
    v.number(m.number);
    v.text(m.name, limits::kNameBytes);
    v.text(m.endpoint, limits::kEndpointBytes);
    v.flag(m.active);
    v.flag(m.gone);
    v.number(m.clock);
    v.number(m.version);
    v.real(m.last_seen_seconds);
    v.number(m.progress_age_ms);
  }
};

/// Of one parameter group.
struct GroupStatus {
  std::uint64_t version = 0;
  std::uint64_t received = 0;             ///< unique pushes
  std::vector<std::uint64_t> by_verdict;  ///< indexed by Verdict; with `rolled_back` they sum to `received`
  std::uint64_t rolled_back = 0;          ///< were applied after the checkpoint that a restarted aggregator went on from
  std::uint64_t duplicates = 0;
  std::uint64_t staleness_max = 0;
  double staleness_mean = 0;
  std::vector<std::uint64_t> staleness_counts;  ///< applied pushes by staleness 0, 1, 2-3, 4-7, ...

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.version);
    v.number(m.received);
    v.packed(m.by_verdict, 16);
    v.number(m.rolled_back);
    v.number(m.duplicates);
    v.number(m.staleness_max);
    v.real(m.staleness_mean);
    v.packed(m.staleness_counts, 64);
  }
};

/// Aggregator -> monitor, each second and at each change of phase.
struct RunStatus {
  static constexpr MessageType kType = MessageType::run_status;
  std::uint64_t run = 0;
  std::uint32_t generation = 0;
  Phase phase = Phase::waiting;
  bool held = false;  ///< people have paused it
  std::string model, dataset;
  std::uint32_t epoch = 0, epochs = 0;
  std::uint64_t samples_done = 0, samples_total = 0, samples_repeated = 0;
  double seconds = 0;             ///< since training began
  double samples_per_second = 0;  ///< over the newest seconds
  double loss = 0;                ///< training, exponential mean
  double progress = 0;            ///< 0..1
  std::int64_t staleness_bound = 0;
  std::string message;              ///< whom or what the run waits for; empty: nobody
  std::string alarm;                ///< what people should look at, as a full disk; empty: nothing
  std::vector<GroupStatus> groups;  ///< conv, then fc
  std::vector<HistoryRow> history;
  std::vector<MemberStatus> members;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.run);
    v.number(m.generation);
    v.choice(m.phase, kLastPhase);
    v.flag(m.held);
    v.text(m.model, limits::kSpecBytes);
    v.text(m.dataset, limits::kNameBytes);
    v.number(m.epoch);
    v.number(m.epochs);
    v.number(m.samples_done);
    v.number(m.samples_total);
    v.number(m.samples_repeated);
    v.real(m.seconds);
    v.real(m.samples_per_second);
    v.real(m.loss);
    v.real(m.progress);
    v.number(m.staleness_bound);
    v.text(m.message, limits::kTextBytes);
    v.text(m.alarm, limits::kTextBytes);
    v.items(m.groups, kGroups);
    v.items(m.history, 10000);
    v.items(m.members, limits::kMembers);
  }
};

}  // namespace hourglass
