// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include <algorithm>

#include "learning/compress/aggregation_aware.h"
#include "learning/compress/bf16.h"
#include "learning/compress/bitmap.h"
#include "learning/compress/clt_k.h"
#include "learning/compress/dense.h"
#include "learning/compress/f32.h"
#include "learning/compress/neighborhood.h"
#include "learning/compress/nonzero.h"
#include "learning/compress/raw.h"
#include "learning/compress/rice.h"
#include "learning/compress/row_sparse.h"
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
      {.row = {.name = "nonzero",
               .kind = StageKind::selector,
               .help = "every entry that is not 0; as a downlink the union of what the workers of a round have sent",
               .bits = "an index and a value",
               .source = "Li et al. 2014, OSDI",
               .example = "nonzero"},
       .make_selector = make_nonzero},
      {.row = {.name = "aggregation_aware",
               .kind = StageKind::selector,
               .help = "`ratio` (default 0.01) of the entries: large ones that others will send too, by `metric` (recency, frequency, "
                       "consensus, hysteresis), and the share `explore` (default 0.2) of them by magnitude alone; window, alpha, lambda",
               .bits = "an index and a value; the downlink carries fewer",
               .source = "Wang 2018, doi 10.6342/NTU201801738",
               .example = "aggregation_aware ratio=0.01",
               .traits = {.counts = true, .remembers = true}},
       .make_selector = make_aggregation_aware},
      {.row = {.name = "clt_k",
               .kind = StageKind::selector,
               .help = "the workers take turns in choosing the largest `ratio` (default 0.01); all send at those indices",
               .bits = "an index and a value; the downlink carries one worker's",
               .source = "Chen et al. 2020, arXiv 2104.11125",
               .example = "clt_k ratio=0.01",
               .traits = {.counts = true, .remembers = true}},
       .make_selector = make_clt_k},
      {.row = {.name = "neighborhood",
               .kind = StageKind::selector,
               .help = "`ratio` (default 0.01) of the entries by |mean| + deviation of the `size` x `size` (odd, default 3) around each",
               .bits = "an index and a value",
               .source = "RS-DGC 2023, arXiv 2312.17530",
               .example = "neighborhood ratio=0.01"},
       .make_selector = make_neighborhood},
      {.row = {.name = "row_sparse",
               .kind = StageKind::selector,
               .help = "whole rows: `ratio` (default 1) of them by norm, rows of zeros never; `block` entries make a row (default: a "
                       "matrix row, 256 of a vector)",
               .bits = "an index and a value; neighbours in runs",
               .source = "Fei et al. 2021 (OmniReduce), SIGCOMM",
               .example = "row_sparse ratio=0.1 block=64"},
       .make_selector = make_row_sparse},
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
