// SPDX-License-Identifier: Apache-2.0
// Selector `aggregation_aware ratio=R metric=M explore=E ...`: k = max(1, ceil(R n)) entries that are large and that other workers are
// likely to send as well, so that the union of everybody's entries, which is the downlink, stays small.
// Every worker sees the same published stream U_1, U_2, ... (observe()) and ranks by it and by its own residual r:
//   recency     |r_i| among the entries published within the last `window` rounds, and nothing else
//   frequency   |r_i| (1 + lambda f_i)     f <- (1 - alpha) f + alpha [i in U]
//   consensus   |r_i| + lambda |m_i|       m <- (1 - alpha) m + alpha U_i: the published aggregate, averaged with its signs. How many
//               workers have sent an entry is not on the wire; a magnitude that survives the averaging tells that they agree.
//   hysteresis  |r_i| (1 + lambda [i published within the last `window` rounds]): an entry leaves at a threshold 1 + lambda times lower
//               than that at which it enters, the thresholds being those at which k are sent
// k - ceil(E k) entries go by that rank, the others by plain magnitude among the rest: so what waits and grows is sent, whatever its rank
// (an entry that grows by c a step has waited at most until it is the largest of those outside). Before anything is published, with
// explore=1 and with lambda=0 this is topk, and never are there more than k entries.
//   ratio    in (0, 1], default 0.01
//   metric   recency (default), frequency, consensus, hysteresis
//   explore  in [0, 1], default 0.2; 0 gives up the bound on waiting, but for frequency and hysteresis, whose factor is bounded
//   window   1 ... 1,000,000 rounds, default 1 (recency, hysteresis)
//   alpha    in (0, 1], default 0.1 (frequency, consensus)
//   lambda   0 ... 1,000,000, default 2 (all but recency)
// A round is a publication: of everybody's pushes in synchronous runs, of one or a few in others; there a window of as many rounds as there
// are workers looks back as far. A window in which most entries were published tells nothing: window * workers * k should stay well below
// n. The downlink must be sparse (`nonzero`, `topk`): one that publishes everything tells nothing, and a lossless one is not observed.
// Values as everywhere; 4 bytes of state an entry. Who joins late begins as topk.
// Source: Wang 2018, "aggregation-aware" gradient selection (thesis, National Taiwan University, doi 10.6342/NTU201801738), whose abstract
// names the aim, the union and that few entries are repeatedly large; the four metrics are ours.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options, also for one that the metric does not use.
Result<std::unique_ptr<Selector>> make_aggregation_aware(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
