// SPDX-License-Identifier: Apache-2.0
#include "messages/codec.h"

#include "messages/all_messages.h"

namespace hourglass {

std::string_view name_of(MessageType type) {
  switch (type) {
#define HOURGLASS_NAME(Struct, name) \
  case Struct::kType: return name;
    HOURGLASS_MESSAGES(HOURGLASS_NAME)
#undef HOURGLASS_NAME
  }
  return "unknown";
}

bool is_known(std::uint8_t type) { return name_of(static_cast<MessageType>(type)) != "unknown"; }

template <WireMessage M>
Traffic traffic_of([[maybe_unused]] const M& message) {
  switch (M::kType) {
    case MessageType::batch:
      if constexpr (requires { message.mode; }) return message.mode == Mode::train ? Traffic::batch : Traffic::evaluation;
      break;
    case MessageType::activations:
      if constexpr (requires { message.mode; }) return message.mode == Mode::train ? Traffic::activations : Traffic::evaluation;
      break;
    case MessageType::activation_gradients: return Traffic::activation_gradients;
    case MessageType::gradient_push:
      if constexpr (requires { message.group; }) return message.group == Group::conv ? Traffic::push_conv : Traffic::push_fc;
      break;
    case MessageType::parameter_update:
      if constexpr (requires { message.group; }) return message.group == Group::conv ? Traffic::update_conv : Traffic::update_fc;
      break;
    case MessageType::snapshot_chunk:
    case MessageType::state_chunk: return Traffic::snapshot;
    case MessageType::metric_report:
    case MessageType::run_status: return Traffic::metrics;
    default: break;
  }
  return Traffic::control;
}

#define HOURGLASS_TRAFFIC(Struct, name) template Traffic traffic_of(const Struct&);
HOURGLASS_MESSAGES(HOURGLASS_TRAFFIC)
#undef HOURGLASS_TRAFFIC

}  // namespace hourglass
