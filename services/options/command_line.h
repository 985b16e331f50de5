// SPDX-License-Identifier: Apache-2.0
// Flags. CLI11 stays behind this door; what a value may be is the table's business, so every flag is text here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/command.h"

namespace hourglass {

struct CommandLine {
  const Command* command = nullptr;   ///< null where `answer` or `problems` say why
  std::optional<std::string> answer;  ///< text of --help or --version: print it and leave
  Source flags;                       ///< --set first, so that a flag of its own beats it
  std::string job_file;
  std::string from;
  std::string resume;
  std::string action, place;      ///< of `checkpoint`; `place` of `top`, too: the monitor's address
  std::vector<std::string> runs;  ///< of `runs`
  bool json = false;
  bool once = false;
  bool dashboard = true;
  bool print_config = false;
};

/// `arguments`: without the program's name.
CommandLine parse_command_line(const std::vector<Command>& table, const std::vector<std::string>& arguments);

/// What `hourglass --help` prints: commands, environment, exit codes.
std::string general_help(const std::vector<Command>& table);

}  // namespace hourglass
