// SPDX-License-Identifier: Apache-2.0
// What the run tells the outside: status.json while it goes on, result.json at its end. Keys are documented in docs/operations.md.
#pragma once

#include <string>
#include <vector>

#include "actors/aggregator/final_replicas.h"
#include "actors/aggregator/member_table.h"
#include "actors/group_server.h"
#include "messages/job.h"
#include "messages/run_status.h"

namespace hourglass {

struct TrafficBytes {
  double payload = 0;
  double socket = 0;
};

/// Everything that the reports are made of; the aggregator fills it in.
struct RunFacts {
  const Job* job = nullptr;
  const MemberTable* members = nullptr;
  const std::map<std::string, double, std::less<>>* own_metrics = nullptr;  ///< the aggregator's
  const GroupServer* conv = nullptr;
  const GroupServer* fc = nullptr;  ///< null where the model is not cut
  std::uint64_t fc_version = 0;
  RunStatus status;  ///< without groups and members
  double bytes_per_second = 0;
  ReplicaCounts replicas;
};

/// Sent bytes of all actors, by kind of message; every message is counted once, at its sender.
TrafficBytes traffic_bytes(const RunFacts& facts, Traffic traffic);
double total_socket_bytes(const RunFacts& facts);
/// Without what evaluations cost: what a history row tells, so that rows may be as dense as one likes.
double training_socket_bytes(const RunFacts& facts);

/// With groups and members: what monitors are sent.
RunStatus full_status(const RunFacts& facts, Instant now);
std::string status_json(const RunFacts& facts);
/// `outcome`: "finished" or "stopped". `accuracy` and `loss` are of the last history row; null where there is none.
std::string result_json(const RunFacts& facts, const std::string& outcome, const std::string& model_file);

}  // namespace hourglass
