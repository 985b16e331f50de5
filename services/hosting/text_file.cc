// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/text_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace hourglass {

Status write_text(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code failure;
  if (file) std::filesystem::rename(part, path, failure);
  if (!file || failure) return {Errc::io, "cannot write " + path + (failure ? ": " + failure.message() : std::string())};
  return {};
}

std::optional<std::string> read_text(const std::string& path, std::uint64_t bytes_max) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path, failure);
  if (failure || size > bytes_max) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace hourglass
