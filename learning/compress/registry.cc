// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include <algorithm>

#include "learning/compress/bf16.h"
#include "learning/compress/bitmap.h"
#include "learning/compress/chunk_topk.h"
#include "learning/compress/dense.h"
#include "learning/compress/dgc.h"
#include "learning/compress/f32.h"
#include "learning/compress/hard_threshold.h"
#include "learning/compress/random_block.h"
#include "learning/compress/random_k.h"
#include "learning/compress/raw.h"
#include "learning/compress/rice.h"
#include "learning/compress/sbc.h"
#include "learning/compress/sidco.h"
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
      {.row = {.name = "chunk_topk",
               .kind = StageKind::selector,
               .help = "of every `chunk` (default 4096) entries the `k` (default chunk / 64) largest magnitudes, exactly; or `ratio`",
               .bits = "an index and a value",
               .source = "Sarfi et al. 2025, arXiv 2508.15706; Peng et al. 2024, arXiv 2411.19870",
               .example = "chunk_topk chunk=1024 k=16"},
       .make_selector = make_chunk_topk},
      {.row = {.name = "random_k",
               .kind = StageKind::selector,
               .help = "the share `ratio` of entries at random, the same on all workers at a step (`seed`); `rescale` makes it unbiased",
               .bits = "an index and a value",
               .source = "Stich et al. 2018, arXiv 1809.07599; Konecny et al. 2016, arXiv 1610.05492",
               .example = "random_k ratio=0.05 seed=1",
               .traits = {.always_sends = false}},
       .make_selector = make_random_k},
      {.row = {.name = "random_block",
               .kind = StageKind::selector,
               .help = "one block of the share `ratio`, the same on all workers at a step (`seed`); each block once in a round",
               .bits = "a value and about a bit",
               .source = "Foroutan & Jaggi 2020, arXiv 2009.09271",
               .example = "random_block ratio=0.05 seed=1",
               .traits = {.always_sends = false}},
       .make_selector = make_random_block},
      {.row = {.name = "hard_threshold",
               .kind = StageKind::selector,
               .help = "every entry of at least `threshold` (default 0.001), at most the share `cap` (10) times `ratio` (0.01)",
               .bits = "an index and a value",
               .source = "Sahu et al. 2021, arXiv 2108.00951",
               .example = "hard_threshold threshold=1.5 ratio=0.01 cap=8",
               .traits = {.always_sends = false}},
       .make_selector = make_hard_threshold},
      {.row = {.name = "dgc",
               .kind = StageKind::selector,
               .help = "at most the share `ratio` by a threshold from a `sample` (default 0.01), which may serve `reuse` calls (default 1)",
               .bits = "an index and a value",
               .source = "Lin et al. 2018, arXiv 1712.01887",
               .example = "dgc ratio=0.01",
               .traits = {.remembers = true}},
       .make_selector = make_dgc},
      {.row = {.name = "sidco",
               .kind = StageKind::selector,
               .help = "about the share `ratio` by a threshold from a fitted `dist` (exponential, gamma, gpareto), at most twice that",
               .bits = "an index and a value",
               .source = "Abdelmoniem et al. 2021, arXiv 2101.10761",
               .example = "sidco ratio=0.01 dist=gpareto",
               .traits = {.remembers = true}},
       .make_selector = make_sidco},
      {.row = {.name = "sbc",
               .kind = StageKind::selector,
               .help = "the share `ratio` with the largest magnitudes of one sign, that of the larger mean; for value codec mean",
               .bits = "an index and a value",
               .source = "Sattler et al. 2018, arXiv 1805.08768",
               .example = "sbc ratio=0.01"},
       .make_selector = make_sbc},
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
