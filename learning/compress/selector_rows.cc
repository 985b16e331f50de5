// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry_rows.h"

#include "learning/compress/aggregation_aware.h"
#include "learning/compress/chunk_topk.h"
#include "learning/compress/clt_k.h"
#include "learning/compress/dense.h"
#include "learning/compress/dgc.h"
#include "learning/compress/hard_threshold.h"
#include "learning/compress/neighborhood.h"
#include "learning/compress/nonzero.h"
#include "learning/compress/random_block.h"
#include "learning/compress/random_k.h"
#include "learning/compress/row_sparse.h"
#include "learning/compress/sbc.h"
#include "learning/compress/sidco.h"
#include "learning/compress/topk.h"

namespace hourglass::compress {

std::vector<Stage> selector_rows() {
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

}  // namespace hourglass::compress
