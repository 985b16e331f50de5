// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/time.h"

namespace hourglass::sim {

/// One direction between two actors.
struct Link {
  Duration latency = std::chrono::microseconds(200);
  Duration jitter = Duration::zero();  ///< added to the latency: uniform in [0, jitter)
  double loss = 0.0;                   ///< probability that a message vanishes
  double duplication = 0.0;            ///< probability that a message arrives twice
  Duration tail = Duration::zero();    ///< and an exponential with this mean: now and then a message is much later than most
  bool reorder = false;                ///< messages may overtake each other (by jitter and tail, and as late duplicates)
};

struct SimOptions {
  Link link;                                ///< of every pair without a link of its own
  double nic_bytes_per_second = 0.0;        ///< each actor's, both ways independently; 0: unlimited
  bool reorder = false;                     ///< as Link::reorder, of every pair
  bool unreachable_is_silent = false;       ///< post() to an actor that is not there: true loses the message, false is Errc::unreachable
  bool introductions_required = false;      ///< post() needs introduce() by either side; everybody knows the aggregator
  bool evaluation_is_free = false;          ///< evaluations occupy no NIC: for measuring what training alone needs
  std::size_t credit_bytes = 256ULL << 20;  ///< per (sender, receiver): accepted and not yet handled
  Duration heartbeat_interval = std::chrono::seconds(1);  ///< zero: none
};

}  // namespace hourglass::sim
