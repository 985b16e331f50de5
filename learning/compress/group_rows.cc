// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/registry_rows.h"

#include "learning/compress/budget_ratio.h"
#include "learning/compress/count_sketch.h"
#include "learning/compress/dgc_momentum.h"
#include "learning/compress/dynamic_ratio.h"
#include "learning/compress/ef21.h"
#include "learning/compress/entropy_ratio.h"
#include "learning/compress/factors.h"
#include "learning/compress/feedback.h"
#include "learning/compress/fo_sgd.h"
#include "learning/compress/low_pass.h"
#include "learning/compress/low_rank.h"
#include "learning/compress/measured.h"
#include "learning/compress/outer_sum.h"
#include "learning/compress/warmup.h"

namespace hourglass::compress {

std::vector<Stage> memory_rows() {
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

std::vector<Stage> ratio_policy_rows() {
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

std::vector<Stage> transform_rows() {
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

}  // namespace hourglass::compress
