// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/admission.h"

#include "actors/tree.h"
#include "messages/message_type.h"

namespace hourglass {
namespace {

constexpr std::size_t kMonitorsMax = 8;

std::string versions(std::uint32_t least, std::uint32_t most, const std::string& build) {
  return std::to_string(least) + ".." + std::to_string(most) + " (" + build + ")";
}

}  // namespace

std::string protocol_mismatch(const Hello& hello, const std::string& build) {
  if (hello.protocol_max >= kProtocolMin && hello.protocol_min <= kProtocolMax) return "";
  return "protocol mismatch: this process speaks " + versions(hello.protocol_min, hello.protocol_max, hello.build) + ", the aggregator " +
         versions(kProtocolMin, kProtocolMax, build) + "; update the older one";
}

std::string endpoint_of(const Hello& hello, const std::string& source) {
  const std::string& host = hello.host.empty() ? source : hello.host;
  if (hello.port == 0 || host.empty()) return "";
  const bool bracket = host.find(':') != std::string::npos;
  return "tcp://" + (bracket ? "[" + host + "]" : host) + ":" + std::to_string(hello.port);
}

std::size_t places_for(Role role, const Job& job) {
  switch (role) {
    case Role::aggregator: return 0;
    case Role::data_loader: return 1;
    case Role::conv_worker: return MemberTable::kMembersMax;
    case Role::fc_worker: return job.fc_workers;
    case Role::monitor: return kMonitorsMax;
    case Role::tree_node: return Tree::nodes_wanted(job);
  }
  return 0;
}

std::string no_place_left(Role role, const Hello& hello, const Job& job, const MemberTable& members) {
  std::string text = "this job has its " + std::to_string(places_for(role, job)) + " " + std::string(name_of(role)) + "(s) already";
  for (const auto& [id, row] : members.rows()) {
    if (id.role == role) text += "; " + row.member.name + " at " + row.member.endpoint;
  }
  if (role == Role::fc_worker) text += "; set cluster.fc_workers to have more";
  if (role == Role::tree_node) text += "; cluster.tree_arity and cluster.conv_workers say how many there are";
  return text + " (" + hello.name + " waits)";
}

std::string paused_for(const Job& job, const MemberTable& members) {
  std::string text;
  const auto need = [&](Role role, bool wanted) {
    if (wanted && members.count(role) == 0) text += (text.empty() ? "paused: no " : ", no ") + std::string(name_of(role));
  };
  need(Role::data_loader, true);
  need(Role::conv_worker, true);
  need(Role::fc_worker, job.fc_workers > 0);
  return text.empty() ? "" : text + "; training goes on when one joins";
}

std::string missing_members(const Job& job, const MemberTable& members, bool loader) {
  std::string text = loader ? "" : "data-loader";
  const auto look_for = [&](Role role, std::size_t wanted) {
    const std::size_t present = members.count(role);
    if (present >= wanted) return;
    text += (text.empty() ? "" : ", ") + std::string(name_of(role)) + " " + std::to_string(present + 1) + " of " + std::to_string(wanted);
  };
  look_for(Role::conv_worker, job.conv_workers);
  look_for(Role::fc_worker, job.fc_workers);
  look_for(Role::tree_node, Tree::nodes_wanted(job));
  return text;
}

}  // namespace hourglass
