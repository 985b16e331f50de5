// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/token_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "services/hosting/text_file.h"
#include "services/options/setting_kinds.h"

namespace hourglass {
std::string new_token() {
  std::array<unsigned char, 16> bits{};
  HG_CHECK(::getrandom(bits.data(), bits.size(), 0) == static_cast<ssize_t>(bits.size()), "so few bytes are given as a whole");
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char each : bits) {
    out += kDigits[each >> 4];
    out += kDigits[each & 15];
  }
  return out;
}

Result<std::string> token_of(const std::string& folder, const std::string& wanted) {
  const std::string path = folder + "/" + std::string(kTokenFile);
  constexpr std::uint64_t kBytesMax = 256;
  if (auto kept = read_text(path, kBytesMax)) {
    while (!kept->empty() && kept->back() == '\n') kept->pop_back();
    if (wanted.empty() ? kinds::is_token(*kept) : *kept == wanted) return *kept;
  }
  const std::string token = wanted.empty() ? new_token() : wanted, line = token + "\n", part = path + ".part";
  (void)::unlink(part.c_str());
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const bool closed = file >= 0 && ::close(file) == 0;
  if (written && closed && ::rename(part.c_str(), path.c_str()) == 0) return token;
  return Error{Errc::io, "cannot write " + path + ": " + std::strerror(errno)};
}

}  // namespace hourglass
