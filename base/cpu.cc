// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"

#include <cstdlib>

namespace hourglass {

bool has_x86_64_v3() {
#if defined(__x86_64__)
  static const bool answer = [] {
    const char* baseline = std::getenv("HOURGLASS_BASELINE");
    if (baseline != nullptr && baseline[0] == '1') return false;
#if defined(__clang__)  // knows no name for the level
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
#else
    return __builtin_cpu_supports("x86-64-v3") != 0;
#endif
  }();
  return answer;
#else
  return false;
#endif
}

}  // namespace hourglass
