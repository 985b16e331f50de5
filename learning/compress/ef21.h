// SPDX-License-Identifier: Apache-2.0
// Memory `ef21 of=sum|update` (default sum): the sender keeps an estimate h of x, as the receiver has it, and sends compressed differences.
//   c = decode(encode(C(x - h)));  h = h + c;  h starts at 0.
// The receiver's running sum of a sender's blocks is h, always and bit for bit where it adds them in order with weight 1. (With weight w it
// is w h; the sum over several senders is the weighted sum of their estimates.) A block that is lost without a restore puts the two apart
// for ever, so the stream has to be reliable; after a restore they agree to rounding.
//
// of=sum: x is the sum of all updates so far. A receiver that adds blocks to its parameters, as the aggregator does, has moved them by h:
//   it has nothing else to do. What is held is x - h, so all that was sent plus what is held is x: error feedback, with the receiver's
//   state in the place of the residual.
// of=update: x is the update itself: the paper's form, for updates that change slowly. What has to be applied is then h, not c. A receiver
//   has to keep S = sum over all senders of weight * block, starting at 0, and per round, after the round's blocks were added to S, add S
//   to the parameters; where a sender leaves, its part stays in S unless all start afresh. A receiver that adds the blocks alone trains on
//   nothing but the last update: start-up warns. Nothing is owed to the receiver but the difference of the estimate, which a flush in the
//   same round makes exact; mass is not conserved.
// Two or three floats an element.
// Source: Richtarik, Sokolov, Fatkhullin 2021 (2106.05203).
#pragma once

#include "learning/compress/memory.h"

namespace hourglass::compress {

/// Errors: bad_config for an unknown option.
Result<std::unique_ptr<Memory>> make_ef21(const SpecStage& stage, std::size_t group_size);

}  // namespace hourglass::compress
