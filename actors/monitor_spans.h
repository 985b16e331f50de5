// SPDX-License-Identifier: Apache-2.0
// What each process did in the last minute, on the monitor's clock. Bounded whatever is reported.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "messages/metric_report.h"

namespace hourglass {

/// The spans of one report, on the sender's clock.
struct SpanChunk {
  double heard_seconds = 0;   ///< monitor's clock
  double offset_seconds = 0;  ///< `heard_seconds` less the sender's uptime: the clocks' difference and the time under way
  std::uint64_t uptime_us = 0;
  std::vector<Span> spans;
  std::uint32_t dropped = 0;
};

struct ActorSpans {
  /// Add to the sender's time for the monitor's: the smallest offset of the chunks at hand, whose report was least under way. Not of all
  /// reports ever: clocks drift.
  double offset_seconds = 0;
  std::deque<std::shared_ptr<const SpanChunk>> chunks;
};
using SpanSnapshot = std::map<ActorId, ActorSpans>;

class SpanBook {
 public:
  static constexpr double kKeptSeconds = 60;
  static constexpr std::size_t kActorsMax = 1024;
  static constexpr std::size_t kActorSpansMax = 4096;
  static constexpr std::size_t kSpansMax = 1U << 16;  ///< of all: more processes keep less each
  static constexpr double kUptimeMax = 1e9;
  static constexpr std::uint64_t kAheadUsMax = 1'000'000;  ///< a span that ends later than this after its report is a lie

  /// `now`: seconds of the monitor's clock. Reports come in the sender's order; one whose uptime fell is of another life of it.
  void report(ActorId from, const MetricReport& report, double now);
  void forget_old(double now);
  [[nodiscard]] std::uint64_t refused() const { return refused_; }  ///< spans and reports that cannot be
  /// The same value until something changes.
  std::shared_ptr<const SpanSnapshot> snapshot();

 private:
  void bound(ActorSpans& actor, double now) const;

  SpanSnapshot actors_;
  std::shared_ptr<const SpanSnapshot> published_ = std::make_shared<const SpanSnapshot>();
  bool changed_ = false;
  std::uint64_t refused_ = 0;
};

}  // namespace hourglass
