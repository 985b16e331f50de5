// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/fields.h"
#include "messages/message_type.h"
#include "messages/span.h"

namespace hourglass {

struct MetricValue {
  std::string name;
  double value = 0;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.text(m.name, limits::kNameBytes);
    v.real(m.value);
  }
};

/// Every process -> monitor and aggregator, each second and with its last breath. Values are cumulative, so a lost report loses
/// nothing but time; the spans, which only monitors get, are those since the last report.
struct MetricReport {
  static constexpr MessageType kType = MessageType::metric_report;
  std::uint64_t sequence = 0;
  double uptime_seconds = 0;
  bool last = false;
  std::vector<MetricValue> values;
  std::vector<Span> spans;          ///< the newest, by end
  std::uint32_t spans_dropped = 0;  ///< earlier ones of the same interval

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.sequence);
    v.real(m.uptime_seconds);
    v.flag(m.last);
    v.items(m.values, limits::kMetrics);
    v.items(m.spans, limits::kSpans);
    v.number(m.spans_dropped);
  }
};

}  // namespace hourglass
