// SPDX-License-Identifier: Apache-2.0
// Everything an actor may touch beyond its own members.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "messages/codec.h"
#include "messages/envelope.h"
#include "runtime/span_ring.h"
#include "runtime/storage.h"

namespace hourglass {

enum class Severity : std::uint8_t { debug, info, warning, error };
using Fields = std::vector<std::pair<std::string, std::string>>;

/// How a process ends, as documented in docs/operations.md.
enum class ExitCode : int {
  ok = 0,
  failure = 1,
  usage = 2,
  bad_data = 65,
  missing_data = 66,
  unavailable = 69,
  io = 74,
  temporary = 75,
  protocol = 76,
  config = 78,
};

/// The byte counters that a reactor keeps by itself: "sent.<traffic>.payload", "sent.<traffic>.socket", and "received." likewise;
/// payload = message bodies, socket = with header frame and ZMTP framing.
class Context {
 public:
  virtual ~Context() = default;
  [[nodiscard]] virtual ActorId self() const = 0;
  [[nodiscard]] virtual Instant now() const = 0;
  virtual Random& random() = 0;

  /// Never blocks. Errors: unreachable (no route to the peer), over_limit (the peer's byte credit is used up; nothing was queued).
  virtual Status post(ActorId to, const Parcel& parcel) = 0;
  /// False where post() would answer over_limit for so many bytes: spares the packing of a large message. No other error is foreseen.
  [[nodiscard]] virtual bool has_room(ActorId to, std::size_t body_bytes) const = 0;
  template <WireMessage M>
  Status send(ActorId to, const M& message) {
    return post(to, pack(message));
  }

  /// Tells the post office where a peer listens; the connection is made at once and kept until forget(). A peer that has connected
  /// to us needs no introduction. Introducing the same endpoint again changes nothing.
  virtual void introduce(ActorId peer, const std::string& endpoint) = 0;
  virtual void forget(ActorId peer) = 0;

  /// One pending wake per timer number: asking again replaces the earlier one.
  virtual void wake_after(Duration delay, std::uint32_t timer) = 0;
  virtual void count(std::string_view metric, double amount) = 0;  ///< cumulative
  virtual void gauge(std::string_view metric, double value) = 0;
  [[nodiscard]] virtual const std::map<std::string, double, std::less<>>& metrics() const = 0;  ///< of this actor, reactor's included
  /// What this process did when; monitors are told.
  virtual SpanRing& spans() = 0;
  /// A span from `begin` to now.
  void span(SpanKind kind, Instant begin, SpanFlow flow = {}) { spans().add(kind, begin, now(), flow); }
  virtual void log(Severity severity, std::string_view event, Fields fields = {}) = 0;
  virtual Storage& storage() = 0;
  /// The process ends after what is queued has been sent, or after a bounded wait.
  virtual void exit(ExitCode code, std::string reason) = 0;
};

}  // namespace hourglass
