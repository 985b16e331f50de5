// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/model_file.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace hourglass::nn {
namespace {

/// A parameter and the part of the model that it belongs to.
struct Place {
  const Parameter* parameter;
  bool in_fc;
};

/// Layer by layer, weight before bias, conv part first. Each network lists all weights, then all biases, both in the order of its layers.
std::vector<Place> places_of(const Model& model) {
  std::vector<Place> out;
  for (const Network* network : {model.conv.get(), model.fc.get()}) {
    if (network == nullptr) continue;
    const auto& parameters = network->parameters();
    for (std::size_t i = 0; i < parameters.size() / 2; ++i) {
      for (const std::size_t index : {i, parameters.size() / 2 + i}) out.push_back({&parameters[index], network == model.fc.get()});
    }
  }
  return out;
}

bool same_shape(const std::vector<std::uint64_t>& a, const std::vector<std::uint32_t>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string to_string(const auto& shape) {
  std::string out;
  for (const auto extent : shape) out += (out.empty() ? "" : "x") + std::to_string(extent);
  return out;
}

/// The number of "12.weight" as torch.nn.Sequential names it, where `name` is of that form.
std::optional<std::uint32_t> sequential_number(std::string_view name) {
  std::uint32_t number = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  const std::string_view rest = name.substr(static_cast<std::size_t>(end - name.data()));
  if (status != std::errc() || (rest != ".weight" && rest != ".bias")) return std::nullopt;
  return number;
}

/// Gives the tensors of a torch.nn.Sequential our names, where all of them have that form and their number fits; else changes nothing.
void rename_sequential(std::vector<Tensor>& tensors, const std::vector<Place>& places) {
  std::vector<std::pair<std::uint32_t, bool>> order;  // layer number, is a bias
  for (const Tensor& tensor : tensors) {
    const auto number = sequential_number(tensor.name);
    if (!number) return;
    order.emplace_back(*number, tensor.name.ends_with(".bias"));
  }
  if (tensors.size() != places.size()) return;
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto rank = static_cast<std::size_t>(std::find(sorted.begin(), sorted.end(), order[i]) - sorted.begin());
    tensors[i].name = places[rank].parameter->name;
  }
}

}  // namespace

Bytes model_to_safetensors(const Model& model, std::span<const float> conv, std::span<const float> fc, const Metadata& metadata) {
  HG_CHECK(conv.size() == model.conv->parameter_count(), "the conv part has another number of parameters");
  HG_CHECK(fc.size() == (model.fc ? model.fc->parameter_count() : 0), "the fc part has another number of parameters");
  std::vector<TensorView> views;
  for (const auto& [parameter, in_fc] : places_of(model)) {
    views.push_back({parameter->name,
                     {parameter->shape.begin(), parameter->shape.end()},
                     (in_fc ? fc : conv).subspan(parameter->offset, parameter->size)});
  }
  return write_safetensors(views, metadata);
}

Status model_from_safetensors(const Model& model, std::span<const std::byte> file, std::vector<float>& conv, std::vector<float>& fc,
                              Metadata* metadata) {
  auto read = read_safetensors(file);
  if (!read) return read.error();
  const std::vector<Place> places = places_of(model);
  rename_sequential(read->tensors, places);
  std::map<std::string_view, const Tensor*> by_name;
  for (const Tensor& tensor : read->tensors) by_name.emplace(tensor.name, &tensor);
  std::vector<float> new_conv(model.conv->parameter_count()), new_fc(model.fc ? model.fc->parameter_count() : 0);
  for (const auto& [parameter, in_fc] : places) {
    const auto found = by_name.find(parameter->name);
    if (found == by_name.end()) return {Errc::bad_data, "the file has no tensor '" + parameter->name + "'"};
    const Tensor& tensor = *found->second;
    if (!same_shape(tensor.shape, parameter->shape)) {
      return {Errc::bad_data, "tensor '" + tensor.name + "' is " + to_string(tensor.shape) + " in the file and " +
                                  to_string(parameter->shape) + " in the model"};
    }
    std::copy(tensor.values.begin(), tensor.values.end(),
              (in_fc ? new_fc : new_conv).begin() + static_cast<std::ptrdiff_t>(parameter->offset));
    by_name.erase(found);
  }
  if (!by_name.empty()) return {Errc::bad_data, "the model has no tensor '" + std::string(by_name.begin()->first) + "' as the file does"};
  conv = std::move(new_conv);
  fc = std::move(new_fc);
  if (metadata != nullptr) *metadata = std::move(read->metadata);
  return {};
}

}  // namespace hourglass::nn
