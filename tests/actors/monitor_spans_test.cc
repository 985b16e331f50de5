// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor_spans.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "messages/codec.h"

namespace hourglass {
namespace {

constexpr ActorId kWorker{Role::conv_worker, 1};

MetricReport report(double uptime, std::vector<Span> spans) {
  MetricReport out;
  out.uptime_seconds = uptime;
  out.spans = std::move(spans);
  return out;
}

Span span(double begin_seconds, double seconds) {
  Span out;
  out.begin_us = static_cast<std::uint64_t>(begin_seconds * 1e6);
  out.duration_us = static_cast<std::uint64_t>(seconds * 1e6);
  return out;
}

TEST(SpanBook, TheReportThatWasLeastUnderWayTellsTheClocksDifference) {
  SpanBook book;
  book.report(kWorker, report(100, {span(99.5, 0.1)}), 40.3);
  book.report(kWorker, report(101, {span(100.5, 0.1)}), 41.05);
  book.report(kWorker, report(102, {span(101.5, 0.1)}), 42.9);
  const ActorSpans& kept = book.snapshot()->at(kWorker);
  EXPECT_NEAR(kept.offset_seconds, -59.95, 1e-9);
  EXPECT_EQ(kept.chunks.size(), 3U);
  // A clock that drifts away: the old difference is forgotten with its report.
  for (int i = 0; i < 70; ++i) book.report(kWorker, report(103 + i, {span(102 + i, 0.1)}), 43.5 + i);
  EXPECT_NEAR(book.snapshot()->at(kWorker).offset_seconds, -59.5, 1e-9);
}

TEST(SpanBook, KeepsAMinute) {
  SpanBook book;
  for (int i = 0; i < 200; ++i) book.report(kWorker, report(i, {span(i, 0)}), i);
  EXPECT_EQ(book.snapshot()->at(kWorker).chunks.size(), 61U);
  const auto before = book.snapshot();
  EXPECT_EQ(before, book.snapshot()) << "nothing changed";
  book.forget_old(220);
  EXPECT_EQ(book.snapshot()->at(kWorker).chunks.size(), 40U);
  EXPECT_EQ(before->at(kWorker).chunks.size(), 61U) << "what was published stays as it is";
  book.forget_old(400);
  EXPECT_TRUE(book.snapshot()->empty());
}

TEST(SpanBook, RefusesWhatCannotBe) {
  SpanBook book;
  book.report(kWorker, report(-1, {span(1, 1)}), 10);
  book.report(kWorker, report(1e300, {span(1, 1)}), 10);
  EXPECT_EQ(book.refused(), 2U);
  EXPECT_TRUE(book.snapshot()->empty());
  book.report(kWorker, report(5, {span(4, 1.5), span(4, 2.5), span(1e9, 0)}), 10);
  EXPECT_EQ(book.refused(), 4U);
  EXPECT_EQ(book.snapshot()->at(kWorker).chunks.front()->spans.size(), 1U);
}

TEST(SpanBook, AnotherLifeBeginsAnew) {
  SpanBook book;
  book.report(kWorker, report(500, {span(499, 0)}), 10);
  book.report(kWorker, report(2, {span(1, 0)}), 20);
  const ActorSpans& kept = book.snapshot()->at(kWorker);
  EXPECT_EQ(kept.chunks.size(), 1U);
  EXPECT_DOUBLE_EQ(kept.offset_seconds, 18);
}

TEST(SpanBook, IsBoundedHoweverManyReport) {
  SpanBook book;
  const std::vector<Span> full(limits::kSpans, span(0, 0));
  for (int i = 0; i < 500; ++i) book.report(kWorker, report(i, full), 10 + i * 1e-3);
  EXPECT_LE(book.snapshot()->at(kWorker).chunks.size() * limits::kSpans, SpanBook::kActorSpansMax);
  MetricReport empty;
  empty.spans_dropped = 1;
  for (int i = 0; i < 10000; ++i) book.report({Role::fc_worker, 1}, empty, 10);
  EXPECT_LE(book.snapshot()->at({Role::fc_worker, 1}).chunks.size(), SpanBook::kActorSpansMax);
  for (std::uint32_t who = 0; who < 2000; ++who) {
    for (int i = 0; i < 3; ++i) book.report({Role::conv_worker, 100 + who}, report(i, full), 11);
  }
  EXPECT_LE(book.snapshot()->size(), SpanBook::kActorsMax);
  book.forget_old(12);
  std::size_t spans = 0;
  for (const auto& [id, actor] : *book.snapshot()) {
    for (const auto& chunk : actor.chunks) spans += chunk->spans.size();
  }
  EXPECT_LE(spans, SpanBook::kSpansMax);
}

/// What the wire itself refuses: kinds that there are not, negative or absurd times, times that are no numbers, too many of them.
TEST(MetricReport, HostileSpansAreNotDecoded) {
  const auto hex = [](std::initializer_list<int> values) {
    Bytes out;
    for (const int value : values) out.push_back(static_cast<std::byte>(value));
    return out;
  };
  const auto with_span = [&](std::initializer_list<int> fields) {
    Bytes out = hex({0x96, 0, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0, 0xc2, 0x90, 0x91, 0x95});
    const Bytes more = hex(fields);
    out.insert(out.end(), more.begin(), more.end());
    out.push_back(std::byte{0});
    return out;
  };
  EXPECT_TRUE(decode<MetricReport>(with_span({7, 1, 2, 0, 0})).ok());
  EXPECT_FALSE(decode<MetricReport>(with_span({8, 1, 2, 0, 0})).ok());
  EXPECT_FALSE(decode<MetricReport>(with_span({0, 0xff, 2, 0, 0})).ok()) << "begins below zero";
  EXPECT_FALSE(decode<MetricReport>(with_span({0, 1, 0xff, 0, 0})).ok()) << "ends before it begins";
  EXPECT_FALSE(decode<MetricReport>(with_span({0, 1, 0xce, 0xd6, 0x93, 0xa4, 0x01, 0, 0})).ok()) << "longer than an hour";
  EXPECT_FALSE(decode<MetricReport>(with_span({0, 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0, 2, 0, 0})).ok()) << "not a number";
  MetricReport full;
  full.spans.resize(limits::kSpans);
  Bytes body = encode(full);
  ASSERT_TRUE(decode<MetricReport>(body).ok());
  const Bytes claim = hex({0xdc, 0, static_cast<int>(limits::kSpans)});
  const auto at = std::search(body.begin(), body.end(), claim.begin(), claim.end());
  ASSERT_NE(at, body.end());
  at[2] = static_cast<std::byte>(limits::kSpans + 1);
  const auto more = decode<MetricReport>(body);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, Errc::over_limit);
}

}  // namespace
}  // namespace hourglass
