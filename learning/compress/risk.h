// SPDX-License-Identifier: Apache-2.0
// Whether a spec can be expected to train, found by trying it on a small vector at start-up (some milliseconds):
//   a memory whose residual outgrows the sum of all updates' norms surrounds a compressor that is no contraction: it will grow without
//   bound
//     (error feedback around codes of a large variance, such as scaled random-k);
//   without a memory, the mean of what is sent for one and the same update, over kRiskSteps steps, misses it by more than half its norm:
//   most
//     of the gradient is lost, or drowned in noise (top-k 1 %, sign).
// Source: the accuracies of GRACE (Xu et al. 2021, ICDCS): top-k 1 % with and without memory 91.0 and 84.8, random-k 88.3 and 55.4,
// sign 63.3.
#pragma once

#include <string>
#include <string_view>

namespace hourglass::compress {

inline constexpr std::size_t kRiskLength = 16384;
inline constexpr std::size_t kRiskSteps = 48;

/// A warning for whoever starts a job with this spec for its pushes; empty where there is none, or the spec is refused anyway.
std::string risk_of(std::string_view spec);
/// The same for the spec of a downlink: also where what is published would never catch up with the parameters.
std::string downlink_risk_of(std::string_view spec);
/// True where the spec's memory has momentum: then the optimizer may have none.
bool has_momentum(std::string_view spec);
/// True where workers take turns in choosing what all send (clt_k): they have to agree on whose turn it is.
bool takes_turns(std::string_view spec);
/// The share of entries that a spec's selector sends where it is given, else 1.
double least_ratio(std::string_view spec);

}  // namespace hourglass::compress
