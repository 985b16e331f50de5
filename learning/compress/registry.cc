// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include "learning/compress/bf16.h"
#include "learning/compress/bitmap.h"
#include "learning/compress/dense.h"
#include "learning/compress/f32.h"
#include "learning/compress/raw.h"
#include "learning/compress/rice.h"
#include "learning/compress/topk.h"
#include "learning/compress/two_level.h"

namespace hourglass::compress {

std::span<const Stage> stages() {
  static const std::vector<Stage> rows = {
      {{"dense", StageKind::selector, "every entry, in order; takes no index codec", "no index", "none"}, make_dense, nullptr, nullptr},
      {{"topk", StageKind::selector, "the share `ratio` (0 < ratio <= 1, default 0.01) of entries with the largest magnitudes, exactly",
        "an index and a value", "Aji & Heafield 2017, arXiv 1704.05021"},
       make_topk,
       nullptr,
       nullptr},
      {{"f32", StageKind::value_codec, "values as they are (default)", "32", "none"}, nullptr, &f32_coder(), nullptr},
      {{"bf16", StageKind::value_codec, "values rounded to the upper half of a float", "16", "none"}, nullptr, &bf16_coder(), nullptr},
      {{"two_level", StageKind::value_codec, "sign and one of two magnitudes fitted to the block", "2", "Lloyd 1982"},
       nullptr,
       &two_level_coder(),
       nullptr},
      {{"auto", StageKind::index_codec, "the smallest of the others for each block (default)", "the least of the others", "none"},
       nullptr,
       nullptr,
       nullptr},
      {{"raw", StageKind::index_codec, "indices as 32-bit numbers", "32", "none"}, nullptr, nullptr, &raw_coder()},
      {{"bitmap", StageKind::index_codec, "one bit for every entry of the range", "1 / density", "none"},
       nullptr,
       nullptr,
       &bitmap_coder()},
      {{"rice", StageKind::index_codec, "Golomb-Rice codes of the gaps between indices", "8.1 at 1 %, 11.5 at 0.1 %",
        "Rice 1979; Sattler et al. 2019, arXiv 1903.02891"},
       nullptr,
       nullptr,
       &rice_coder()},
  };
  return rows;
}

const std::vector<CompressRow>& registry() {
  static const std::vector<CompressRow> rows = [] {
    std::vector<CompressRow> out;
    for (const Stage& stage : stages()) out.push_back(stage.row);
    return out;
  }();
  return rows;
}

const ValueCoder* find_value_coder(ValueCodec codec) {
  for (const Stage& stage : stages()) {
    if (stage.value_coder != nullptr && stage.value_coder->wire() == codec) return stage.value_coder;
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
