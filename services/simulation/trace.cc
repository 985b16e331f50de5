// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/trace.h"

#include <cstdio>
#include <span>

#include "base/bytes.h"

namespace hourglass {
namespace {

std::string digest(std::span<const std::byte> body) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(fingerprint(body)));
  return text;
}

}  // namespace

Status Trace::open(const std::string& path, const std::string& earlier) {
  path_ = path;
  earlier_path_ = earlier;
  if (!path.empty()) out_.open(path, std::ios::trunc);
  if (!path.empty() && !out_) return {Errc::io, "cannot write the trace " + path};
  if (!earlier.empty()) earlier_.open(earlier);
  if (!earlier.empty() && !earlier_) return {Errc::io, "cannot read the trace " + earlier};
  return {};
}

void Trace::follow(Trial& trial) {
  if (path_.empty() && earlier_path_.empty()) return;
  sim::SimReactor& reactor = trial.cluster().reactor();
  const auto stamp = [](Instant at) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9f ", seconds(at.time_since_epoch()));
    return std::string(text);
  };
  reactor.add_tap([this, stamp](const sim::Delivery& delivery) {
    const Envelope& envelope = delivery.envelope;
    line(stamp(delivery.at) + to_string(envelope.from) + " " + to_string(delivery.to) + " " + std::string(name_of(envelope.type)) + " " +
         std::to_string(envelope.sequence) + " " + std::to_string(envelope.body->size()) + " " + digest(*envelope.body));
  });
  trial.adversary().set_log([this, stamp, &reactor](const std::string& what) { line(stamp(reactor.now()) + "# " + what); });
}

void Trace::line(const std::string& text) {
  ++lines_;
  if (out_.is_open()) out_ << text << '\n';
  if (!earlier_.is_open() || differs()) return;
  std::string before;
  if (!std::getline(earlier_, before)) {
    difference_ = "line " + std::to_string(lines_) + ": the earlier run had ended; this one has: " + text;
  } else if (before != text) {
    difference_ = "line " + std::to_string(lines_) + ": the earlier run had: " + before + "; this one has: " + text;
  }
}

Status Trace::close() {
  std::string before;
  if (earlier_.is_open() && !differs() && std::getline(earlier_, before)) {
    difference_ = "line " + std::to_string(lines_ + 1) + ": this run has ended; the earlier one had: " + before;
  }
  if (out_.is_open()) out_.close();
  if (!path_.empty() && !out_) return {Errc::io, "cannot write the trace " + path_};
  if (differs()) return {Errc::bad_data, "the run differs from " + earlier_path_ + " at " + difference_};
  return {};
}

}  // namespace hourglass
