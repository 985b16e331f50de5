// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace kernels_base {
extern const Kernels kTable;
}
#if defined(__x86_64__)
namespace kernels_v3 {
extern const Kernels kTable;
}
#endif

const Kernels& baseline_kernels() { return kernels_base::kTable; }

const Kernels& kernels() {
#if defined(__x86_64__)
  static const Kernels& chosen = has_x86_64_v3() ? kernels_v3::kTable : kernels_base::kTable;
  return chosen;
#else
  return kernels_base::kTable;
#endif
}

}  // namespace hourglass::compress
