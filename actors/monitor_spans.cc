// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor_spans.h"

#include <algorithm>

namespace hourglass {

void SpanBook::report(ActorId from, const MetricReport& report, double now) {
  if (report.spans.empty() && report.spans_dropped == 0) return;
  const auto known = actors_.find(from);
  if (!(report.uptime_seconds >= 0 && report.uptime_seconds <= kUptimeMax) || (known == actors_.end() && actors_.size() >= kActorsMax)) {
    ++refused_;
    return;
  }
  auto chunk = std::make_shared<SpanChunk>();
  chunk->heard_seconds = now;
  chunk->offset_seconds = now - report.uptime_seconds;
  chunk->uptime_us = static_cast<std::uint64_t>(report.uptime_seconds * 1e6);
  chunk->dropped = report.spans_dropped;
  chunk->spans.reserve(report.spans.size());
  for (const Span& span : report.spans) {
    if (span.begin_us + span.duration_us <= chunk->uptime_us + kAheadUsMax) {
      chunk->spans.push_back(span);
    } else {
      ++refused_;
    }
  }
  ActorSpans& actor = actors_[from];
  if (!actor.chunks.empty() && chunk->uptime_us < actor.chunks.back()->uptime_us) actor.chunks.clear();
  actor.chunks.push_back(std::move(chunk));
  bound(actor, now);
  changed_ = true;
}

void SpanBook::bound(ActorSpans& actor, double now) const {
  const std::size_t share = std::min(kActorSpansMax, std::max<std::size_t>(limits::kSpans, kSpansMax / actors_.size()));
  std::size_t spans = 0, chunks = 0;
  for (auto chunk = actor.chunks.rbegin(); chunk != actor.chunks.rend(); ++chunk, ++chunks) {
    // A chunk without spans, for what its sender dropped, takes room as well.
    spans += std::max<std::size_t>(1, (*chunk)->spans.size());
    if (spans > share || (*chunk)->heard_seconds < now - kKeptSeconds) break;
  }
  actor.chunks.erase(actor.chunks.begin(), actor.chunks.end() - static_cast<std::ptrdiff_t>(chunks));
  if (actor.chunks.empty()) return;
  const auto least = std::min_element(actor.chunks.begin(), actor.chunks.end(),
                                      [](const auto& a, const auto& b) { return a->offset_seconds < b->offset_seconds; });
  actor.offset_seconds = (*least)->offset_seconds;
}

void SpanBook::forget_old(double now) {
  for (auto& [id, actor] : actors_) {
    const std::size_t before = actor.chunks.size();
    bound(actor, now);
    changed_ = changed_ || actor.chunks.size() != before;
  }
  std::erase_if(actors_, [](const auto& row) { return row.second.chunks.empty(); });
}

std::shared_ptr<const SpanSnapshot> SpanBook::snapshot() {
  if (changed_) published_ = std::make_shared<const SpanSnapshot>(actors_);
  changed_ = false;
  return published_;
}

}  // namespace hourglass
