// SPDX-License-Identifier: Apache-2.0
// Who takes part: numbers, endpoints, signs of life, newest metrics.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/archive.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "messages/all_messages.h"

namespace hourglass {

class MemberTable {
 public:
  static constexpr std::size_t kMembersMax = limits::kMembers;
  static constexpr std::size_t kMembershipsKept = 16 * limits::kMembers;
  static constexpr std::size_t kDepartedKept = 64;  ///< whose last metrics and status are remembered one by one

  struct Row {
    Member member;
    std::uint64_t incarnation = 0;
    std::uint32_t attempt = 0;
    std::uint64_t first_clock = 0;  ///< of its pushes
    /// Rises each time it joins; above `attempt` where a Hello came late that it had said before it was lost.
    std::uint32_t membership = 0;
    Instant joined{};
    Instant last_seen{};
    std::uint64_t progress_age_ms = 0;
    std::uint64_t activity_sequence = 0;
    std::map<std::string, double> metrics;
  };

  /// Adds a member with the smallest free number of its role. Errors: over_limit.
  Result<Row*> add(ActorId id, const Hello& hello, const std::string& endpoint, Instant now);
  void remove(ActorId id, Instant now);
  Row* find(ActorId id);
  /// For so long nobody could be heard.
  void excuse(Duration pause, Instant now);
  [[nodiscard]] const std::map<ActorId, Row>& rows() const { return rows_; }
  [[nodiscard]] std::size_t count(Role role) const;
  /// A member of this role that has been silent for so long, if any: a newcomer takes its place.
  [[nodiscard]] std::optional<ActorId> silent(Role role, Instant before) const;
  [[nodiscard]] std::vector<ActorId> ids(Role role) const;

  [[nodiscard]] Roster roster(std::uint32_t generation, std::uint64_t revision) const;
  void take(ActorId id, const MetricReport& report);
  /// Sum of a metric over a role's members, those that have left included.
  [[nodiscard]] double total(Role role, const std::string& metric) const;
  /// Sums over all roles of the metrics whose names begin so.
  [[nodiscard]] std::map<std::string, double> totals(const std::string& prefix) const;
  /// The metrics, so that the books go on in another life; load() before anybody is added. Who joins again is counted by its own reports.
  void save_metrics(ArchiveWriter& out) const;
  void load_metrics(ArchiveReader& in);
  [[nodiscard]] const std::vector<MemberStatus>& departed() const { return departed_; }

 private:
  std::map<ActorId, Row> rows_;
  std::map<Role, std::map<std::string, double>> left_behind_;  ///< summed metrics of the departed
  std::map<ActorId, std::map<std::string, double>> late_;      ///< the newest departed: what left_behind_ holds for each
  std::vector<MemberStatus> departed_;
  std::map<ActorId, std::uint32_t> memberships_;  ///< of all that ever joined; beyond kMembershipsKept one makes room for another
};

}  // namespace hourglass
