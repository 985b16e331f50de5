// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "runtime/context.h"

namespace hourglass {

/// A pure state machine. All calls come from one thread, one at a time.
class Actor {
 public:
  virtual ~Actor() = default;
  virtual void start(Context&) {}
  virtual void receive(Context&, const Envelope&) = 0;
  virtual void wake(Context&, std::uint32_t /*timer*/) {}
  /// The operator asks to leave (SIGTERM). The actor drains and calls Context::exit; a second request or the reactor's own limit ends it
  /// anyway.
  virtual void stop(Context& context) { context.exit(ExitCode::ok, "stopped"); }
};

/// Typed dispatch: decodes the messages named in `Ms` and calls `Self::on(Context&, ActorId from, M&&)`. What does not decode, and types
/// that this actor does not take, are counted ("malformed.<type>", "unexpected.<type>") and dropped; the log gets one line a minute for
/// each peer from the reactor.
template <class Self, WireMessage... Ms>
class Handles : public Actor {
 public:
  void receive(Context& context, const Envelope& envelope) final {
    const bool known = ((envelope.type == Ms::kType ? (deliver<Ms>(context, envelope), true) : false) || ...);
    if (!known) {
      context.count("unexpected." + std::string(name_of(envelope.type)), 1);
      context.log(Severity::warning, "unexpected message",
                  {{"type", std::string(name_of(envelope.type))}, {"peer", to_string(envelope.from)}});
    }
  }

 private:
  template <class M>
  void deliver(Context& context, const Envelope& envelope) {
    auto message = decode<M>(*envelope.body);
    if (!message.ok()) {
      context.count("malformed." + std::string(name_of(envelope.type)), 1);
      context.log(Severity::warning, "malformed message",
                  {{"type", std::string(name_of(envelope.type))}, {"peer", to_string(envelope.from)}, {"cause", message.error().text}});
      return;
    }
    source_address_ = &envelope.source_address;
    static_cast<Self*>(this)->on(context, envelope.from, std::move(*message));
  }

 protected:
  /// Where the message being handled came from; valid only inside on().
  [[nodiscard]] const std::string& source_address() const { return *source_address_; }

 private:
  const std::string* source_address_ = nullptr;
};

}  // namespace hourglass
