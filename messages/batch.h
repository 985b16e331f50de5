// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

enum class Mode : std::uint8_t { train, evaluate };

/// Data loader -> CONV worker: a lease of some samples. The loader normalises nothing; `pixel scale` and mean are the
/// dataset's, per channel, so that images travel as bytes.
struct Batch {
  static constexpr MessageType kType = MessageType::batch;
  std::uint64_t lease = 0;
  Mode mode = Mode::train;
  std::uint32_t epoch = 0;
  double progress = 0;             ///< share of the run's training samples handed out before this batch, for schedules
  std::vector<std::uint32_t> ids;  ///< sample indices in the dataset
  std::vector<std::uint16_t> labels;
  Bytes images;                        ///< samples x channels x height x width, u8
  std::vector<float> mean, deviation;  ///< per channel: input = (byte / 255 - mean) / deviation
  /// With Job::local_data there are ids alone, and this of what they stand for (actors/samples.h); else 0.
  std::uint64_t digest = 0;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.lease);
    v.choice(m.mode, Mode::evaluate);
    v.number(m.epoch);
    v.real(m.progress);
    v.packed(m.ids, limits::kBatchSamples);
    v.packed(m.labels, limits::kBatchSamples);
    v.blob(m.images, limits::kBodyBytes);
    v.packed(m.mean, 1024);
    v.packed(m.deviation, 1024);
    v.number(m.digest);
  }
};

}  // namespace hourglass
