// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include <algorithm>

#include "learning/compress/registry_rows.h"

namespace hourglass::compress {

std::span<const Stage> stages() {
  static const std::vector<Stage> rows = [] {
    std::vector<Stage> all;
    for (const auto& kind : {memory_rows(), ratio_policy_rows(), selector_rows(), transform_rows(), value_codec_rows(), index_codec_rows()})
      all.insert(all.end(), kind.begin(), kind.end());
    return all;
  }();
  return rows;
}

const Stage* find_stage(std::string_view name) {
  const auto found = std::ranges::find_if(stages(), [&](const Stage& stage) { return stage.row.name == name; });
  return found == stages().end() ? nullptr : &*found;
}

const std::vector<CompressRow>& registry() {
  static const std::vector<CompressRow> rows = [] {
    std::vector<CompressRow> out;
    for (const Stage& stage : stages()) out.push_back(stage.row);
    return out;
  }();
  return rows;
}

const ValueDecoder* find_value_decoder(ValueCodec codec) {
  for (const Stage& stage : stages()) {
    if (stage.decoder != nullptr && stage.decoder->wire() == codec) return stage.decoder;
  }
  return nullptr;
}

const IndexCoder* find_index_coder(IndexCodec codec) {
  for (const Stage& stage : stages()) {
    if (stage.index_coder != nullptr && stage.index_coder->wire() == codec) return stage.index_coder;
  }
  return nullptr;
}

}  // namespace hourglass::compress
