// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/fields.h"
#include "messages/message_type.h"

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
/// nothing but time.
struct MetricReport {
  static constexpr MessageType kType = MessageType::metric_report;
  std::uint64_t sequence = 0;
  double uptime_seconds = 0;
  bool last = false;
  std::vector<MetricValue> values;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.sequence);
    v.real(m.uptime_seconds);
    v.flag(m.last);
    v.items(m.values, limits::kMetrics);
  }
};

}  // namespace hourglass
