// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/member_table.h"

#include <algorithm>
#include <set>

namespace hourglass {

Result<MemberTable::Row*> MemberTable::add(ActorId id, const Hello& hello, const std::string& endpoint, Instant now) {
  if (rows_.size() >= kMembersMax) return {Errc::over_limit, "this run has its " + std::to_string(kMembersMax) + " members already"};
  std::set<std::uint32_t> taken;
  for (const auto& [other, row] : rows_) {
    if (other.role == id.role) taken.insert(row.member.number);
  }
  std::uint32_t number = 0;
  while (taken.contains(number)) ++number;
  Row row;
  row.member = {id, number, hello.name, endpoint, true};
  row.incarnation = hello.incarnation;
  row.attempt = hello.attempt;
  row.joined = row.last_seen = now;
  const auto before = memberships_.find(id);
  row.membership = before == memberships_.end() ? hello.attempt : std::max(hello.attempt, before->second + 1);
  if (memberships_.size() >= kMembershipsKept && before == memberships_.end()) memberships_.erase(memberships_.begin());
  memberships_[id] = row.membership;
  if (const auto late = late_.find(id); late != late_.end()) {  // back again: its own reports count, and they are cumulative
    for (const auto& [name, value] : late->second) left_behind_[id.role][name] -= value;
    row.metrics = std::move(late->second);
    late_.erase(late);
  }
  return &rows_.insert_or_assign(id, std::move(row)).first->second;
}

void MemberTable::remove(ActorId id, Instant now) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return;
  const Row& row = found->second;
  MemberStatus status;
  status.id = id;
  status.number = row.member.number;
  status.name = row.member.name;
  status.endpoint = row.member.endpoint;
  status.gone = true;
  status.last_seen_seconds = seconds(now - row.last_seen);
  departed_.push_back(std::move(status));
  if (departed_.size() > kDepartedKept) departed_.erase(departed_.begin());
  for (const auto& [name, value] : row.metrics) left_behind_[id.role][name] += value;
  if (late_.size() >= kDepartedKept) late_.erase(late_.begin());
  late_[id] = row.metrics;
  rows_.erase(found);
}

void MemberTable::excuse(Duration pause, Instant now) {
  for (auto& [id, row] : rows_) row.last_seen = std::min(now, row.last_seen + pause);
}

MemberTable::Row* MemberTable::find(ActorId id) {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

std::size_t MemberTable::count(Role role) const {
  return static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), [&](const auto& row) { return row.first.role == role; }));
}

std::optional<ActorId> MemberTable::silent(Role role, Instant before) const {
  for (const auto& [id, row] : rows_) {
    if (id.role == role && row.last_seen < before) return id;
  }
  return std::nullopt;
}

std::vector<ActorId> MemberTable::ids(Role role) const {
  std::vector<ActorId> out;
  for (const auto& [id, row] : rows_) {
    if (id.role == role) out.push_back(id);
  }
  return out;
}

Roster MemberTable::roster(std::uint32_t generation, std::uint64_t revision) const {
  Roster out;
  out.generation = generation;
  out.revision = revision;
  for (const auto& [id, row] : rows_) out.members.push_back(row.member);
  return out;
}

void MemberTable::take(ActorId id, const MetricReport& report) {
  std::map<std::string, double> values;
  for (const MetricValue& value : report.values) values[value.name] = value.value;
  if (Row* row = find(id)) {
    row->metrics = std::move(values);
    return;
  }
  const auto late = late_.find(id);  // its last words came after it was removed: they replace what was counted for it
  if (late == late_.end()) return;
  for (const auto& [name, value] : late->second) left_behind_[id.role][name] -= value;
  for (const auto& [name, value] : values) left_behind_[id.role][name] += value;
  late->second = std::move(values);
}

namespace {
constexpr std::uint64_t kNamesMax = 1U << 20;

void put_metrics(ArchiveWriter& out, const std::map<std::string, double>& metrics) {
  out.put(static_cast<std::uint64_t>(metrics.size()));
  for (const auto& [name, value] : metrics) {
    out.put_text(name);
    out.put(value);
  }
}

std::map<std::string, double> get_metrics(ArchiveReader& in) {
  std::map<std::string, double> out;
  const auto count = in.get_up_to<std::uint64_t>(kNamesMax);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::string name = in.get_text();
    out[name] = in.get<double>();
  }
  return out;
}
}  // namespace

void MemberTable::save_metrics(ArchiveWriter& out) const {
  auto left = left_behind_;
  auto late = late_;
  for (const auto& [id, row] : rows_) {  // as if it had left
    for (const auto& [name, value] : row.metrics) left[id.role][name] += value;
    late[id] = row.metrics;
  }
  out.put(static_cast<std::uint64_t>(left.size()));
  for (const auto& [role, metrics] : left) {
    out.put(role);
    put_metrics(out, metrics);
  }
  out.put(static_cast<std::uint64_t>(late.size()));
  for (const auto& [id, metrics] : late) {
    out.put(id.role);
    out.put(id.index);
    put_metrics(out, metrics);
  }
}

void MemberTable::load_metrics(ArchiveReader& in) {
  const auto roles = in.get_up_to<std::uint64_t>(kRoles);
  for (std::uint64_t i = 0; i < roles && in.ok(); ++i) {
    const auto role = static_cast<Role>(in.get_up_to<std::uint8_t>(kRoles - 1));
    left_behind_[role] = get_metrics(in);
  }
  const auto members = in.get_up_to<std::uint64_t>(kMembersMax + kDepartedKept);
  for (std::uint64_t i = 0; i < members && in.ok(); ++i) {
    ActorId id;
    id.role = static_cast<Role>(in.get_up_to<std::uint8_t>(kRoles - 1));
    in.get(id.index);
    late_[id] = get_metrics(in);
  }
}

double MemberTable::total(Role role, const std::string& metric) const {
  double sum = 0;
  const auto value_in = [&](const std::map<std::string, double>& metrics) {
    const auto found = metrics.find(metric);
    return found == metrics.end() ? 0.0 : found->second;
  };
  const auto left = left_behind_.find(role);
  if (left != left_behind_.end()) sum += value_in(left->second);
  for (const auto& [id, row] : rows_) {
    if (id.role == role) sum += value_in(row.metrics);
  }
  return sum;
}

std::map<std::string, double> MemberTable::totals(const std::string& prefix) const {
  std::map<std::string, double> out;
  const auto add = [&](const std::map<std::string, double>& metrics) {
    for (auto row = metrics.lower_bound(prefix); row != metrics.end() && row->first.starts_with(prefix); ++row)
      out[row->first] += row->second;
  };
  for (const auto& [role, metrics] : left_behind_) add(metrics);
  for (const auto& [id, row] : rows_) add(row.metrics);
  return out;
}

}  // namespace hourglass
