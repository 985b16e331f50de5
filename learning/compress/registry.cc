// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include <algorithm>

#include "learning/compress/bf16.h"
#include "learning/compress/bitmap.h"
#include "learning/compress/budget_ratio.h"
#include "learning/compress/dense.h"
#include "learning/compress/dgc_momentum.h"
#include "learning/compress/dynamic_ratio.h"
#include "learning/compress/ef21.h"
#include "learning/compress/entropy_ratio.h"
#include "learning/compress/f32.h"
#include "learning/compress/feedback.h"
#include "learning/compress/low_pass.h"
#include "learning/compress/raw.h"
#include "learning/compress/rice.h"
#include "learning/compress/topk.h"
#include "learning/compress/two_level.h"
#include "learning/compress/warmup.h"

namespace hourglass::compress {
namespace {

std::vector<Stage> memories() {
  return {
      {.row = {.name = "feedback",
               .kind = StageKind::memory,
               .help = "what is not sent is added to the next update, times `decay` (0 to 1, default 1) (default)",
               .bits = "nothing",
               .source = "Seide et al. 2014; Karimireddy et al. 2019, arXiv 1901.09847",
               .example = "feedback | topk ratio=0.01"},
       .make_memory = make_feedback},
      {.row = {.name = "none",
               .kind = StageKind::memory,
               .help = "what is not sent is lost",
               .bits = "nothing",
               .source = "none",
               .example = "none | dense | bf16"},
       .make_memory = make_none},
      {.row = {.name = "dgc_momentum",
               .kind = StageKind::memory,
               .help =
                   "momentum correction `momentum` (default 0.9) `nesterov` (0 or 1), factor masking `masking` (0 or 1, default 1), local "
                   "clipping to the L2 norm `clip` (0: none)",
               .bits = "nothing",
               .source = "Lin et al. 2018, arXiv 1712.01887",
               .example = "dgc_momentum momentum=0.9 | topk ratio=0.01"},
       .make_memory = make_dgc_momentum},
      {.row = {.name = "low_pass",
               .kind = StageKind::memory,
               .help = "what is not sent passes a filter of weight `beta` (0 to 1, default 0.1)",
               .bits = "nothing",
               .source = "Chen et al. 2020, arXiv 2104.11125",
               .example = "low_pass beta=0.1 | topk ratio=0.01"},
       .make_memory = make_low_pass},
      {.row = {.name = "ef21",
               .kind = StageKind::memory,
               .help = "differences to the receiver's estimate `of` the sum of updates or of the update (sum, update; default sum)",
               .bits = "nothing",
               .source = "Richtarik et al. 2021, arXiv 2106.05203",
               .example = "ef21 | topk ratio=0.01"},
       .make_memory = make_ef21},
  };
}

std::vector<Stage> ratio_policies() {
  return {
      {.row = {.name = "warmup",
               .kind = StageKind::ratio,
               .help = "from `from` (default 0.25) to the selector's ratio in `steps` (default 1000) steps, exponentially",
               .bits = "nothing",
               .source = "Lin et al. 2018, arXiv 1712.01887",
               .example = "warmup from=0.25 steps=100 | topk ratio=0.001"},
       .make_ratio_policy = make_warmup},
      {.row =
           {.name = "entropy",
            .kind = StageKind::ratio,
            .help =
                "layers by the entropy of their magnitudes: `form` literal or budget; `by` blocks or values; `intervals` (0: by length), "
                "`least`, `most`, `gamma`, `every`, `average`",
            .bits = "nothing",
            .source = "patent CN109409505A; EGC, HPCC 2019",
            .example = "entropy form=budget | topk ratio=0.01"},
       .make_ratio_policy = make_entropy_ratio},
      {.row = {.name = "budget",
               .kind = StageKind::ratio,
               .help = "the group's entries to layers in proportion to `by` energy or norm; `every` (default 10), `average` (default 10)",
               .bits = "nothing",
               .source = "L-GreCo, arXiv 2210.17357, for the layer-wise budget",
               .example = "budget by=energy | topk ratio=0.01"},
       .make_ratio_policy = make_budget_ratio},
      {.row = {.name = "dynamic",
               .kind = StageKind::ratio,
               .help =
                   "the group's entries to layers in proportion to the mean and deviation in neighbourhoods of `width` (odd, default 3)",
               .bits = "nothing",
               .source = "RS-DGC, arXiv 2312.17530",
               .example = "dynamic width=3 | topk ratio=0.01"},
       .make_ratio_policy = make_dynamic_ratio},
  };
}

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

std::vector<Stage> transforms() { return {}; }

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
    for (const auto& kind : {memories(), ratio_policies(), selectors(), transforms(), value_codecs(), index_codecs()})
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
