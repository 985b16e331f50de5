// SPDX-License-Identifier: Apache-2.0
// hourglass evaluate: accuracy and loss of a saved model on the test set, in this process.
#include <iostream>

#include <nlohmann/json.hpp>

#include "learning/nn/model_file.h"
#include "services/command.h"
#include "services/options/validate.h"
#include "services/solo/solo_trainer.h"
#include "services/supervisor/progress.h"
#include "services/supervisor/run_folder.h"

namespace hourglass {
namespace {

constexpr std::uint64_t kModelBytesMax = std::uint64_t{4} << 30;

ExitCode fail(ExitCode code, const std::string& text) {
  std::cerr << "hourglass: " << text << '\n';
  return code;
}

struct Loaded {
  nn::Model model;
  std::vector<float> conv, fc;
};

Result<Loaded> load(const Job& job, const std::string& text) {
  auto model = nn::build_model(job.model, {job.channels, job.height, job.width}, job.classes, false, job.threads);
  if (!model.ok()) return model.error();
  Loaded out;
  out.model = std::move(*model);
  const Status read = nn::model_from_safetensors(out.model, as_span(text), out.conv, out.fc);
  if (!read.ok()) return read.error();
  return out;
}

}  // namespace

ExitCode run_evaluate(Invocation& invocation) {
  if (invocation.from.empty()) return fail(ExitCode::usage, "flag --from is missing: give a model file or a run folder");
  const Settings& settings = invocation.settings();
  const std::string file = model_file_of(invocation.from);
  const auto text = read_text(file, kModelBytesMax);
  if (!text) return fail(ExitCode::missing_data, "no model can be read from " + file);
  const auto loaded = load(settings.job, *text);
  if (!loaded.ok()) return fail(ExitCode::bad_data, file + ": " + loaded.error().text + " (model " + settings.job.model + ")");
  const auto row = data::find_dataset(settings.job.dataset);
  const auto test = data::load_dataset(settings.job.dataset, settings.data_dir, data::Split::test, settings.job.seed);
  if (!row.ok() || !test.ok()) return fail(ExitCode::missing_data, row.ok() ? test.error().text : row.error().text);
  const auto score = evaluate(loaded.value().model, loaded.value().conv, loaded.value().fc, **row, test.value());
  if (!score.ok()) return fail(ExitCode::bad_data, score.error().text);
  if (invocation.json) {
    const nlohmann::json out = {{"model", file},
                                {"model_name", settings.job.model},
                                {"dataset", settings.job.dataset},
                                {"samples", test.value().size()},
                                {"accuracy", score.value().accuracy},
                                {"loss", score.value().loss}};
    std::cout << out.dump() << std::endl;
  } else {
    std::cout << "test accuracy " << show_share(score.value().accuracy) << ", test loss " << show_short(score.value().loss) << ", "
              << test.value().size() << " samples\n";
  }
  return ExitCode::ok;
}

}  // namespace hourglass
