// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/checkpoint.h"

#include <charconv>
#include <cstdio>

#include "base/archive.h"
#include "messages/all_messages.h"
#include "messages/codec.h"

namespace hourglass {
namespace {

constexpr std::string_view kEnding = ".hgck";

Bytes encode_meta(const CheckpointMeta& meta) {
  ArchiveWriter out;
  out.put(meta.run);
  out.put(meta.generation);
  out.put(meta.number);
  out.put(meta.phase);
  out.put(meta.seconds);
  out.put(meta.samples_done);
  out.put(meta.samples_total);
  out.put(meta.conv_version);
  out.put(meta.fc_version);
  out.put(meta.accuracy.has_value());
  out.put(meta.accuracy.value_or(0));
  out.put(meta.model_hash);
  out.put_text(meta.build);
  return out.take();
}

bool decode_meta(std::span<const std::byte> bytes, CheckpointMeta& meta) {
  ArchiveReader in(bytes);
  in.get(meta.run);
  in.get(meta.generation);
  in.get(meta.number);
  meta.phase = static_cast<Phase>(in.get_up_to<std::uint8_t>(static_cast<std::uint8_t>(kLastPhase)));
  in.get(meta.seconds);
  in.get(meta.samples_done);
  in.get(meta.samples_total);
  in.get(meta.conv_version);
  in.get(meta.fc_version);
  const bool evaluated = in.get<bool>();
  const auto accuracy = in.get<double>();
  if (evaluated) meta.accuracy = accuracy;
  in.get(meta.model_hash);
  meta.build = in.get_text();
  return in.complete();
}

std::string worker_section(Role role, std::uint32_t number) {
  return std::string(role == Role::fc_worker ? "fc." : "conv.") + std::to_string(number);
}

std::optional<std::uint64_t> whole_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || status != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string checkpoint_file_name(std::uint64_t number) {
  char text[48];
  std::snprintf(text, sizeof text, "checkpoint-%08llu.hgck", static_cast<unsigned long long>(number));
  return text;
}

std::optional<std::uint64_t> checkpoint_number_of(std::string_view file) {
  if (!file.starts_with(kCheckpointPrefix) || !file.ends_with(kEnding)) return std::nullopt;
  file.remove_prefix(kCheckpointPrefix.size());
  if (file.size() <= kEnding.size()) return std::nullopt;
  file.remove_suffix(kEnding.size());
  return whole_number(file);
}

Bytes encode_checkpoint(const Checkpoint& checkpoint) {
  Welcome job;  // the message that carries it
  job.job = checkpoint.job;
  std::vector<params::Section> sections = {{"meta", encode_meta(checkpoint.meta)},
                                           {"job", encode(job)},
                                           {"parameters", checkpoint.parameters},
                                           {"conv", checkpoint.conv},
                                           {"fc", checkpoint.fc},
                                           {"books", checkpoint.books},
                                           {"metrics", checkpoint.metrics}};
  for (const auto& [worker, state] : checkpoint.worker_states) sections.push_back({worker_section(worker.first, worker.second), state});
  return params::write_checkpoint(sections);
}

Result<CheckpointMeta> decode_checkpoint_meta(std::span<const std::byte> begin) {
  const auto first = params::read_first_section(begin);
  if (!first.ok()) return first.error();
  CheckpointMeta out;
  if (first->name != "meta" || !decode_meta(first->bytes, out)) return {Errc::malformed, "checkpoint: section 'meta' is of another layout"};
  return out;
}

Result<Checkpoint> decode_checkpoint(std::span<const std::byte> file) {
  auto sections = params::read_checkpoint(file);
  if (!sections.ok()) return sections.error();
  const auto take = [&](std::string_view name, Bytes& out) {
    const params::Section* section = params::find_section(*sections, name);
    if (section != nullptr) out = section->bytes;
    return section != nullptr;
  };
  Checkpoint out;
  Bytes meta, job;
  const bool whole = take("meta", meta) && take("job", job) && take("parameters", out.parameters) && take("conv", out.conv) &&
                     take("fc", out.fc) && take("books", out.books) && take("metrics", out.metrics);
  if (!whole) return {Errc::malformed, "checkpoint: a section is missing"};
  if (!decode_meta(meta, out.meta)) return {Errc::malformed, "checkpoint: section 'meta' is of another layout"};
  const auto welcome = decode<Welcome>(job);
  if (!welcome.ok()) return {Errc::malformed, "checkpoint: section 'job': " + welcome.error().text};
  out.job = welcome->job;
  for (const params::Section& section : *sections) {
    for (const Role role : {Role::conv_worker, Role::fc_worker}) {
      const std::string stem = role == Role::fc_worker ? "fc." : "conv.";
      if (!section.name.starts_with(stem)) continue;
      const auto number = whole_number(std::string_view(section.name).substr(stem.size()));
      if (!number || *number >= limits::kMembers) return {Errc::malformed, "checkpoint: section '" + section.name + "' is of no worker"};
      out.worker_states[{role, static_cast<std::uint32_t>(*number)}] = section.bytes;
    }
  }
  return out;
}

}  // namespace hourglass
