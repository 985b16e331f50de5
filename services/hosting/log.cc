// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>

#include <unistd.h>

namespace hourglass {
namespace {

constexpr std::int64_t kNoNumber = -1;

struct State {
  std::shared_ptr<spdlog::logger> logger;
  bool json = false;
  std::string role, name, prefix;
  std::atomic<std::int64_t> number{kNoNumber};
};

State& state() {
  static State one;
  return one;
}

spdlog::level::level_enum level_of(Severity severity) {
  switch (severity) {
    case Severity::debug: return spdlog::level::debug;
    case Severity::info: return spdlog::level::info;
    case Severity::warning: return spdlog::level::warn;
    case Severity::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

std::string_view word_of(Severity severity) {
  constexpr std::string_view kWords[] = {"debug", "info", "warning", "error"};
  return kWords[static_cast<int>(severity)];
}

std::string now_rfc3339() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t whole = millis / 1000;
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char text[40];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(millis % 1000));
  return text;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      out += code;
    } else {
      out += c;
    }
  }
  return out;
}

std::string json_line(const State& now, Severity severity, std::string_view event, const Fields& fields) {
  std::string out =
      "{\"ts\":\"" + now_rfc3339() + "\",\"level\":\"" + std::string(word_of(severity)) + "\",\"role\":\"" + escaped(now.role) + "\"";
  if (now.number != kNoNumber) out += ",\"number\":" + std::to_string(now.number);
  if (!now.name.empty()) out += ",\"name\":\"" + escaped(now.name) + "\"";
  out += ",\"event\":\"" + escaped(event) + "\"";
  for (const auto& [key, value] : fields) out += ",\"" + escaped(key) + "\":\"" + escaped(value) + "\"";
  return out + "}";
}

std::string text_line(const State& now, Severity severity, std::string_view event, const Fields& fields) {
  std::string out = now.prefix + now_rfc3339() + " ";
  if (severity != Severity::info) out += std::string(word_of(severity)) + " ";
  out += now.role;
  if (now.number != kNoNumber) out += " " + std::to_string(now.number);
  out += ": " + escaped(event);
  for (const auto& [key, value] : fields) {
    const bool plain = !value.empty() && value.find_first_of(" \"=") == std::string::npos;
    out += " " + key + "=" + (plain ? escaped(value) : "\"" + escaped(value) + "\"");
  }
  return out;
}

}  // namespace

bool in_container() {
  return getpid() == 1 || access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
         std::getenv("KUBERNETES_SERVICE_HOST") != nullptr;
}

void start_log(const LogOptions& options) {
  State& now = state();
  now.json = options.format == "json" || (options.format == "auto" && isatty(STDERR_FILENO) == 0 && in_container());
  now.role = options.role;
  now.name = options.name;
  now.number = kNoNumber;
  now.logger = std::make_shared<spdlog::logger>("hourglass", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  now.logger->set_pattern("%v");
  now.logger->set_level(spdlog::level::from_str(options.level));
  now.logger->flush_on(spdlog::level::debug);
}

void set_log_number(std::uint32_t number) { state().number = number; }
void set_log_prefix(std::string prefix) { state().prefix = std::move(prefix); }

void log_line(Severity severity, std::string_view event, const Fields& fields) {
  State& now = state();
  if (!now.logger) start_log({});
  if (!now.logger->should_log(level_of(severity))) return;
  now.logger->log(level_of(severity), "{}", now.json ? json_line(now, severity, event, fields) : text_line(now, severity, event, fields));
}

}  // namespace hourglass
