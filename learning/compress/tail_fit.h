// SPDX-License-Identifier: Apache-2.0
// Thresholds from distributions fitted to magnitudes: what SIDCo selects by. d = wanted share of what lies above a boundary b,
// y = |x| - b over |x| > b, mean m, variance v:
//   exponential  t = b - m ln d
//   gpareto      r = m^2 / v;  scale a = m (r + 1) / 2;  shape c = (1 - r) / 2;  t = b + a (d^-c - 1) / c;  c -> 0: as exponential
//   gamma        (b = 0)  s = ln m - mean ln y;  shape a = (3 - s + sqrt((s - 3)^2 + 24 s)) / (12 s);  t = m / a * Q^-1(a, d), Q the
//   regularised
//                upper incomplete gamma function; further stages are gpareto: excesses over a high boundary tend to it
// In stages: the first keeps a quarter, the others share the rest of the way evenly (in logarithms); each takes its share from how many
// entries did reach the last boundary, so a stage mends the error of the one before.
// Source: Abdelmoniem et al. 2021 (SIDCo), arXiv 2101.10761.
#pragma once

#include <cstdint>
#include <span>

#include "learning/compress/kernels.h"

namespace hourglass::compress {

enum class TailShape : std::uint8_t { exponential, gamma, gpareto };

/// A threshold that about the share `share` (0 < share < 1) of `moments.count` (> 0) entries above `boundary` exceeds; at least `boundary`.
/// `mean_log`: of ln |x|, for gamma with boundary 0; otherwise ignored.
double tail_threshold(TailShape shape, const TailMoments& moments, double boundary, double mean_log, double share);

/// Q^-1: the x > 0 at which a gamma variable of shape `shape` and scale 1 is exceeded with probability `share`. shape in [1e-3, 1e3].
double gamma_exceeded(double shape, double share);

/// A threshold for about k of the values, 1 <= k <= their number, in `stages` >= 1 stages; 0 where all are 0.
double staged_threshold(std::span<const float> values, std::size_t k, TailShape shape, int stages);

}  // namespace hourglass::compress
