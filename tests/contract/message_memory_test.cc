// SPDX-License-Identifier: Apache-2.0
// Bytes that claim much must cost nothing: decoded in a process of its own under an address-space limit.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <sstream>

#include "messages/all_messages.h"
#include "messages/codec.h"
#include "tests/support/message_sample.h"
#include "tests/support/typed_messages.h"
#include "tests/support/wire_walk.h"

namespace hourglass {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOURGLASS_SHADOW_MEMORY
#endif
#endif
#if defined(HOURGLASS_SHADOW_MEMORY) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kShadowMemory = true;  // reserves terabytes of addresses: no limit can be set
#else
constexpr bool kShadowMemory = false;
#endif

Bytes hex(std::initializer_list<int> values) {
  Bytes out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

/// Sanitizers keep freed memory for a while.
constexpr long kGrowthKibMax = kShadowMemory ? 16 * 1024 : 1024;

/// Peak resident memory of this process, in KiB.
long peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return -1;
}

template <class M>
std::vector<Bytes> hostile_bodies() {
  std::vector<Bytes> bodies = {hex({0xdd, 0xff, 0, 0, 0}), hex({0xdf, 0x7f, 0xff, 0xff, 0xff}), hex({0xc6, 0xff, 0xff, 0xff, 0xff, 1, 2}),
                               hex({0xdd, 0x7f, 0xff, 0xff, 0xff})};
  Bytes nested(2'000'000, static_cast<std::byte>(0x91));
  nested.push_back(static_cast<std::byte>(0xc0));
  bodies.push_back(std::move(nested));
  // The same claims, and claims within the largest limits, in the place of every value of a good message.
  const Bytes good = encode(testing_support::sample<M>());
  for (const auto& value : testing_support::wire_values(good)) {
    for (const auto& claim : {hex({0xdd, 0xff, 0, 0, 0}), hex({0xdc, 0x27, 0x10}), hex({0xdc, 0x10, 0}),
                              hex({0xc6, 0xff, 0xff, 0xff, 0xff, 1, 2}), hex({0xc6, 0x40, 0, 0, 0, 1, 2}),
                              hex({0xc6, 0x3f, 0xff, 0xff, 0xfc}), hex({0xdb, 0, 0, 0x10, 0}), hex({0xdb, 0xff, 0xff, 0xff, 0xff})}) {
      Bytes body(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(value.begin));
      body.insert(body.end(), claim.begin(), claim.end());
      bodies.push_back(std::move(body));
    }
  }
  return bodies;
}

/// Returns 0 when all went well: this is a process's exit code.
template <class M>
int decode_all_hostile() {
  const auto bodies = hostile_bodies<M>();
  if (!kShadowMemory) {
    const rlimit limit{1ULL << 30, 1ULL << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
  }
  const auto warm = decode<M>(bodies.front());  // the first error text touches pages of its own
  const long before = peak_kib();
  for (const Bytes& body : bodies) {
    const auto result = decode<M>(body);
    if (result.ok()) return 3;
    if (result.error().text.size() > 300) return 4;
  }
  const long grown = peak_kib() - before;
  if (before <= 0 || grown >= kGrowthKibMax) {
    std::fprintf(stderr, "peak grew by %ld KiB\n", grown);
    return 5;
  }
  return warm.ok() ? 6 : 0;
}

template <class M>
class MessageMemory : public testing::Test {};
TYPED_TEST_SUITE(MessageMemory, testing_support::MessageTypes, testing_support::MessageNames);

TYPED_TEST(MessageMemory, N3_N5_HostileClaimsCostNothing) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(decode_all_hostile<TypeParam>());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace hourglass
