// SPDX-License-Identifier: Apache-2.0
// Commands from the server's thread to the monitor's, and who may give them.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "actors/command_post.h"

namespace hourglass {

class CommandBox final : public CommandSource {
 public:
  static constexpr std::size_t kWaitingMax = 8;  ///< not taken yet: the monitor takes none while it waits for the answer to one

  /// The command's number; nothing where too many wait. Any thread.
  std::optional<std::uint64_t> put(Order order);
  std::deque<AskedCommand> take_commands() override;

 private:
  std::mutex mutex_;
  std::uint64_t given_ = 0;
  std::deque<AskedCommand> waiting_;
};

std::optional<Order> order_named(std::string_view name);

/// The token of an Authorization header, "Bearer TOKEN"; empty where there is none.
std::string_view bearer_token(std::string_view authorization);
/// Takes the same time wherever they differ.
bool same_secret(std::string_view a, std::string_view b);
/// True where an Origin header, if there is one, names the host that was asked: another site's page cannot give commands by way of a
/// browser.
bool same_origin(std::string_view origin, std::string_view host);

}  // namespace hourglass
