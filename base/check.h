// SPDX-License-Identifier: Apache-2.0
// Checks of our own assumptions. They stay on in release builds: a process that found itself wrong must not go on.
#pragma once

#include <string>
#include <string_view>

namespace hourglass {

/// Prints "file:line: check failed: condition: text (actor)" to stderr and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, std::string_view text);

/// The name that a failed check prints, so that a supervisor's log says which process it was. Process-wide.
void set_check_actor(std::string name);

}  // namespace hourglass

#define HG_CHECK(condition, text) (static_cast<bool>(condition) ? void(0) : ::hourglass::check_failed(__FILE__, __LINE__, #condition, text))
