// SPDX-License-Identifier: Apache-2.0
// The list of all messages as GoogleTest types: TYPED_TEST_SUITE(Suite, MessageTypes, MessageNames).
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "messages/all_messages.h"
#include "messages/codec.h"

namespace hourglass::testing_support {

template <class, class... Ts>
struct WithoutFirst {
  using Types = ::testing::Types<Ts...>;
};
#define HOURGLASS_TYPE(Struct, name) , Struct
using MessageTypes = WithoutFirst<void HOURGLASS_MESSAGES(HOURGLASS_TYPE)>::Types;
#undef HOURGLASS_TYPE

struct MessageNames {
  template <class M>
  static std::string GetName(int) {
    return std::string(name_of(M::kType));
  }
};

}  // namespace hourglass::testing_support
