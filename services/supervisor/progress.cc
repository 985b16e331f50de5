// SPDX-License-Identifier: Apache-2.0
#include "services/supervisor/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "services/hosting/log.h"

namespace hourglass {
namespace {

constexpr double kBarSeconds = 0.5;
constexpr std::size_t kBarCells = 24;

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double share_done(const StatusReport& status) {
  if (status.samples_total == 0) return 0;
  return std::min(1.0, static_cast<double>(status.samples_done) / static_cast<double>(status.samples_total));
}

std::string facts(const StatusReport& status) {
  std::string out = "epoch " + std::to_string(std::min(status.epoch + 1, status.epochs)) + "/" + std::to_string(status.epochs);
  if (status.loss) out += ", loss " + show_short(*status.loss);
  if (status.accuracy) out += ", accuracy " + show_share(*status.accuracy);
  out += ", " + printed("%.0f samples/s", status.samples_per_s) + ", " + show_bytes(status.bytes_per_s) + "/s";
  if (status.samples_per_s > 0 && status.samples_total > status.samples_done) {
    out += ", ETA " + show_seconds(static_cast<double>(status.samples_total - status.samples_done) / status.samples_per_s);
  }
  return out + ", " + std::to_string(status.conv_workers) + " CONV " + std::to_string(status.fc_workers) + " FC";
}

std::string waiting(const StatusReport& status) {
  std::string out =
      "waiting for CONV workers: " + std::to_string(status.conv_workers) + " of " + std::to_string(status.conv_workers_wanted);
  return status.message.empty() ? out : out + ", " + status.message;
}

}  // namespace

std::string show_bytes(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return printed(unit == 0 ? "%.0f " : "%.1f ", bytes) + units[unit];
}

std::string show_seconds(double seconds) {
  if (seconds < 60) return printed("%.1f s", seconds);
  const auto whole = static_cast<unsigned long>(std::min(seconds, 1e9));
  char text[40];
  if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lu:%02lu", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text;
}

std::string show_share(double share) { return printed("%.2f %%", 100 * share); }
std::string show_short(double number) { return printed("%.4g", number); }

std::string progress_line(const StatusReport& status) {
  if (status.phase == "waiting") return waiting(status);
  return status.phase + " " + printed("%.0f %%", 100 * share_done(status)) + ", " + facts(status);
}

std::string progress_bar(const StatusReport& status, std::size_t columns, bool colour) {
  std::string plain;
  if (status.phase == "waiting") {
    plain = waiting(status);
    return plain.substr(0, columns);
  }
  const auto full = static_cast<std::size_t>(share_done(status) * kBarCells);
  const std::string bar = std::string(full, '#') + std::string(kBarCells - full, '-');
  plain = status.phase + " [" + bar + "] " + printed("%3.0f %%", 100 * share_done(status)) + " " + facts(status);
  plain = plain.substr(0, columns);
  const std::size_t at = plain.find('[');
  if (!colour || at == std::string::npos || plain.size() < at + 2 + kBarCells) return plain;
  return plain.substr(0, at + 1) + "\033[32m" + plain.substr(at + 1, full) + "\033[0m" + plain.substr(at + 1 + full);
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  terminal_ = terminal_ && !(kind != nullptr && std::string_view(kind) == "dumb");
  colour_ = terminal_ && (no_colour == nullptr || *no_colour == '\0');
  if (terminal_) set_log_prefix("\r\033[K");
}

Progress::~Progress() { close(); }

void Progress::show(const StatusReport& status, double now) {
  if (now - last_ < (terminal_ ? kBarSeconds : kLineSeconds)) return;
  last_ = now;
  if (!terminal_) {
    log_line(Severity::info, progress_line(status));
    return;
  }
  winsize size{};
  const std::size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1U : 79U;
  std::fprintf(stderr, "\r\033[K%s", progress_bar(status, columns, colour_).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::close() {
  if (drawn_) std::fprintf(stderr, "\r\033[K");
  drawn_ = false;
  if (terminal_) set_log_prefix("");
}

}  // namespace hourglass
