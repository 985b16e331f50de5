// SPDX-License-Identifier: Apache-2.0
// The bytes of one sample of each message, and of a header, as they were when the protocol was agreed.
#include <gtest/gtest.h>

#include "messages/all_messages.h"
#include "messages/codec.h"
#include "messages/envelope.h"
#include "tests/support/golden.h"
#include "tests/support/message_sample.h"
#include "tests/support/typed_messages.h"

namespace hourglass {
namespace {

using testing_support::expect_golden;
using testing_support::to_hex;

std::string path_of(std::string_view name) { return HOURGLASS_GOLDEN_FOLDER "/messages/" + std::string(name) + ".hex"; }

template <class M>
class GoldenMessage : public testing::Test {};
TYPED_TEST_SUITE(GoldenMessage, testing_support::MessageTypes, testing_support::MessageNames);

TYPED_TEST(GoldenMessage, HasItsBytes) {
  expect_golden(path_of(name_of(TypeParam::kType)), to_hex(encode(testing_support::sample<TypeParam>(7))));
}

TEST(GoldenHeader, HasItsBytes) {
  Envelope envelope;
  envelope.type = MessageType::gradient_push;
  envelope.traffic = Traffic::push_fc;
  envelope.from = {Role::fc_worker, 0x1a2b3c4d};
  envelope.sequence = 0x0102030405060708;
  envelope.body = share(Bytes(300));
  expect_golden(path_of("header"), to_hex(encode_header(envelope)));
}

}  // namespace
}  // namespace hourglass
