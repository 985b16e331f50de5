// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>

#include "services/command.h"
#include "services/options/command_line.h"
#include "services/options/validate.h"
#include "services/supervisor/run_folder.h"
#include "services/supervisor/run_report.h"

namespace hourglass {

const std::vector<Command>& commands() {
  constexpr unsigned kRole = kTakesProcess;
  static const std::vector<Command> table = {
      {"train", "train on this machine: all roles as child processes, live dashboard",
       "  hourglass train                                       the default job: cnn on Fashion-MNIST, 2 CONV workers, 1 FC worker\n"
       "  hourglass train job.toml --epochs 5 --run-dir runs/a\n"
       "  hourglass train --conv-workers 4 --fc-workers 0 --compress \"topk ratio=0.01 | two_level | rice\"\n"
       "  HOURGLASS_BATCH=32 hourglass train --staleness unlimited --json > result.json\n"
       "  hourglass train --resume runs/a --conv-workers 3      go on with a run that was stopped or killed\n",
       kTakesProcess | kTakesJob | kTakesJson | kTakesDashboard | kTakesResume, run_train},
      {"aggregator", "role: membership, parameters, the job; port 7070",
       "  hourglass aggregator job.toml --listen 0.0.0.0:7070 --run-dir /runs/a\n", kRole | kTakesJob, run_aggregator},
      {"data-loader", "role: reads the dataset and hands out batches", "  hourglass data-loader --aggregator host:7070 --data-dir /data\n",
       kRole, run_data_loader},
      {"conv-worker", "role: trains the conv part", "  HOURGLASS_AGGREGATOR=host:7070 hourglass conv-worker\n", kRole, run_conv_worker},
      {"fc-worker", "role: trains the fc part", "  hourglass fc-worker --aggregator host:7070 --threads 2\n", kRole, run_fc_worker},
      {"tree-node", "role: merges the pushes of the CONV workers below it", "  hourglass tree-node --aggregator host:7070\n", kRole,
       run_tree_node},
      {"monitor", "role: dashboard, metrics; HTTP port 8080", "  hourglass monitor --aggregator host:7070 --monitor-bind 0.0.0.0\n", kRole,
       run_monitor},
      {"top", "a run on a terminal: progress, who is waited for, the books, every process",
       "  hourglass top                                 the monitor of this machine\n  hourglass top http://node-1:8080 --once\n",
       kTakesAddress, run_top},
      {"solo", "train in one process, as a yardstick", "  hourglass solo --model lenet5 --dataset synthetic --epochs 1 --json\n",
       kTakesProcess | kTakesJob | kTakesJson, run_solo},
      {"simulate", "train on simulated machines and a simulated network, in one process; its seconds are virtual",
       "  hourglass simulate --conv-workers 8 --bandwidth 100 --compress \"topk ratio=0.01 | two_level | rice\" --json\n"
       "  hourglass simulate job.toml --bandwidth 10 --latency 20 --loss 0.01\n"
       "  hourglass simulate job.toml --faults faults.toml          with crashes, cuts, slow machines; every rule is checked\n"
       "  hourglass simulate --random-cluster true --seeds 200      200 tiny random clusters under random faults\n",
       kTakesProcess | kTakesJob | kTakesJson | kTakesSimulation, run_simulate},
      {"chaos", "train on this machine while processes are killed and stopped at random; checks that the run survives it",
       "  hourglass chaos --epochs 3 --minutes 2\n"
       "  hourglass chaos job.toml --minutes 15 --every 5-20 --roles conv,fc,aggregator --actions kill,stop --seed 7 --json\n"
       "Strikes begin with training and end after --minutes, or with the run: give it epochs enough. Exit code 1: a check failed.\n",
       kTakesProcess | kTakesJob | kTakesJson | kTakesDashboard | kTakesChaos, run_chaos},
      {"evaluate", "test accuracy and loss of a saved model",
       "  hourglass evaluate --from runs/a --json\n  hourglass evaluate --from a.safetensors --model cnn --dataset fashion_mnist\n",
       kTakesProcess | kTakesJob | kTakesJson | kTakesFrom, run_evaluate},
      {"checkpoint", "list, inspect or verify the checkpoints of a run",
       "  hourglass checkpoint list runs/a\n  hourglass checkpoint inspect runs/a/checkpoint-00000012.hgck --json\n"
       "  hourglass checkpoint verify runs/a\n",
       kTakesAction | kTakesJson, run_checkpoint},
      {"runs", "list, show, compare or remove earlier runs",
       "  hourglass runs list                      those below runs/\n  hourglass runs list /data/runs --json\n"
       "  hourglass runs show 20260131T235959Z-cnn\n  hourglass runs compare runs/a runs/b\n  hourglass runs rm runs/a\n",
       kTakesRuns | kTakesJson, run_runs},
      {"check", "check a job: every wrong setting with its place; nothing is started", "  hourglass check job.toml\n",
       kTakesProcess | kTakesJob, run_check},
      {"healthcheck", "exit code 0 when the role process of this container is alive and ready", "  hourglass healthcheck\n", kTakesProcess,
       run_healthcheck},
      {"models", "list the models", "", 0, run_models},
      {"datasets", "list the datasets", "", 0, run_datasets},
      {"policies", "list optimizers, schedules and the policies of asynchrony", "", 0, run_policies},
      {"compressors", "list what compressor specs are made of", "", kTakesJson, run_compressors},
  };
  return table;
}

namespace {

std::string other_variable(const std::vector<std::string>& variables, const std::string& name) {
  for (const auto& variable : variables) {
    if (variable.compare(0, name.size() + 1, name + "=") == 0) return variable.substr(name.size() + 1);
  }
  return "";
}

int report(const std::vector<Problem>& problems, const Command* command) {
  for (const auto& problem : problems) std::cerr << "hourglass: " << problem.text << '\n';
  std::cerr << "hourglass: see `hourglass " << (command == nullptr ? "" : std::string(command->name) + " ") << "--help`\n";
  return static_cast<int>(worst(problems));
}

int run(const std::vector<std::string>& arguments) {
  const CommandLine line = parse_command_line(commands(), arguments);
  if (line.answer) {
    std::cout << *line.answer;
    return 0;
  }
  if (line.command == nullptr) return report(line.flags.problems, nullptr);
  const auto variables = process_environment();
  Invocation invocation;
  invocation.from = line.from;
  invocation.resume = line.resume;
  invocation.action = line.action;
  invocation.place = line.place;
  invocation.runs = line.runs;
  invocation.json = line.json;
  invocation.once = line.once;
  invocation.dashboard = line.dashboard;
  std::vector<Source> sources;
  if ((line.command->takes & kTakesJob) != 0) {
    invocation.job_file = line.job_file.empty() && line.resume.empty() ? other_variable(variables, "HOURGLASS_JOB") : line.job_file;
    if (invocation.job_file.empty() && !line.from.empty()) invocation.job_file = job_file_beside(line.from);
    if (invocation.job_file.empty() && !line.resume.empty()) invocation.job_file = line.resume + "/" + kJobFile;
    if (!invocation.job_file.empty()) sources.push_back(read_job_file(invocation.job_file));
  }
  if (line.command->takes != 0) sources.push_back(read_environment(variables));
  sources.push_back(line.flags);
  invocation.resolved = resolve(sources);
  if ((line.command->takes & kTakesFrom) != 0)
    invocation.resolved.settings.job.fc_workers = 0;  // where a saved model was cut does not matter
  if ((line.command->takes & kTakesJob) != 0) complete(invocation.resolved);
  if (!invocation.resolved.problems.empty()) {
    if (line.json) std::cout << compose_failure("", invocation.resolved.problems.front().text) << '\n';
    return report(invocation.resolved.problems, line.command);
  }
  if (line.print_config) {
    std::cout << print_config(invocation.resolved);
    return 0;
  }
  return static_cast<int>(line.command->run(invocation));
}

}  // namespace
}  // namespace hourglass

int main(int count, char** arguments) {
  try {
    return hourglass::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::cerr << "hourglass: " << error.what() << '\n';
  }
  return static_cast<int>(hourglass::ExitCode::failure);
}
