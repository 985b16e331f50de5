// SPDX-License-Identifier: Apache-2.0
// The list of all messages. A new message is one row here, one in all_messages.h, and a handler in the actor that takes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace hourglass {

enum class MessageType : std::uint8_t {
  hello = 1,
  welcome = 2,
  refuse = 3,
  roster = 4,
  heartbeat = 5,
  heartbeat_reply = 6,
  run_phase = 7,
  phase_reached = 8,
  activity = 9,
  goodbye = 10,
  batch_request = 16,
  lease_update = 17,
  batch = 18,
  data_progress = 19,
  evaluation_result = 20,
  activations = 32,
  activation_gradients = 33,
  gradient_push = 48,
  push_verdict = 49,
  parameter_request = 50,
  parameter_update = 51,
  snapshot_chunk = 52,
  state_request = 53,
  state_chunk = 54,
  metric_report = 64,
  run_status = 65,
  run_command = 66,
  command_reply = 67,
};

/// What a message is for, as bytes are accounted. Push and update split by parameter group, which the type alone does not tell.
enum class Traffic : std::uint8_t {
  batch,
  activations,
  activation_gradients,
  push_conv,
  push_fc,
  update_conv,
  update_fc,
  snapshot,
  metrics,
  control,
  evaluation,  ///< batches and activations of the test set
};
inline constexpr std::uint8_t kTraffics = 11;
std::string_view name_of(Traffic traffic);  ///< "push_conv"

/// Layers that share one version. With --fc-workers 0 the conv group is the whole model.
enum class Group : std::uint8_t { conv = 0, fc = 1 };
inline constexpr std::uint8_t kGroups = 2;
std::string_view name_of(Group group);

/// Protocol versions that this build speaks, both ends included.
inline constexpr std::uint32_t kProtocolMin = 1;
inline constexpr std::uint32_t kProtocolMax = 1;

}  // namespace hourglass
