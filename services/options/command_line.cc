// SPDX-License-Identifier: Apache-2.0
#include "services/options/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>

#include "services/version.h"

namespace hourglass {
namespace {

constexpr std::string_view kExitCodes =
    "Exit codes: 0 done, 1 failure, 2 wrong usage, 65 bad data, 66 missing file or dataset, 69 a peer or port is not available,\n"
    "74 disk or system error, 75 try again later, 76 protocol refused, 78 wrong setting, 130/143 interrupted before the model was saved.\n";

constexpr std::string_view kPrecedence =
    "Settings: a flag beats its environment variable, which beats the job file, which beats the default. The variable of --some-flag is\n"
    "HOURGLASS_SOME_FLAG. Every setting also goes by --set section.key=value. --print-config shows each value and where it came from.\n";

bool accepts(const Command& command, const Setting& setting) {
  switch (setting.scope) {
    case Scope::job: return (command.takes & kTakesJob) != 0;
    case Scope::process: return (command.takes & kTakesProcess) != 0;
    case Scope::simulation: return (command.takes & kTakesSimulation) != 0;
    case Scope::chaos: return (command.takes & kTakesChaos) != 0;
  }
  return false;
}

std::string plain(std::string value) {
  value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
  return value;
}

std::string placeholder(const Setting& setting) {
  if (setting.allowed.rfind("a whole number", 0) == 0) return "N";
  if (setting.allowed.rfind("a number", 0) == 0) return "X";
  if (setting.allowed.rfind("host:port", 0) == 0) return "HOST:PORT";
  if (setting.allowed.rfind("a folder", 0) == 0) return "DIR";
  if (setting.allowed.find("spec") != std::string::npos) return "SPEC";
  return "VALUE";
}

/// The parsed command line of one command; CLI11 writes through the pointers it was given, so this stays where it is.
struct Parse {
  CLI::App app;
  std::vector<std::string> values = std::vector<std::string>(setting_table().size());
  std::vector<CLI::Option*> options = std::vector<CLI::Option*>(setting_table().size(), nullptr);
  std::vector<std::string> sets;
  bool help = false;
  bool no_dashboard = false;
};

void add_settings(Parse& parse, const Command& command) {
  const auto& table = setting_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Setting& row = table[i];
    if (!accepts(command, row)) continue;
    const std::string fallback = plain(row.show(Settings{}));
    const std::string help = std::string(row.help) + (fallback.empty() ? "" : " (" + fallback + ")");
    parse.options[i] = parse.app.add_option(std::string(row.flag), parse.values[i], help)
                           ->group("[" + std::string(row.section()) + "]")
                           ->type_name(placeholder(row))
                           ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

void add_switches(Parse& parse, const Command& command, CommandLine& out) {
  parse.app.set_help_flag();  // --help is a switch of ours: it must win over what else is wrong
  parse.app.add_flag("-h,--help", parse.help, "print this and leave");
  if ((command.takes & kTakesProcess) != 0) {
    parse.app.add_option("--set", parse.sets, "set any key")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    parse.app.add_flag("--print-config", out.print_config, "print every setting, its value and origin, and leave");
  }
  if ((command.takes & kTakesJob) != 0) parse.app.add_option("JOB.toml", out.job_file, "job file")->type_name("");
  if ((command.takes & kTakesAction) != 0) {
    parse.app.add_option("ACTION", out.action, "list, inspect or verify")->type_name("");
    parse.app.add_option("PLACE", out.place, "run folder, or checkpoint file")->type_name("");
  }
  if ((command.takes & kTakesAddress) != 0) {
    parse.app.add_option("ADDRESS", out.place, "of the monitor (http://127.0.0.1:8080)")->type_name("");
    parse.app.add_flag("--once", out.once, "print once and leave; so it is where standard output is no terminal");
  }
  if ((command.takes & kTakesRuns) != 0) {
    parse.app.add_option("ACTION", out.action, "list, show, compare or rm")->type_name("");
    parse.app.add_option("RUN", out.runs, "run folders, or their names below runs/; of list: the folder of runs")->type_name("");
  }
  if ((command.takes & kTakesResume) != 0) {
    parse.app.add_option("--resume", out.resume, "go on with the run of this folder; other flags change its settings")->type_name("RUN");
  }
  if ((command.takes & kTakesJson) != 0) parse.app.add_flag("--json", out.json, "print one JSON object to standard output at the end");
  if ((command.takes & kTakesDashboard) != 0) parse.app.add_flag("--no-dashboard", parse.no_dashboard, "start no monitor");
  if ((command.takes & kTakesFrom) != 0) {
    parse.app.add_option("--from", out.from, "model file (.safetensors), or run folder")->type_name("FILE|RUN");
  }
}

std::vector<std::string> flags_of(const Parse& parse) {
  std::vector<std::string> names;
  for (const auto* option : parse.app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

void report_extras(const Parse& parse, const Command& command, CommandLine& out) {
  bool unknown_flag = false;
  for (const auto& extra : parse.app.remaining()) {
    if (extra.size() < 2 || extra[0] != '-') continue;
    const std::string flag = extra.substr(0, extra.find('='));
    unknown_flag = true;
    std::string hint = did_you_mean(flag, flags_of(parse));
    for (const auto& row : setting_table()) {
      if (row.flag == flag) hint = "; it is a setting of the job, which the aggregator hands out";
    }
    out.flags.problems.push_back({ExitCode::usage, "flag " + flag + ": unknown to `hourglass " + std::string(command.name) + "`" + hint});
  }
  if (unknown_flag) {
    out.job_file.clear();  // it may well be the unknown flag's value
    return;
  }
  for (const auto& extra : parse.app.remaining()) {
    out.flags.problems.push_back(
        {ExitCode::usage, "argument '" + extra + "': `hourglass " + std::string(command.name) + "` takes no such argument"});
  }
}

std::string footer(const Command& command) {
  std::string out = "\n";
  if (!command.examples.empty()) out += "Examples:\n" + std::string(command.examples) + "\n";
  if ((command.takes & kTakesProcess) != 0) out += std::string(kPrecedence) + "\n";
  return out + std::string(kExitCodes);
}

/// CLI11 takes "--flag=" for a flag without a value; here the value is empty, and the table says whether that is allowed.
std::vector<std::string> with_empty_values(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (const auto& argument : arguments) {
    const bool empty = argument.size() > 3 && argument.compare(0, 2, "--") == 0 && argument.find('=') == argument.size() - 1;
    out.push_back(empty ? argument.substr(0, argument.size() - 1) : argument);
    if (empty) out.emplace_back();
  }
  return out;
}

CommandLine parse_command(const Command& command, std::vector<std::string> arguments) {
  CommandLine out;
  out.command = &command;
  const auto parse = std::make_unique<Parse>();
  parse->app.name("hourglass " + std::string(command.name));
  parse->app.description(std::string(command.summary) + "\n");
  parse->app.get_formatter()->column_width(36);
  parse->app.allow_extras();
  add_switches(*parse, command, out);
  add_settings(*parse, command);
  arguments = with_empty_values(arguments);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    parse->app.parse(std::move(arguments));
  } catch (const CLI::Error& error) {
    if (!parse->help) {
      out.flags.problems.push_back({ExitCode::usage, std::string("command line: ") + error.what()});
      return out;
    }
  }
  if (parse->help) {
    parse->app.footer(footer(command));
    out.answer = parse->app.help();
    return out;
  }
  out.dashboard = !parse->no_dashboard;
  Source sets = parse_set(parse->sets);
  out.flags.assignments = std::move(sets.assignments);
  out.flags.problems.insert(out.flags.problems.end(), sets.problems.begin(), sets.problems.end());
  for (std::size_t i = 0; i < setting_table().size(); ++i) {
    const Setting& row = setting_table()[i];
    if (parse->options[i] == nullptr || parse->options[i]->count() == 0) continue;
    out.flags.assignments.push_back({&row, {RawValue::Type::text, parse->values[i]}, "flag " + std::string(row.flag)});
  }
  report_extras(*parse, command, out);
  return out;
}

}  // namespace

std::string general_help(const std::vector<Command>& table) {
  std::string out =
      "Usage: hourglass COMMAND [FLAGS]\n\nTrains neural networks asynchronously over several processes and machines.\n\nCommands:\n";
  for (const auto& command : table) {
    std::string name = "  " + std::string(command.name);
    name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
    out += name + std::string(command.summary) + "\n";
  }
  out += "\n  hourglass COMMAND --help   flags and examples of a command\n  hourglass --version        version and commit\n\n";
  out += "Examples:\n  hourglass train\n  hourglass train job.toml --conv-workers 4 --compress \"topk ratio=0.01 | two_level | rice\"\n\n";
  out += std::string(kPrecedence) + "\nOther variables:\n";
  for (const auto& row : other_variables()) {
    std::string name = "  " + std::string(row.name);
    name.resize(std::max<std::size_t>(name.size() + 1, 26), ' ');
    out += name + std::string(row.help) + "\n";
  }
  return out + "\n" + std::string(kExitCodes);
}

CommandLine parse_command_line(const std::vector<Command>& table, const std::vector<std::string>& arguments) {
  CommandLine out;
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first.empty()) {
    out.flags.problems.push_back({ExitCode::usage, "command line: which command? `hourglass --help` lists them"});
    return out;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    out.answer = general_help(table);
    return out;
  }
  if (first == "--version" || first == "version") {
    out.answer = "hourglass " + build_name() + "\n";
    return out;
  }
  std::vector<std::string> names;
  for (const auto& command : table) {
    if (command.name == first) return parse_command(command, {arguments.begin() + 1, arguments.end()});
    names.emplace_back(command.name);
  }
  out.flags.problems.push_back({ExitCode::usage, "command line: unknown command '" + first + "'" + did_you_mean(first, names)});
  return out;
}

}  // namespace hourglass
