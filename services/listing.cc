// SPDX-License-Identifier: Apache-2.0
// hourglass models | datasets | compressors: what the registries hold.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "learning/compress/boundary.h"
#include "learning/compress/compressor.h"
#include "learning/data/dataset.h"
#include "learning/nn/model.h"
#include "learning/params/apply_policy.h"
#include "learning/params/bound_policy.h"
#include "learning/params/local_policy.h"
#include "learning/params/optimizer.h"
#include "learning/params/stale_policy.h"
#include "learning/params/take_policy.h"
#include "services/command.h"

namespace hourglass {
namespace {

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.resize(std::max(width, out.size() + 1), ' ');
  return out;
}

}  // namespace

ExitCode run_models(Invocation&) {
  for (const auto& row : nn::models()) std::cout << padded(row.name, 12) << row.help << '\n' << padded("", 12) << row.spec << '\n';
  return ExitCode::ok;
}

ExitCode run_datasets(Invocation&) {
  for (const auto& row : data::datasets()) {
    std::cout << padded(row.name, 16) << row.channels << 'x' << row.height << 'x' << row.width << ", " << row.classes << " classes; "
              << row.help << '\n';
  }
  return ExitCode::ok;
}

ExitCode run_policies(Invocation&) {
  const std::pair<std::string_view, const std::vector<params::NamedRow>*> families[] = {
      {"train.optimizer", &params::optimizers()},        {"train.schedule", &params::schedules()},
      {"train.bound_policy", &params::bound_policies()}, {"train.local_policy", &params::local_policies()},
      {"train.stale_policy", &params::stale_policies()}, {"train.apply_policy", &params::apply_policies()},
      {"train.take_policy", &params::take_policies()},
  };
  for (const auto& [setting, rows] : families) {
    std::cout << setting << '\n';
    for (const auto& row : *rows) std::cout << "  " << padded(row.name, 18) << row.help << '\n';
  }
  return ExitCode::ok;
}

namespace {

/// One line of the list, whatever part of the library it comes from.
struct CompressorLine {
  std::string_view kind, name, help, bits, source, example;
};

std::vector<CompressorLine> compressor_lines() {
  std::vector<CompressorLine> lines;
  for (const auto kind : compress::kStageKinds) {
    for (const auto& row : compress::registry()) {
      if (row.kind == kind) lines.push_back({compress::name_of(kind), row.name, row.help, row.bits, row.source, row.example});
    }
  }
  for (const auto& row : compress::boundary_rows())
    lines.push_back({"boundary codec", row.name, row.help, row.bits, row.source, row.example});
  return lines;
}

}  // namespace

ExitCode run_compressors(Invocation& invocation) {
  const auto lines = compressor_lines();
  if (invocation.json) {
    auto list = nlohmann::json::array();
    for (const auto& line : lines) {
      list.push_back({{"kind", line.kind},
                      {"name", line.name},
                      {"help", line.help},
                      {"bits", line.bits},
                      {"source", line.source},
                      {"example", line.example}});
    }
    std::cout << list.dump() << std::endl;
    return ExitCode::ok;
  }
  std::size_t name = 0;
  std::size_t help = 0;
  std::size_t bits = 0;
  for (const auto& line : lines) {
    name = std::max(name, line.name.size());
    help = std::max(help, line.help.size());
    bits = std::max(bits, line.bits.size());
  }
  std::cout << padded("name", name + 2) << padded("what it does", help + 2) << padded("bits an entry", bits + 2) << "source\n";
  std::string_view kind;
  for (const auto& line : lines) {
    if (line.kind != kind) std::cout << '\n' << line.kind << '\n';
    kind = line.kind;
    std::cout << padded(line.name, name + 2) << padded(line.help, help + 2) << padded(line.bits, bits + 2) << line.source << '\n';
  }
  return ExitCode::ok;
}

}  // namespace hourglass
