// SPDX-License-Identifier: Apache-2.0
// Which batches of one CONV worker an FC worker has taken, and its answers, until the CONV worker has them. Messages may be lost, repeated
// and overtake each other: a batch whose message was lost comes again after any number of later ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "messages/codec.h"

namespace hourglass {

class AnswerBook {
 public:
  enum class Seen {
    never,    ///< take it
    waiting,  ///< taken, not answered yet
    answered,
    settled,  ///< the sender has its answer
  };

  /// What is known of `batch`, whose message says that the sender had `under_way` when it made it. Forgets what that settles.
  Seen look(std::uint64_t batch, std::span<const std::uint64_t> under_way) {
    if (batch > newest_) {
      newest_ = batch;
      under_way_.assign(under_way.begin(), under_way.end());
      std::erase_if(taken_, [&](const auto& row) { return !open(row.first); });
    }
    const auto at = taken_.find(batch);
    if (at != taken_.end()) return at->second.body ? Seen::answered : Seen::waiting;
    return batch == newest_ || open(batch) ? Seen::never : Seen::settled;
  }
  void take(std::uint64_t batch) { taken_.emplace(batch, Parcel{}); }
  void answer(std::uint64_t batch, Parcel answer) { taken_.insert_or_assign(batch, std::move(answer)); }
  /// Of an answered batch.
  [[nodiscard]] const Parcel& answer_to(std::uint64_t batch) const { return taken_.at(batch); }
  [[nodiscard]] std::size_t size() const { return taken_.size(); }

 private:
  [[nodiscard]] bool open(std::uint64_t batch) const { return std::find(under_way_.begin(), under_way_.end(), batch) != under_way_.end(); }

  std::map<std::uint64_t, Parcel> taken_;  ///< without a body until they are answered
  std::uint64_t newest_ = 0;               ///< batch that came
  std::vector<std::uint64_t> under_way_;   ///< as its message said
};

}  // namespace hourglass
