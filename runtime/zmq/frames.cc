// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/frames.h"

#include <atomic>
#include <cerrno>

#include "base/check.h"

namespace hourglass::zmq {
namespace {

/// Keeps a body alive until ZeroMQ has sent it. `handed_over` says to the compiler's and sanitizer's eyes what ZeroMQ's queues
/// guarantee: that the giving thread's writes come before the I/O thread's end of it.
struct Loan {
  SharedBytes body;
  std::atomic<bool> handed_over{false};
};

void end_loan(void* /*data*/, void* hint) {
  auto* loan = static_cast<Loan*>(hint);
  (void)loan->handed_over.load(std::memory_order_acquire);
  delete loan;
}

::zmq::message_t body_frame(const SharedBytes& body) {
  if (body->size() <= kCopiedBytesMax) return {body->data(), body->size()};
  auto* loan = new Loan{body};
  loan->handed_over.store(true, std::memory_order_release);
  return {const_cast<std::byte*>(body->data()), body->size(), end_loan, loan};  // ZeroMQ only reads it
}

/// False where it has to be tried again, or with errno EHOSTUNREACH.
bool send_frame(::zmq::socket_t& socket, ::zmq::message_t& frame, bool more) {
  do {  // a signal in the middle of a message must not end it there
    if (::zmq_msg_send(frame.handle(), socket.handle(), ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0) return true;
  } while (errno == EINTR);
  HG_CHECK(errno == EAGAIN || errno == EHOSTUNREACH, ::zmq_strerror(errno));
  return false;
}

bool receive_frame(::zmq::socket_t& socket, ::zmq::message_t& frame) {
  do {
    if (::zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT) >= 0) return true;
  } while (errno == EINTR);
  HG_CHECK(errno == EAGAIN, ::zmq_strerror(errno));
  return false;
}

}  // namespace

Sent send_frames(::zmq::socket_t& socket, std::string_view identity, const Outgoing& message) {
  if (!identity.empty()) {
    ::zmq::message_t to(identity.data(), identity.size());
    if (!send_frame(socket, to, true)) return errno == EHOSTUNREACH ? Sent::unreachable : Sent::later;
  }
  ::zmq::message_t header(message.header.data(), message.header.size());
  if (!send_frame(socket, header, true)) return Sent::later;
  ::zmq::message_t body = body_frame(message.body);
  // Where the connection went away after the header, ZeroMQ has taken the header back: the message is sent again from its beginning.
  return send_frame(socket, body, false) ? Sent::done : Sent::later;
}

std::string Incoming::source_address() const {
  const char* address = ::zmq_msg_gets(header.handle(), "Peer-Address");
  if (!address) return {};
  constexpr std::string_view kMapped = "::ffff:";
  std::string_view text = address;
  if (text.starts_with(kMapped) && text.find('.') != std::string_view::npos) text.remove_prefix(kMapped.size());
  return std::string(text);
}

Reading FrameReader::read(::zmq::socket_t& socket, bool from_router, Incoming& incoming) {
  if (skipping_) return skip(socket);
  incoming.identity.clear();
  if (from_router) {
    ::zmq::message_t identity;
    if (!receive_frame(socket, identity)) return Reading::nothing;
    incoming.identity = identity.to_string();
    HG_CHECK(identity.more(), "a ROUTER delivers an identity without a message");
  }
  if (!receive_frame(socket, incoming.header)) return Reading::nothing;
  if (!incoming.header.more()) return Reading::rejected;
  HG_CHECK(receive_frame(socket, incoming.body), "ZeroMQ delivers messages as a whole");
  skipping_ = incoming.body.more();
  return skipping_ ? Reading::rejected : Reading::message;
}

Reading FrameReader::skip(::zmq::socket_t& socket) {
  ::zmq::message_t frame;
  for (int i = 0; i < kFramesPerCall && skipping_; ++i) {
    if (!receive_frame(socket, frame)) return Reading::nothing;
    skipping_ = frame.more();
  }
  return Reading::skipped;
}

}  // namespace hourglass::zmq
