// SPDX-License-Identifier: Apache-2.0
// hourglass models | datasets | compressors: what the registries hold.
#include <algorithm>
#include <iostream>

#include "learning/compress/boundary.h"
#include "learning/compress/compressor.h"
#include "learning/data/dataset.h"
#include "learning/nn/model.h"
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

ExitCode run_compressors(Invocation&) {
  const auto& rows = compress::registry();
  std::size_t name = 0;
  std::size_t help = 0;
  std::size_t bits = 0;
  for (const auto& row : rows) {
    name = std::max(name, row.name.size());
    help = std::max(help, row.help.size());
    bits = std::max(bits, row.bits.size());
  }
  std::cout << padded("name", name + 2) << padded("what it does", help + 2) << padded("bits an entry", bits + 2) << "source\n";
  for (const auto kind : compress::kStageKinds) {
    bool first = true;
    for (const auto& row : rows) {
      if (row.kind != kind) continue;
      if (first) std::cout << '\n' << compress::name_of(kind) << '\n';
      first = false;
      std::cout << padded(row.name, name + 2) << padded(row.help, help + 2) << padded(row.bits, bits + 2) << row.source << '\n';
    }
  }
  for (const auto& row : compress::boundary_rows()) std::cout << padded(row.name, 17) << padded("boundary", 13) << row.help << '\n';
  return ExitCode::ok;
}

}  // namespace hourglass
