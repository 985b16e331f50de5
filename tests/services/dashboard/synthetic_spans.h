// SPDX-License-Identifier: Apache-2.0
// What a process of a synthetic run did in a second: four batches of each CONV worker, each through loader, CONV, FC, CONV, aggregator.
#pragma once

#include <cmath>

#include "messages/metric_report.h"

namespace hourglass {

/// Fills the spans of a report whose uptime is set, as many as it takes. CONV workers have the ids 1000 * role + number.
inline void synthetic_spans(MetricReport& report, ActorId self, std::uint32_t number, std::uint32_t conv_workers) {
  constexpr int kRounds = 4;
  const double share = 1.0 / conv_workers;
  const auto first = static_cast<std::uint64_t>(std::llround(report.uptime_seconds - 1)) * kRounds;
  for (std::uint64_t round = first; round < first + kRounds; ++round) {
    const auto add = [&](SpanKind kind, double from, double to, std::uint64_t in = 0, std::uint64_t out = 0) {
      const auto at = [&](double part) {
        return static_cast<std::uint64_t>(std::llround((static_cast<double>(round) / kRounds + part) * 1e6));
      };
      report.spans.push_back({kind, at(from), at(to) - at(from), in, out});
    };
    const auto one = [&](std::uint32_t n) {  // the CONV worker's part of the round, and what the others do for it
      const ActorId conv{Role::conv_worker, 1000 * static_cast<std::uint32_t>(Role::conv_worker) + n};
      const auto flow = [&](Flow what) { return flow_id(what, conv, round); };
      const double before = share * (n - 1);
      if (self.role == Role::data_loader) add(SpanKind::load, 0.018 * before, 0.018 * (before + share), 0, flow(Flow::batch));
      if (self.role == Role::fc_worker) {
        const double at = 0.112 + 0.08 * before;
        add(SpanKind::forward, at, at + 0.03 * share, flow(Flow::activations));
        add(SpanKind::backward, at + 0.03 * share, at + 0.06 * share);
        add(SpanKind::encode, at + 0.06 * share, at + 0.065 * share, 0, flow(Flow::gradients));
      }
      if (self.role == Role::aggregator) add(SpanKind::apply, 0.247 + 0.002 * before, 0.247 + 0.002 * (before + share), flow(Flow::push));
      if (self != conv) return;
      add(SpanKind::forward, 0.02, 0.1, flow(Flow::batch));
      add(SpanKind::encode, 0.1, 0.11, 0, flow(Flow::activations));
      add(SpanKind::wait, 0.11, 0.2);
      add(SpanKind::backward, 0.2, 0.235, flow(Flow::gradients));
      add(SpanKind::step, 0.235, 0.24);
      add(SpanKind::encode, 0.24, 0.246, 0, flow(Flow::push));
    };
    if (self.role == Role::conv_worker) {
      one(number);
    } else {
      for (std::uint32_t n = 1; n <= conv_workers; ++n) one(n);
    }
  }
  if (report.spans.size() <= limits::kSpans) return;
  report.spans_dropped = static_cast<std::uint32_t>(report.spans.size() - limits::kSpans);
  report.spans.erase(report.spans.begin(), report.spans.end() - static_cast<std::ptrdiff_t>(limits::kSpans));
}

}  // namespace hourglass
