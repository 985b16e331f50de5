// SPDX-License-Identifier: Apache-2.0
// hourglass solo: the whole model in one process, on the batches of all CONV workers together.
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>

#include "learning/nn/model_file.h"
#include "services/command.h"
#include "services/hosting/log.h"
#include "services/solo/solo_trainer.h"
#include "services/supervisor/progress.h"
#include "services/supervisor/run_folder.h"

namespace hourglass {
namespace {

using nlohmann::json;

double since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

ExitCode fail(ExitCode code, const std::string& text) {
  log_line(Severity::error, text);
  return code;
}

StatusReport status_of(const SoloTrainer& trainer, const Job& job, double seconds) {
  const DataProgress progress = trainer.progress();
  StatusReport out;
  out.phase = "training";
  out.epoch = progress.epoch;
  out.epochs = job.epochs;
  out.samples_done = progress.samples_done;
  out.samples_total = progress.samples_total;
  out.samples_per_s = seconds > 0 ? static_cast<double>(progress.samples_done) / seconds : 0;
  out.loss = trainer.training_loss();
  if (!trainer.history().empty()) out.accuracy = trainer.history().back().accuracy;
  return out;
}

json result_of(const SoloTrainer& trainer, const Job& job, double seconds, double training_seconds,
               const std::vector<HistoryRow>& history) {
  json rows = json::array();
  for (const auto& row : history) {
    rows.push_back({{"seconds", row.seconds}, {"samples", row.samples}, {"bytes", 0}, {"loss", row.loss}, {"accuracy", row.accuracy}});
  }
  const auto samples = trainer.progress().samples_done;
  return {{"run", "solo"},
          {"status", "finished"},
          {"seconds", seconds},
          {"training_seconds", training_seconds},
          {"epochs", job.epochs},
          {"samples", samples},
          {"samples_per_s", training_seconds > 0 ? static_cast<double>(samples) / training_seconds : 0},
          {"steps", trainer.steps()},
          {"accuracy", history.empty() ? json() : json(history.back().accuracy)},
          {"loss", history.empty() ? json() : json(history.back().loss)},
          {"history", rows},
          {"conv_workers", job.conv_workers},
          {"fc_workers", job.fc_workers},
          {"cpu_seconds", {{"solo", cpu_seconds()}}}};
}

Status save(const SoloTrainer& trainer, const Job& job, const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return {Errc::io, folder + ": " + failure.message()};
  const Bytes bytes = nn::model_to_safetensors(trainer.model(), trainer.conv(), trainer.fc(),
                                               {{"model", job.model}, {"dataset", job.dataset}, {"format", "pt"}});
  return write_text(folder + "/" + kModelFile, std::string(as_text(bytes)));
}

}  // namespace

ExitCode run_solo(Invocation& invocation) {
  const Settings& settings = invocation.settings();
  const Job& job = settings.job;
  start_log({settings.log_format, settings.log_level, "solo", ""});
  for (const auto& warning : invocation.resolved.warnings) log_line(Severity::warning, warning);
  const auto train = data::load_dataset(job.dataset, settings.data_dir, data::Split::train, job.seed);
  const auto test = data::load_dataset(job.dataset, settings.data_dir, data::Split::test, job.seed);
  if (!train.ok() || !test.ok()) return fail(ExitCode::missing_data, train.ok() ? test.error().text : train.error().text);
  auto trainer = SoloTrainer::make(job, train.value(), test.value(), job.conv_workers);
  if (!trainer.ok()) return fail(ExitCode::config, trainer.error().text);
  Progress progress;
  const auto began = std::chrono::steady_clock::now();
  double training_seconds = 0;
  std::vector<HistoryRow> history;
  bool more = true;
  while (more) {
    more = trainer->step();
    for (std::size_t i = history.size(); i < trainer->history().size(); ++i) {
      history.push_back(trainer->history()[i]);
      history.back().seconds = since(began);
    }
    if (more) training_seconds = since(began);
    progress.show(status_of(*trainer, job, training_seconds), since(began));
  }
  progress.close();
  json result = result_of(*trainer, job, since(began), training_seconds, history);
  if (!settings.run_dir.empty()) {
    if (const Status saved = save(*trainer, job, settings.run_dir); !saved.ok()) return fail(ExitCode::io, saved.error().text);
    result["model"] = settings.run_dir + "/" + kModelFile;
  }
  log_line(Severity::info, summary(result.dump()));
  if (invocation.json) std::cout << result.dump() << std::endl;
  return ExitCode::ok;
}

}  // namespace hourglass
