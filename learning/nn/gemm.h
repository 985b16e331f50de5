// SPDX-License-Identifier: Apache-2.0
// The three products of a fully connected layer, each on the library that is fastest for it here. Internal to learning/nn.
#pragma once

#include <cstddef>

namespace hourglass::nn {

/// c (m x n) = a (m x k) b (n x k)^T: forward. All row-major.
void multiply_nt(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);
/// c (m x n) = a (k x m)^T b (k x n): the weight gradient.
void multiply_tn(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);
/// c (m x n) = a (m x k) b (k x n): the data gradient.
void multiply_nn(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);

/// Sets the number of threads of oneDNN on this thread for one scope. 1: no other thread is started or woken.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace hourglass::nn
