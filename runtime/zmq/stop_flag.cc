// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/stop_flag.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

namespace hourglass::zmq {

StopFlag::StopFlag() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { HG_CHECK(descriptor_ >= 0, "eventfd"); }

StopFlag::~StopFlag() { ::close(descriptor_); }

void StopFlag::request() noexcept {
  const int saved = errno;  // a signal handler leaves no traces
  requests_.fetch_add(1, std::memory_order_acq_rel);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
  errno = saved;
}

void StopFlag::acknowledge() noexcept {
  std::uint64_t ignored = 0;
  [[maybe_unused]] const auto got = ::read(descriptor_, &ignored, sizeof ignored);
}

}  // namespace hourglass::zmq
