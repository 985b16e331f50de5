// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/run_state.h"

#include <utility>

#include "learning/nn/model_file.h"

namespace hourglass {
namespace {

Bytes save_group(const GroupServer& group) {
  ArchiveWriter books, store, out;
  group.save(books);
  group.store().save(store);
  out.put(group.store().version());
  out.put_bytes(books.take());
  out.put_bytes(store.take());
  return out.take();
}

Status load_group(Context& context, GroupServer& group, std::vector<float> values, std::span<const std::byte> section,
                  const std::string& name) {
  ArchiveReader in(section);
  const auto version = in.get<std::uint64_t>();
  const Bytes books = in.get_bytes();
  const Bytes store = in.get_bytes();
  ArchiveReader ledger(books);
  group.load(ledger);
  if (!in.complete() || !ledger.complete()) return {Errc::bad_data, "checkpoint: section '" + name + "' is of another layout"};
  ArchiveReader state(store);
  if (group.store().load(values, state)) return {};
  context.log(Severity::warning, "what the aggregator remembered beside the parameters does not fit the settings, and starts afresh",
              {{"group", name}});
  group.store().replace(std::move(values), version);
  return {};
}

Bytes save_metrics(Context& context, const MemberTable& members) {
  ArchiveWriter table, out;
  members.save_metrics(table);
  out.put_bytes(table.take());
  std::vector<std::pair<std::string, double>> own;
  for (const auto& [name, value] : context.metrics()) {
    if (name.starts_with("sent.") || name.starts_with("received.")) own.emplace_back(name, value);
  }
  out.put(static_cast<std::uint64_t>(own.size()));
  for (const auto& [name, value] : own) {
    out.put_text(name);
    out.put(value);
  }
  return out.take();
}

bool load_metrics(Context& context, MemberTable& members, std::span<const std::byte> section) {
  ArchiveReader in(section);
  const Bytes bytes = in.get_bytes();
  ArchiveReader table(bytes);
  members.load_metrics(table);
  const auto count = in.get_up_to<std::uint64_t>(limits::kMetrics);
  std::vector<std::pair<std::string, double>> own;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.get_text();
    own.emplace_back(std::move(name), in.get<double>());
  }
  if (!in.complete() || !table.complete()) return false;
  for (const auto& [name, value] : own) context.count(name, value);
  return true;
}

}  // namespace

Bytes model_file(const RunParts& parts, const Job& job) {
  std::map<std::string, std::string> metadata = {
      {"model", job.model}, {"dataset", job.dataset}, {"format", "pt"}, {"conv_version", std::to_string(parts.conv.store().version())}};
  if (parts.fc != nullptr) metadata["fc_version"] = std::to_string(parts.fc->store().version());
  const std::span<const float> fc = parts.fc != nullptr ? parts.fc->store().exact() : std::span<const float>();
  return nn::model_to_safetensors(parts.model.model, parts.conv.store().exact(), fc, metadata);
}

Checkpoint capture(Context& context, const RunParts& parts, const Job& job, Phase phase) {
  Checkpoint out;
  out.job = job;
  out.parameters = model_file(parts, job);
  out.conv = save_group(parts.conv);
  if (parts.fc != nullptr) out.fc = save_group(*parts.fc);
  ArchiveWriter books;
  parts.books.save(books, context.now());
  out.books = books.take();
  out.metrics = save_metrics(context, parts.members);
  CheckpointMeta& meta = out.meta;
  meta.phase = phase;
  meta.seconds = parts.books.training_seconds(context.now());
  meta.samples_done = parts.books.progress().samples_done;
  meta.samples_total = parts.books.progress().samples_total;
  meta.conv_version = parts.conv.store().version();
  meta.fc_version = parts.fc == nullptr ? 0 : parts.fc->store().version();
  meta.model_hash = parts.model.hash;
  return out;
}

Status restore(Context& context, const RunParts& parts, const Checkpoint& checkpoint) {
  std::vector<float> conv, fc;
  if (const Status read = nn::model_from_safetensors(parts.model.model, checkpoint.parameters, conv, fc); !read.ok()) {
    return {Errc::bad_data, "checkpoint: section 'parameters': " + read.error().text};
  }
  for (GroupServer* group : {&parts.conv, parts.fc}) {
    if (group == nullptr) continue;
    const bool is_conv = group == &parts.conv;
    std::vector<float>& values = is_conv ? conv : fc;
    const Status loaded = load_group(context, *group, values, is_conv ? checkpoint.conv : checkpoint.fc, is_conv ? "conv" : "fc");
    if (!loaded.ok()) return loaded;
  }
  ArchiveReader books(checkpoint.books);
  parts.books.load(books);
  if (!books.complete()) return {Errc::bad_data, "checkpoint: section 'books' is of another layout"};
  if (!load_metrics(context, parts.members, checkpoint.metrics))
    return {Errc::bad_data, "checkpoint: section 'metrics' is of another layout"};
  return {};
}

}  // namespace hourglass
