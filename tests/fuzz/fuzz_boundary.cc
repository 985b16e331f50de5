// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  hourglass::fuzz::decode_boundary_tensor(std::as_bytes(std::span(data, size)));
  return 0;
}
