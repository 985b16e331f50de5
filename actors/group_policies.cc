// SPDX-License-Identifier: Apache-2.0
#include "actors/group_policies.h"

#include <algorithm>

namespace hourglass {

Result<GroupPolicies> GroupPolicies::make(const Job& job, Group group, std::uint32_t buffer) {
  GroupPolicies out;
  out.buffer_ = buffer;
  auto stale = params::make_stale_policy(job.stale_policy);
  if (!stale.ok()) return stale.error();
  out.stale_ = std::move(*stale);
  if (group == Group::fc) return out;  // its pace is that of the CONV workers' batches
  auto bound = params::make_bound_policy(job.bound_policy);
  if (!bound.ok()) return bound.error();
  out.bound_ = std::move(*bound);
  auto local = params::make_local_policy(job);
  if (!local.ok()) return local.error();
  out.local_ = std::move(*local);
  return out;
}

void GroupPolicies::pushed(Instant now, ActorId from, const GradientPush& push, params::ClockTable& clocks) {
  Member& member = members_[from];
  if (local_ && !push.flush) {
    params::UnitReport report;
    report.samples = push.samples;
    if (member.working_since) report.worked = now - *member.working_since;
    report.noise = {push.gradient_variance, push.gradient_norm_squared};
    local_->pushed(from, report);
  }
  if (bound_) bound_->pushed(from, now);
  if (bound_ && bound_->range() > 0 && !clocks.admits_next(from) && clocks.fastest(from)) {
    clocks.grant(from, bound_->grant(from, clocks.slowest_member()), bound_->range());
  }
  member.working_since = now;
  member.waiting = !clocks.admits_next(from);
  while (member.reads.size() > 1 && member.reads[1].version <= push.base_version) member.reads.erase(member.reads.begin());
}

void GroupPolicies::apply(params::ParameterStore& store, ActorId from, const GradientPush& push, const Standing& standing) {
  const double worth = push.flush ? 1 : weight(standing.versions, standing.members);  // a flush belongs to no version
  const std::vector<float>* read = compensation() == nullptr ? nullptr : read_by(from, push.base_version);
  store.apply(push.blocks, static_cast<float>(worth / static_cast<double>(standing.workers)), push.progress,
              read == nullptr ? nullptr : compensation(), read);
}

void GroupPolicies::answered(Instant now, ActorId to, std::uint64_t version, const std::vector<float>& values) {
  Member& member = members_[to];
  if (member.waiting) member.working_since = now;
  member.waiting = false;
  if (!compensation() || (!member.reads.empty() && member.reads.back().version == version)) return;
  std::shared_ptr<const std::vector<float>> copy;
  for (const auto& [id, other] : members_) {  // a round's members are sent the same version
    if (!other.reads.empty() && other.reads.back().version == version) copy = other.reads.back().values;
  }
  if (!copy) copy = std::make_shared<const std::vector<float>>(values);
  member.reads.push_back({version, std::move(copy)});
  if (member.reads.size() > kReadsMax) member.reads.erase(member.reads.begin());
}

void GroupPolicies::left(ActorId id) {
  members_.erase(id);
  if (bound_) bound_->left(id);
  if (local_) local_->left(id);
}

void GroupPolicies::fill(ParameterUpdate& update, ActorId to) const {
  if (!local_) return;
  const params::LocalWork work = local_->work(to);
  update.local_steps = work.steps;
  update.step_batches = work.step_batches;
}

double GroupPolicies::weight(std::uint64_t versions, std::size_t sharing) const {
  return stale_ ? stale_->weight(versions / std::max<std::size_t>(sharing, 1)) : 1;
}

const std::vector<float>* GroupPolicies::read_by(ActorId id, std::uint64_t version) const {
  const auto found = members_.find(id);
  if (found == members_.end()) return nullptr;
  for (const Read& read : found->second.reads) {
    if (read.version == version) return read.values.get();
  }
  return nullptr;
}

Result<GroupParts> make_group_parts(const Job& job, Group group, bool owned_elsewhere, std::size_t size) {
  GroupParts out;
  if (owned_elsewhere) return out;
  auto server = params::make_server_rule(job, size);
  if (!server.ok()) return server.error();
  auto apply = params::make_apply_policy(job, size);
  if (!apply.ok()) return apply.error();
  out.rule = *server ? std::move(*server) : std::move(apply->rule);
  auto policies = GroupPolicies::make(job, group, apply->buffer);
  if (!policies.ok()) return policies.error();
  out.policies = std::move(*policies);
  return out;
}

}  // namespace hourglass
