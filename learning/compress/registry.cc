// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include <algorithm>

#include "learning/compress/bf16.h"
#include "learning/compress/bitmap.h"
#include "learning/compress/count_sketch.h"
#include "learning/compress/dense.h"
#include "learning/compress/f32.h"
#include "learning/compress/factors.h"
#include "learning/compress/fo_sgd.h"
#include "learning/compress/low_rank.h"
#include "learning/compress/measured.h"
#include "learning/compress/outer_sum.h"
#include "learning/compress/raw.h"
#include "learning/compress/rice.h"
#include "learning/compress/topk.h"
#include "learning/compress/two_level.h"

namespace hourglass::compress {
namespace {

std::vector<Stage> selectors() {
  return {
      {.row = {.name = "dense",
               .kind = StageKind::selector,
               .help = "every entry, in order; takes no index codec",
               .bits = "no index",
               .source = "none",
               .example = "dense"},
       .make_selector = make_dense},
      {.row = {.name = "topk",
               .kind = StageKind::selector,
               .help = "the share `ratio` (0 < ratio <= 1, default 0.01) of entries with the largest magnitudes, exactly",
               .bits = "an index and a value",
               .source = "Aji & Heafield 2017, arXiv 1704.05021",
               .example = "topk ratio=0.01",
               .traits = {.counts = true}},
       .make_selector = make_topk},
  };
}

std::vector<Stage> transforms() {
  const Traits loose = {.keeps_sign = false, .keeps_zero = false};
  return {
      {.row =
           {.name = "fo_sgd",
            .kind = StageKind::transform,
            .help =
                "a bit each after a random rotation; form=unbiased (default) needs many workers and no error feedback, form=sign has none",
            .bits = "1",
            .source = "FO-SGD, arXiv 2405.11095; form=sign: DRIVE, arXiv 2105.08339",
            .example = "fo_sgd form=sign",
            .traits = loose},
       .make_transform = make_fo_sgd,
       .decoder = &hadamard_decoder()},
      {.row = {.name = "count_sketch",
               .kind = StageKind::transform,
               .help = "hashed sums that add up cell by cell, of what is not zero; form=exact (default) gives back every integer, "
                       "form=float estimates",
               .bits = "42 a non-zero value at width=32, 21 at 16, and its unit's index",
               .source = "S2 Reducer, arXiv 2110.02140",
               .example = "count_sketch",
               .traits = loose},
       .make_transform = make_count_sketch,
       .decoder = &count_sketch_decoder()},
      {.row = {.name = "measured",
               .kind = StageKind::transform,
               .help = "compressed sensing of each block's largest, bits=1 to 4 a measurement; slow to read",
               .bits = "0.81",
               .source = "FedQCS, arXiv 2111.15071",
               .example = "measured",
               .traits = loose},
       .make_transform = make_measured,
       .decoder = &measured_decoder()},
      {.row = {.name = "low_rank",
               .kind = StageKind::transform,
               .help = "a matrix as rank=1 to 64 (default 4) outer products, by one warm power step",
               .bits = "32 rank (1 / rows + 1 / columns)",
               .source = "PowerSGD, arXiv 1905.13727",
               .example = "low_rank rank=4",
               .traits = {.remembers = true, .keeps_sign = false, .keeps_zero = false}},
       .make_transform = make_low_rank,
       .decoder = &low_rank_decoder()},
      {.row = {.name = "factors",
               .kind = StageKind::transform,
               .help = "outer products of activations and deltas, exactly; as a stage: rank=1 to 64 (default 4) by some power steps",
               .bits = "32 rank (1 / rows + 1 / columns)",
               .source = "dAD, arXiv 2102.09631",
               .example = "factors rank=4",
               .traits = loose},
       .make_transform = make_factors,
       .decoder = &factors_decoder()},
  };
}

std::vector<Stage> value_codecs() {
  return {
      {.row = {.name = "f32",
               .kind = StageKind::value_codec,
               .help = "values as they are (default)",
               .bits = "32",
               .source = "none",
               .example = "topk ratio=0.01 | f32"},
       .make_value_coder = make_f32,
       .decoder = &f32_coder()},
      {.row = {.name = "bf16",
               .kind = StageKind::value_codec,
               .help = "values rounded to the upper half of a float",
               .bits = "16",
               .source = "none",
               .example = "topk ratio=0.01 | bf16"},
       .make_value_coder = make_bf16,
       .decoder = &bf16_coder()},
      {.row = {.name = "two_level",
               .kind = StageKind::value_codec,
               .help = "sign and one of two magnitudes fitted to the block",
               .bits = "2",
               .source = "Lloyd 1982",
               .example = "topk ratio=0.01 | two_level",
               .traits = {.keeps_zero = false}},
       .make_value_coder = make_two_level,
       .decoder = &two_level_coder()},
  };
}

std::vector<Stage> index_codecs() {
  return {
      {.row = {.name = "auto",
               .kind = StageKind::index_codec,
               .help = "the smallest of the exact ones for each block (default)",
               .bits = "the least of the others",
               .source = "none",
               .example = "topk ratio=0.01 | two_level | auto"}},
      {.row = {.name = "raw",
               .kind = StageKind::index_codec,
               .help = "indices as 32-bit numbers",
               .bits = "32",
               .source = "none",
               .example = "topk ratio=0.01 | two_level | raw"},
       .index_coder = &raw_coder()},
      {.row = {.name = "bitmap",
               .kind = StageKind::index_codec,
               .help = "one bit for every entry of the range",
               .bits = "1 / density",
               .source = "none",
               .example = "topk ratio=0.01 | two_level | bitmap"},
       .index_coder = &bitmap_coder()},
      {.row = {.name = "rice",
               .kind = StageKind::index_codec,
               .help = "Golomb-Rice codes of the gaps between indices",
               .bits = "8.1 at 1 %, 11.5 at 0.1 %",
               .source = "Rice 1979; Sattler et al. 2019, arXiv 1903.02891",
               .example = "topk ratio=0.01 | two_level | rice"},
       .index_coder = &rice_coder()},
  };
}

}  // namespace

std::span<const Stage> stages() {
  static const std::vector<Stage> rows = [] {
    std::vector<Stage> all;
    for (const auto& kind : {selectors(), transforms(), value_codecs(), index_codecs()}) all.insert(all.end(), kind.begin(), kind.end());
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
