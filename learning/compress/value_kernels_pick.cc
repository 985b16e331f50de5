// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"
#include "learning/compress/value_kernels.h"

namespace hourglass::compress {
namespace kernels_base {
extern const ValueKernels kValueTable;
}
#if defined(__x86_64__)
namespace kernels_v3 {
extern const ValueKernels kValueTable;
}
#endif

const ValueKernels& baseline_value_kernels() { return kernels_base::kValueTable; }

const ValueKernels& value_kernels() {
#if defined(__x86_64__)
  static const ValueKernels& chosen = has_x86_64_v3() ? kernels_v3::kValueTable : kernels_base::kValueTable;
  return chosen;
#else
  return kernels_base::kValueTable;
#endif
}

}  // namespace hourglass::compress
