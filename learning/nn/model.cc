// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/model.h"

#include <algorithm>

#include "base/bytes.h"

namespace hourglass::nn {
namespace {

constexpr std::uint32_t kClassesMax = 65536;  // labels are 16 bits wide

std::string list_of_models() {
  std::string out;
  for (const ModelRow& row : models()) out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

bool is_layer(const std::string& name) {
  const auto& kinds = layer_kinds();
  return std::any_of(kinds.begin(), kinds.end(), [&](const LayerKind& kind) { return kind.name == name; });
}

Error with_list(const std::string& text) { return {Errc::bad_config, text + "; models: " + list_of_models() + ", or a spec of layers"}; }

/// The stages of a model by name or by spec, with "cut" among them and the size of the last layer filled in.
Result<std::vector<SpecStage>> stages_of(std::string_view text, std::uint32_t classes) {
  for (const ModelRow& row : models()) {
    if (row.name == text) text = row.spec;
  }
  auto stages = parse_spec(text);
  if (!stages) return with_list("model '" + std::string(text) + "': " + stages.error().text);
  if (stages->size() == 1 && !is_layer(stages->front().name)) {
    std::vector<std::string> names;
    for (const ModelRow& row : models()) names.emplace_back(row.name);
    const std::string near = nearest_name(text, names);
    return with_list("no model '" + std::string(text) + "'" + (near.empty() ? "" : ", did you mean '" + near + "'?"));
  }
  if (SpecStage& last = stages->back(); last.name == "fc" && last.words.empty()) last.words.push_back(std::to_string(classes));
  return stages;
}

void hash_parameters(const Network* network, std::string& text) {
  if (network == nullptr) return;
  for (const Parameter& parameter : network->parameters()) {
    text += parameter.name;
    for (const std::uint32_t extent : parameter.shape) text += "," + std::to_string(extent);
    text += "@" + std::to_string(parameter.offset) + ";";
  }
  text += "|";
}

Result<Model> build_parts(const ModelSpec& spec, Shape input, std::uint32_t threads) {
  Model model;
  auto conv = build_network(spec.conv, input, threads);
  if (!conv) return conv.error();
  model.conv = std::move(*conv);
  if (spec.fc.empty()) return model;
  auto fc = build_network(spec.fc, model.conv->output(), threads, model.conv.get());
  if (!fc) return fc.error();
  model.fc = std::move(*fc);
  return model;
}

}  // namespace

bool ends_rectified(const std::vector<SpecStage>& stages) {
  const auto last =
      std::find_if(stages.rbegin(), stages.rend(), [](const SpecStage& stage) { return stage.name != "flatten" && stage.name != "pool"; });
  return last != stages.rend() && last->name == "relu";
}

const std::vector<ModelRow>& models() {
  static const std::vector<ModelRow> rows = {
      {"cnn", "two 5x5 convolutions and a wide fully connected layer: 3.27 M parameters at 28x28, 98 % of them behind the cut",
       "conv 32 kernel=5 pad=2 | relu | pool 2 | conv 64 kernel=5 pad=2 | relu | pool 2 | flatten | cut | fc 1024 | relu | fc"},
      {"lenet5", "LeNet-5 (LeCun et al. 1998) with max pooling and relu: 62 k parameters at 28x28",
       "conv 6 kernel=5 pad=2 | relu | pool 2 | conv 16 kernel=5 | relu | pool 2 | flatten | cut | fc 120 | relu | fc 84 | relu | fc"},
      {"cifar_cnn", "three 3x3 convolutions for 32x32 colour images: 156 k parameters",
       "conv 16 kernel=3 pad=1 | relu | pool 2 | conv 32 kernel=3 pad=1 | relu | pool 2 | conv 64 kernel=3 pad=1 | relu | pool 2 | "
       "flatten | cut | fc 128 | relu | fc"},
      {"mlp", "fully connected only, 256-128", "flatten | cut | fc 256 | relu | fc 128 | relu | fc"},
  };
  return rows;
}

Result<ModelSpec> parse_model(std::string_view text, Shape input, std::uint32_t classes, bool cut) {
  if (classes == 0 || classes > kClassesMax) return {Errc::bad_config, "classes must be from 1 to " + std::to_string(kClassesMax)};
  auto stages = stages_of(text, classes);
  if (!stages) return stages.error();
  ModelSpec spec;
  bool behind = false;
  for (SpecStage& stage : *stages) {
    if (stage.name != "cut") {
      (behind && cut ? spec.fc : spec.conv).push_back(std::move(stage));
      continue;
    }
    if (const Status only = stage.only({}); !only) return only.error();
    if (behind) return {Errc::bad_config, "model '" + std::string(text) + "': a second 'cut'"};
    behind = true;
  }
  if (behind && cut && spec.fc.empty()) return {Errc::bad_config, "model '" + std::string(text) + "': no layer behind the cut"};
  auto model = build_parts(spec, input, 1);
  if (!model) return with_list("model '" + std::string(text) + "': " + model.error().text);
  const Shape output = (model->fc ? model->fc : model->conv)->output();
  if (output != Shape{classes, 1, 1}) {
    return with_list("model '" + std::string(text) + "' ends in " + std::to_string(output.size()) + " outputs, but the data has " +
                     std::to_string(classes) + " classes (end it with 'fc')");
  }
  return spec;
}

Result<Model> build_model(std::string_view text, Shape input, std::uint32_t classes, bool cut, std::uint32_t threads) {
  auto spec = parse_model(text, input, classes, cut);
  if (!spec) return spec.error();
  return build_parts(*spec, input, threads);
}

void initialise(const Model& model, std::uint64_t seed, std::vector<float>& conv, std::vector<float>& fc) {
  Random random(seed);
  conv.resize(model.conv->parameter_count());
  model.conv->initialise(conv, random);
  fc.resize(model.fc ? model.fc->parameter_count() : 0);
  if (model.fc) model.fc->initialise(fc, random);
}

std::uint64_t layout_hash(const Model& model) {
  std::string text;
  hash_parameters(model.conv.get(), text);
  hash_parameters(model.fc.get(), text);
  return fingerprint(as_span(text));
}

}  // namespace hourglass::nn
