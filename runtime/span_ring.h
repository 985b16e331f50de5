// SPDX-License-Identifier: Apache-2.0
// What a process did lately: the newest spans since they were last taken. Adding one writes 40 bytes into a fixed array.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "base/time.h"
#include "messages/span.h"

namespace hourglass {

struct SpanFlow {
  std::uint64_t in = 0, out = 0;  ///< of flow_id(); 0: none
};

class SpanRing {
 public:
  static constexpr std::size_t kKept = limits::kSpans;
  static constexpr Duration kShortest = std::chrono::microseconds(10);       ///< shorter ones are kept only for their flows
  static constexpr Duration kShortestWait = std::chrono::microseconds(100);  ///< less is the loop's own turn

  /// A span that ends before it begins is none.
  void add(SpanKind kind, Instant begin, Instant end, SpanFlow flow = {}) {
    if (end < begin) return;
    newest_end_ = std::max(newest_end_.value_or(end), end);
    if (end - begin < kShortest && flow.in == 0 && flow.out == 0) return;
    if (count_ == kKept) ++dropped_;
    ring_[next_] = {kind, begin, end, flow};
    next_ = (next_ + 1) % kKept;
    count_ = std::min(count_ + 1, kKept);
  }
  /// Work begins now: what has passed since the newest span's end was waiting.
  void wait_until(Instant now) {
    if (newest_end_ && now - *newest_end_ >= kShortestWait) add(SpanKind::wait, *newest_end_, now);
  }
  struct Taken {
    std::vector<Span> spans;  ///< by end
    std::uint32_t dropped = 0;
  };
  /// Empties the ring. Times count from `origin`; what was before it is cut off.
  Taken take(Instant origin) {
    Taken out;
    out.spans.reserve(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      const Kept& kept = ring_[(next_ + kKept - count_ + i) % kKept];
      const std::uint64_t end = microseconds(kept.end - origin);
      const std::uint64_t begin = std::max(microseconds(kept.begin - origin), end - std::min(end, Span::kDurationUsMax));
      out.spans.push_back({kept.kind, begin, end - begin, kept.flow.in, kept.flow.out});
    }
    out.dropped = static_cast<std::uint32_t>(std::min<std::uint64_t>(dropped_, std::numeric_limits<std::uint32_t>::max()));
    count_ = 0;
    dropped_ = 0;
    return out;
  }

 private:
  struct Kept {
    SpanKind kind{};
    Instant begin{}, end{};
    SpanFlow flow;
  };
  static std::uint64_t microseconds(Duration since) {
    const auto count = std::chrono::duration_cast<std::chrono::microseconds>(std::max(since, Duration::zero())).count();
    return std::min(static_cast<std::uint64_t>(count), Span::kBeginUsMax);
  }

  std::array<Kept, kKept> ring_{};
  std::size_t next_ = 0, count_ = 0;
  std::uint64_t dropped_ = 0;
  std::optional<Instant> newest_end_;
};

}  // namespace hourglass
