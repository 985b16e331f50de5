// SPDX-License-Identifier: Apache-2.0
#include "services/supervisor/run_report.h"

#include <nlohmann/json.hpp>

#include "services/supervisor/progress.h"

namespace hourglass {
namespace {

using nlohmann::json;

json parse(const std::string& text) {
  json object = json::parse(text, nullptr, false);
  return object.is_object() ? object : json();
}

template <class T>
void read(const json& object, const char* key, T& out) {
  const auto at = object.find(key);
  if (at == object.end()) return;
  if constexpr (std::is_same_v<T, std::string>) {
    if (at->is_string()) out = at->get<std::string>();
  } else {
    if (at->is_number()) out = at->get<T>();
  }
}

std::optional<double> number(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  return at->get<double>();
}

std::string line_of(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::optional<StatusReport> parse_status(const std::string& text) {
  const json object = parse(text);
  if (object.is_null()) return std::nullopt;
  StatusReport out;
  read(object, "phase", out.phase);
  read(object, "generation", out.generation);
  read(object, "seconds", out.seconds);
  read(object, "epoch", out.epoch);
  read(object, "epochs", out.epochs);
  read(object, "samples_done", out.samples_done);
  read(object, "samples_total", out.samples_total);
  read(object, "samples_per_s", out.samples_per_s);
  out.loss = number(object, "loss");
  out.accuracy = number(object, "accuracy");
  read(object, "bytes_total", out.bytes_total);
  read(object, "bytes_per_s", out.bytes_per_s);
  read(object, "conv_workers", out.conv_workers);
  read(object, "fc_workers", out.fc_workers);
  read(object, "conv_workers_wanted", out.conv_workers_wanted);
  read(object, "message", out.message);
  return out;
}

std::optional<std::string> compose_result(const std::string& result, const std::string& run_folder,
                                          const std::map<std::string, double>& more) {
  json object = parse(result);
  if (object.is_null()) return std::nullopt;
  std::string model;
  read(object, "model", model);
  if (!model.empty() && model.front() != '/') object["model"] = run_folder + "/" + model;
  object["run_dir"] = run_folder;
  for (const auto& [name, value] : more) object[name] = value;
  if (run_folder.empty()) object.erase("model");  // nothing was written
  return line_of(object);
}

std::string compose_failure(const std::string& run_folder, const std::string& reason) {
  return line_of({{"status", "failed"}, {"reason", reason}, {"run_dir", run_folder}});
}

std::string text_member(const std::string& object, const std::string& key) {
  const json parsed = parse(object);
  std::string out;
  if (!parsed.is_null()) read(parsed, key.c_str(), out);
  return out;
}

std::string summary(const std::string& result_object) {
  const json object = parse(result_object);
  if (object.is_null()) return "";
  std::string out = text_member(result_object, "status");
  if (const auto accuracy = number(object, "accuracy")) out += ", test accuracy " + show_share(*accuracy);
  if (const auto loss = number(object, "loss")) out += ", test loss " + show_short(*loss);
  if (const auto samples = number(object, "samples")) out += ", " + std::to_string(static_cast<std::uint64_t>(*samples)) + " samples";
  if (const auto seconds = number(object, "seconds")) out += " in " + show_seconds(*seconds);
  const auto bytes = object.find("bytes");
  if (bytes != object.end() && bytes->is_object() && bytes->contains("total") && (*bytes)["total"].is_object()) {
    if (const auto socket = number((*bytes)["total"], "socket")) out += ", " + show_bytes(*socket) + " sent";
  }
  const std::string model = text_member(result_object, "model");
  return model.empty() ? out : out + "; model " + model;
}

}  // namespace hourglass
