// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/plan.h"

namespace hourglass::compress {
namespace {

std::string list_of(StageKind kind) {
  std::string list;
  for (const Stage& stage : stages()) {
    if (stage.row.kind == kind) list += (list.empty() ? "" : ", ") + std::string(stage.row.name);
  }
  return list.empty() ? list : std::string(name_of(kind)) + " (" + list + ")";
}

std::string list_of_all() {
  std::string list;
  for (const StageKind kind : kStageKinds) {
    const std::string one = list_of(kind);
    if (!one.empty()) list += (list.empty() ? "" : ", ") + one;
  }
  return list;
}

Error unknown_stage(const std::string& name) {
  std::vector<std::string> names;
  for (const Stage& stage : stages()) names.emplace_back(stage.row.name);
  const std::string near = nearest_name(name, names);
  return {Errc::bad_config, "compressor stage '" + name + "' is unknown" + (near.empty() ? "" : ", did you mean '" + near + "'?") +
                                "; there are " + list_of_all()};
}

std::optional<Chosen>& slot_of(Plan& plan, StageKind kind) {
  switch (kind) {
    case StageKind::memory: return plan.memory;
    case StageKind::ratio: return plan.ratio;
    case StageKind::selector: return plan.selector;
    case StageKind::transform: return plan.transform;
    case StageKind::value_codec: return plan.value;
    case StageKind::index_codec: break;
  }
  return plan.index;
}

/// What is wrong with the stages together; empty where nothing is.
std::string complaint(const Plan& plan) {
  if (!plan.selector && !plan.transform) return "it needs a " + list_of(StageKind::selector) + " or a " + list_of(StageKind::transform);
  if (plan.transform && (plan.selector || plan.value || plan.index || plan.ratio)) {
    return "'" + plan.transform->spec.name + "' writes the whole range and goes with a memory alone";
  }
  if (plan.index && plan.selector->spec.name == "dense") {
    return "dense sends every entry in order and takes no index codec ('" + plan.index->spec.name + "')";
  }
  if (plan.ratio && plan.selector->spec.name == "dense") return "dense has no ratio for '" + plan.ratio->spec.name + "' to set";
  return "";
}

}  // namespace

std::string_view name_of(StageKind kind) {
  switch (kind) {
    case StageKind::memory: return "memory";
    case StageKind::ratio: return "ratio policy";
    case StageKind::selector: return "selector";
    case StageKind::transform: return "transform";
    case StageKind::value_codec: return "value codec";
    case StageKind::index_codec: return "index codec";
  }
  return "";
}

Result<Plan> plan_of(std::string_view text) {
  Result<std::vector<SpecStage>> parsed = parse_spec(text);
  if (!parsed.ok()) return parsed.error();
  const std::string where = "compressor '" + std::string(text) + "': ";
  Plan plan;
  const Chosen* last = nullptr;
  for (SpecStage& each : *parsed) {
    const Stage* row = find_stage(each.name);
    if (row == nullptr) return unknown_stage(each.name);
    std::optional<Chosen>& slot = slot_of(plan, row->row.kind);
    if (slot) return {Errc::bad_config, where + "'" + each.name + "' is a second " + std::string(name_of(row->row.kind))};
    if (last != nullptr && last->row->row.kind > row->row.kind && row->row.kind < StageKind::value_codec) {
      return {Errc::bad_config, where + "'" + each.name + "' stands behind '" + last->spec.name + "'; the order is " + list_of_all()};
    }
    slot = Chosen{row, std::move(each)};
    last = &*slot;
  }
  if (const std::string bad = complaint(plan); !bad.empty()) return {Errc::bad_config, where + bad};
  return plan;
}

}  // namespace hourglass::compress
