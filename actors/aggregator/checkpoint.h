// SPDX-License-Identifier: Apache-2.0
// What a checkpoint of a run says, and its way into a file (learning/params/checkpoint_file.h) and back. Sections:
//   meta          what `hourglass checkpoint list` shows
//   job           the run's configuration
//   parameters    safetensors, with the names of the saved model
//   conv, fc      of each group: version, published values, downlink residual, server rule, ledger, marks by member
//   books         history, evaluations, data cursor
//   metrics       byte counters, so that the books go on
//   conv.0, fc.0  of each worker that told its state, by its number: optimizer, residual, random numbers
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "learning/params/checkpoint_file.h"
#include "messages/job.h"
#include "messages/run_phase.h"

namespace hourglass {

struct CheckpointMeta {
  std::uint64_t run = 0;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;
  Phase phase = Phase::training;
  double seconds = 0;  ///< of training
  std::uint64_t samples_done = 0, samples_total = 0;
  std::uint64_t conv_version = 0, fc_version = 0;
  std::optional<double> accuracy;  ///< where it follows an evaluation
  std::uint64_t model_hash = 0;
  std::string build;
};

struct Checkpoint {
  CheckpointMeta meta;
  Job job;
  Bytes parameters, conv, fc, books, metrics;                     ///< fc is empty where the model is not cut
  std::map<std::pair<Role, std::uint32_t>, Bytes> worker_states;  ///< by role and number
};

inline constexpr std::string_view kCheckpointPrefix = "checkpoint-";
std::string checkpoint_file_name(std::uint64_t number);  ///< "checkpoint-00000012.hgck"
std::optional<std::uint64_t> checkpoint_number_of(std::string_view file);

Bytes encode_checkpoint(const Checkpoint& checkpoint);
/// Errors: those of read_checkpoint(); malformed where a section is missing or does not say what it should.
Result<Checkpoint> decode_checkpoint(std::span<const std::byte> file);
/// What it says about itself, from the first kCheckpointMetaBytes of a file; whether the rest is whole is not looked at.
Result<CheckpointMeta> decode_checkpoint_meta(std::span<const std::byte> begin);
inline constexpr std::size_t kCheckpointMetaBytes = std::size_t{64} << 10;  ///< room for the table of the largest run

}  // namespace hourglass
