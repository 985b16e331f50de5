// SPDX-License-Identifier: Apache-2.0
// Addresses of this host.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hourglass {

/// Tries to bind; ok where that works. Errors: unreachable, with the port, the cause and who holds it where that can be seen.
Status port_is_free(const std::string& address, std::uint16_t port);
/// Who listens on a TCP port, "pid 123 (python3)", or "" where that cannot be seen.
std::string port_owner(std::uint16_t port);

std::uint16_t port_of(const std::string& host_and_port);
std::string host_of(const std::string& host_and_port);
std::string own_host_name();

}  // namespace hourglass
