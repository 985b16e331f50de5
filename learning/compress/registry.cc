// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include <algorithm>

#include "learning/compress/bf16.h"
#include "learning/compress/bitmap.h"
#include "learning/compress/curve.h"
#include "learning/compress/dense.h"
#include "learning/compress/f16.h"
#include "learning/compress/f32.h"
#include "learning/compress/mean.h"
#include "learning/compress/mxnet_two_bit.h"
#include "learning/compress/natural.h"
#include "learning/compress/qsgd.h"
#include "learning/compress/raw.h"
#include "learning/compress/rice.h"
#include "learning/compress/sign.h"
#include "learning/compress/terngrad.h"
#include "learning/compress/topk.h"
#include "learning/compress/two_level.h"
#include "learning/compress/u8.h"

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
      {.row = {.name = "f16",
               .kind = StageKind::value_codec,
               .help = "values as halves of IEEE 754, saturating",
               .bits = "16",
               .source = "IEEE 754",
               .example = "topk ratio=0.01 | f16"},
       .make_value_coder = make_f16,
       .decoder = &f16_coder()},
      {.row = {.name = "u8",
               .kind = StageKind::value_codec,
               .help = "values in 255 equal steps about 0 for each `chunk` (64 to 2^24, default 4096)",
               .bits = "8 + 32 / chunk",
               .source = "Dettmers 2015, arXiv 1511.04561",
               .example = "topk ratio=0.01 | u8 chunk=4096"},
       .make_value_coder = make_u8,
       .decoder = &u8_coder()},
      {.row =
           {.name = "qsgd",
            .kind = StageKind::value_codec,
            .help =
                "random rounding to `levels` (1 to 127, default 7) for each `bucket` (64 to 2^24, default 512), `norm` max (default) or l2",
            .bits = "1 + bit_width(levels) + 32 / bucket",
            .source = "Alistarh et al. 2017, arXiv 1610.02132",
            .example = "topk ratio=0.01 | qsgd levels=7 bucket=512",
            .traits = {.unbiased = true}},
       .make_value_coder = make_qsgd,
       .decoder = &qsgd_coder()},
      {.row = {.name = "natural",
               .kind = StageKind::value_codec,
               .help = "sign and a power of two by random rounding, in `bits` 9 (default) or 8",
               .bits = "9 or 8",
               .source = "Horvath et al. 2019, arXiv 1905.10988",
               .example = "topk ratio=0.01 | natural bits=8",
               .traits = {.unbiased = true}},
       .make_value_coder = make_natural,
       .decoder = &natural_coder()},
      {.row = {.name = "mxnet_two_bit",
               .kind = StageKind::value_codec,
               .help = "+-`threshold` (default 0.5) for what reaches it, else 0; needs error feedback",
               .bits = "2",
               .source = "Apache MXNet; Strom 2015",
               .example = "dense | mxnet_two_bit threshold=0.5",
               .traits = {.vanishes = true}},
       .make_value_coder = make_mxnet_two_bit,
       .decoder = &mxnet_two_bit_coder()},
      {.row = {.name = "mean",
               .kind = StageKind::value_codec,
               .help = "sign and the mean magnitude",
               .bits = "1; 0 where all have one sign",
               .source = "Sattler et al. 2019, arXiv 1903.02891",
               .example = "topk ratio=0.01 | mean",
               .traits = {.keeps_zero = false}},
       .make_value_coder = make_mean,
       .decoder = &mean_coder()},
      {.row = {.name = "terngrad",
               .kind = StageKind::value_codec,
               .help = "0 or +-the largest magnitude by random rounding; optional `clip` (0: off) times the root mean square",
               .bits = "1.6",
               .source = "Wen et al. 2017, arXiv 1705.07878",
               .example = "dense | terngrad",
               .traits = {.vanishes = true, .unbiased = true}},
       .make_value_coder = make_terngrad,
       .decoder = &terngrad_coder()},
      {.row = {.name = "sign",
               .kind = StageKind::value_codec,
               .help = "sign and a mean magnitude for each sign; needs error feedback",
               .bits = "1",
               .source = "Seide et al. 2014, 1-bit SGD",
               .example = "dense | sign",
               .traits = {.keeps_zero = false}},
       .make_value_coder = make_sign,
       .decoder = &sign_coder()},
      {.row = {.name = "curve",
               .kind = StageKind::value_codec,
               .help = "ranks on polynomials through the sorted magnitudes",
               .bits = "1 + ceil(log2 count), and 256 a piece",
               .source = "Kostopoulou et al. 2021, arXiv 2102.03112",
               .example = "topk ratio=0.01 | curve",
               .traits = {.keeps_zero = false}},
       .make_value_coder = make_curve,
       .decoder = &curve_coder()},
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
