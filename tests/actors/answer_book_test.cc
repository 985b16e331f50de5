// SPDX-License-Identifier: Apache-2.0
#include "actors/answer_book.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

using Seen = AnswerBook::Seen;
using Numbers = std::vector<std::uint64_t>;

Parcel parcel() {
  Parcel out;
  out.body = share(Bytes(3));
  return out;
}

Seen take(AnswerBook& book, std::uint64_t batch, const Numbers& under_way) {
  const Seen seen = book.look(batch, under_way);
  if (seen == Seen::never) book.take(batch);
  return seen;
}

TEST(AnswerBook, ARepeatWaitsIsAnsweredAndThenSettled) {
  AnswerBook book;
  EXPECT_EQ(take(book, 5, {5}), Seen::never);
  EXPECT_EQ(take(book, 5, {5}), Seen::waiting);
  book.answer(5, parcel());
  EXPECT_EQ(take(book, 5, {5}), Seen::answered);
  EXPECT_NE(book.answer_to(5).body, nullptr);
  EXPECT_EQ(take(book, 6, {6}), Seen::never);
  EXPECT_EQ(take(book, 5, {5}), Seen::settled) << "a copy that the network kept for long";
}

TEST(AnswerBook, ALostBatchIsTakenAfterAnyNumberOfOthersAndMemoryStaysBounded) {
  AnswerBook book;
  for (std::uint64_t batch = 8; batch < 10'000; ++batch) {
    EXPECT_EQ(take(book, batch, {7, batch}), Seen::never);
    book.answer(batch, parcel());
    EXPECT_LE(book.size(), 2U);
  }
  EXPECT_EQ(take(book, 7, {7}), Seen::never);
  EXPECT_EQ(take(book, 7, {7}), Seen::waiting);
}

TEST(AnswerBook, BatchesMayOvertakeEachOther) {
  AnswerBook book;
  EXPECT_EQ(take(book, 3, {1, 2, 3}), Seen::never);
  EXPECT_EQ(take(book, 1, {1}), Seen::never);
  EXPECT_EQ(take(book, 2, {1, 2}), Seen::never);
  book.answer(1, parcel());
  EXPECT_EQ(take(book, 4, {2, 3, 4}), Seen::never);
  EXPECT_EQ(take(book, 1, {1}), Seen::settled);
  EXPECT_EQ(take(book, 2, {1, 2}), Seen::waiting);
}

TEST(AnswerBook, AnAnswerAfterItsBatchWasSettledElsewhereIsForgottenWithTheNext) {
  AnswerBook book;
  EXPECT_EQ(take(book, 1, {1}), Seen::never);
  EXPECT_EQ(take(book, 2, {2}), Seen::never) << "another FC worker has answered the first";
  book.answer(1, parcel());
  EXPECT_EQ(take(book, 3, {2, 3}), Seen::never);
  EXPECT_EQ(book.size(), 2U);
}

}  // namespace
}  // namespace hourglass
