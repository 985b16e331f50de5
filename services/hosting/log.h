// SPDX-License-Identifier: Apache-2.0
// Log lines of this process, to standard error: readable text, or one JSON object a line.
#pragma once

#include <string>
#include <string_view>

#include "runtime/context.h"

namespace hourglass {

struct LogOptions {
  std::string format = "auto";  ///< auto | text | json; auto: JSON inside a container where standard error is no terminal
  std::string level = "info";   ///< debug | info | warning | error
  std::string role;             ///< field `role` of each line
  std::string name;             ///< field `name`; empty: none
};

/// Before the first log_line(), from one thread. Calling it again replaces the options.
void start_log(const LogOptions& options);
/// From any thread. Fields keep their order. Control characters are escaped, so a line is a line.
void log_line(Severity severity, std::string_view event, const Fields& fields = {});
/// Field `number` of each later line: the small number that the aggregator gave. From any thread.
void set_log_number(std::uint32_t number);
/// Written before each text line, to clear a progress bar. "" where there is none. From the thread that logs.
void set_log_prefix(std::string prefix);

bool in_container();

}  // namespace hourglass
