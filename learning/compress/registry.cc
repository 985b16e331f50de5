// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry.h"

#include <algorithm>

#include "learning/compress/aggregation_aware.h"
#include "learning/compress/bf16.h"
#include "learning/compress/bitmap.h"
#include "learning/compress/bloom.h"
#include "learning/compress/budget_ratio.h"
#include "learning/compress/chunk12.h"
#include "learning/compress/chunk_topk.h"
#include "learning/compress/clt_k.h"
#include "learning/compress/count_sketch.h"
#include "learning/compress/curve.h"
#include "learning/compress/dense.h"
#include "learning/compress/dgc.h"
#include "learning/compress/dgc_momentum.h"
#include "learning/compress/dynamic_ratio.h"
#include "learning/compress/ef21.h"
#include "learning/compress/elias_fano.h"
#include "learning/compress/entropy_ratio.h"
#include "learning/compress/f16.h"
#include "learning/compress/f32.h"
#include "learning/compress/factors.h"
#include "learning/compress/feedback.h"
#include "learning/compress/fo_sgd.h"
#include "learning/compress/hard_threshold.h"
#include "learning/compress/low_pass.h"
#include "learning/compress/low_rank.h"
#include "learning/compress/mean.h"
#include "learning/compress/measured.h"
#include "learning/compress/mxnet_two_bit.h"
#include "learning/compress/natural.h"
#include "learning/compress/neighborhood.h"
#include "learning/compress/nonzero.h"
#include "learning/compress/outer_sum.h"
#include "learning/compress/qsgd.h"
#include "learning/compress/random_block.h"
#include "learning/compress/random_k.h"
#include "learning/compress/raw.h"
#include "learning/compress/rice.h"
#include "learning/compress/row_sparse.h"
#include "learning/compress/sbc.h"
#include "learning/compress/sidco.h"
#include "learning/compress/sign.h"
#include "learning/compress/terngrad.h"
#include "learning/compress/topk.h"
#include "learning/compress/two_level.h"
#include "learning/compress/u8.h"
#include "learning/compress/varint.h"
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
               .traits = {.always_sends = false}},
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
               .traits = {.always_sends = false, .unbiased = true}},
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
