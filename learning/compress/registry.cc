// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include <algorithm>

#include "learning/compress/bf16.h"
#include "learning/compress/bitmap.h"
#include "learning/compress/bloom.h"
#include "learning/compress/chunk12.h"
#include "learning/compress/dense.h"
#include "learning/compress/elias_fano.h"
#include "learning/compress/f32.h"
#include "learning/compress/raw.h"
#include "learning/compress/rice.h"
#include "learning/compress/topk.h"
#include "learning/compress/two_level.h"
#include "learning/compress/varint.h"

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
      {.row = {.name = "elias_fano",
               .kind = StageKind::index_codec,
               .help = "the upper bits of the indices in unary, the lower as they are",
               .bits = "8.6 at 1 %, 12.0 at 0.1 %",
               .source = "Elias 1974; Vigna 2013",
               .example = "topk ratio=0.01 | two_level | elias_fano"},
       .index_coder = &elias_fano_coder()},
      {.row = {.name = "varint",
               .kind = StageKind::index_codec,
               .help = "gaps between indices in bytes of 7 bits",
               .bits = "10.2 at 1 %, 15.0 at 0.1 %",
               .source = "LEB128; Xu et al. 2021, arXiv 2102.03112",
               .example = "topk ratio=0.01 | two_level | varint"},
       .index_coder = &varint_coder()},
      {.row = {.name = "chunk12",
               .kind = StageKind::index_codec,
               .help = "12 bits for the place within a chunk of 4,096",
               .bits = "12 + 0.004 / density",
               .source = "Sarfi et al. 2025, arXiv 2508.15706",
               .example = "topk ratio=0.01 | two_level | chunk12"},
       .index_coder = &chunk12_coder()},
      {.row = {.name = "bloom",
               .kind = StageKind::index_codec,
               .help = "a Bloom filter; its false positives are sent too, with their values",
               .bits = "about 17 at 1 %, 22 at 0.1 %",
               .source = "Bloom 1970; Xu et al. 2021, arXiv 2102.03112",
               .example = "topk ratio=0.01 | two_level | bloom"},
       .index_coder = &bloom_coder()},
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
