// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hourglass {
namespace {
std::string& check_actor() {
  static std::string name = "hourglass";
  return name;
}
}  // namespace

void check_failed(const char* file, int line, const char* condition, std::string_view text) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s (%s)\n", file, line, condition, static_cast<int>(text.size()), text.data(),
               check_actor().c_str());
  std::fflush(stderr);
  std::abort();
}

void set_check_actor(std::string name) { check_actor() = std::move(name); }

}  // namespace hourglass
