// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/gemm.h"

#include <omp.h>

#include "base/check.h"
#include "base/cpu.h"
#include "learning/nn/kernels.h"
#include "learning/nn/step.h"

namespace hourglass::nn {
namespace {

/// With AVX-512 oneDNN wins all three products by a factor of 1.5 to 3 over Eigen for AVX2. Without it, oneDNN is the faster one forward
/// and up to two times slower in both gradients at small batches on some processors. Without AVX2 our baseline build stands alone, so that
/// HOURGLASS_BASELINE=1 really runs it. The choice depends on the processor alone: same machine, same bits.
enum class Choice { baseline, eigen_gradients, onednn };

Choice choice() {
  static const Choice chosen = [] {
    if (!has_x86_64_v3()) return Choice::baseline;
    return has_isa(dnnl::cpu_isa::avx512_core) ? Choice::onednn : Choice::eigen_gradients;
  }();
  return chosen;
}

/// Eigen runs on one thread, so several threads are oneDNN's.
bool onednn_gradients() { return choice() == Choice::onednn || (choice() != Choice::baseline && omp_get_max_threads() > 1); }

void sgemm(char transpose_a, char transpose_b, std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t row_a,
           const float* b, std::size_t row_b, float* c) {
  const auto dim = [](std::size_t size) { return static_cast<dnnl_dim_t>(size); };
  const dnnl_status_t status =
      dnnl_sgemm(transpose_a, transpose_b, dim(m), dim(n), dim(k), 1.0F, a, dim(row_a), b, dim(row_b), 0.0F, c, dim(n));
  HG_CHECK(status == dnnl_success, "oneDNN refused a matrix product");
}

}  // namespace

void multiply_nt(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
  if (choice() == Choice::baseline) return kernels().multiply_nt(a, b, c, m, n, k);
  sgemm('N', 'T', m, n, k, a, k, b, k, c);
}

void multiply_tn(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
  if (!onednn_gradients()) return kernels().multiply_tn(a, b, c, m, n, k);
  sgemm('T', 'N', m, n, k, a, m, b, n, c);
}

void multiply_nn(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
  if (!onednn_gradients()) return kernels().multiply_nn(a, b, c, m, n, k);
  sgemm('N', 'N', m, n, k, a, k, b, n, c);
}

const Kernels& kernels() {
#if defined(__x86_64__)
  static const Kernels& chosen = has_x86_64_v3() ? kernels_v3::kKernels : kernels_base::kKernels;
  return chosen;
#else
  return kernels_base::kKernels;
#endif
}

ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()) {
  if (threads != before_) omp_set_num_threads(threads);
}
ThreadScope::~ThreadScope() { omp_set_num_threads(before_); }

}  // namespace hourglass::nn
