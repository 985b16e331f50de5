// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/dashboard.h"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>

#include "base/bytes.h"
#include "services/dashboard/assets.h"
#include "services/dashboard/event_log.h"
#include "services/dashboard/page.h"
#include "services/dashboard/prometheus.h"
#include "services/dashboard/state_json.h"
#include "services/dashboard/trace.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;
using http::Request;
using http::Response;

constexpr auto kKeepAlive = 15s;
constexpr std::string_view kCheckpoints = "/api/v1/checkpoints/";
constexpr std::string_view kRuns = "/api/v1/runs/";
constexpr const char* kJson = "application/json";
constexpr std::string_view kCommands = "/api/v1/commands/";

Response json(std::string body) {
  Response out;
  out.content_type = kJson;
  out.body = std::move(body);
  out.headers = {{"Cache-Control", "no-store"}};
  return out;
}

Response failure(unsigned status, std::string_view text) {
  Response out = json(error_json(status, text));
  out.status = status;
  return out;
}

Response plain(unsigned status, std::string text) {
  Response out;
  out.status = status;
  out.body = std::move(text);
  out.headers = {{"Cache-Control", "no-store"}};
  return out;
}

/// True where the client's Accept-Encoding allows gzip: named, and not with a quality of zero.
bool accepts_gzip(std::string_view accepted) {
  const std::size_t at = accepted.find("gzip");
  if (at == std::string_view::npos) return false;
  std::string_view rest = accepted.substr(at + 4);
  rest = rest.substr(0, rest.find(','));
  const std::size_t quality = rest.find("q=");
  return quality == std::string_view::npos || rest.substr(quality + 2).find_first_of("123456789") != std::string_view::npos;
}

Response file(const Asset& asset, const Request& request) {
  const bool gzip = accepts_gzip(request.accept_encoding);
  char tag[24];
  const std::uint64_t hash = fingerprint(as_span(asset.plain));
  std::snprintf(tag, sizeof tag, "\"%016llx%s\"", static_cast<unsigned long long>(hash), gzip ? "z" : "");
  Response out;
  out.content_type = asset.content_type;
  out.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}, {"Vary", "Accept-Encoding"}};
  if (request.if_none_match.find(tag) != std::string_view::npos) {
    out.status = 304;
    return out;
  }
  if (gzip) out.headers.emplace_back("Content-Encoding", "gzip");
  out.fixed_body = gzip ? asset.gzip : asset.plain;
  return out;
}

void add_security_headers(Response& response) {
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
}
}  // namespace

bool names_loopback(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end != std::string_view::npos && host.substr(0, end + 1) == "[::1]";
  }
  std::string name(host.substr(0, host.find(':')));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  // 127.a.b.c and nothing else: "127.0.0.1.example.org" is a name.
  if (!name.starts_with("127.") || name.find_first_not_of("0123456789.") != std::string::npos) return false;
  return std::count(name.begin(), name.end(), '.') == 3;
}

Result<std::unique_ptr<Dashboard>> Dashboard::start(const DashboardOptions& options) {
  std::unique_ptr<Dashboard> dashboard(new Dashboard(options));
  http::ServerOptions server_options;
  server_options.bind = options.bind;
  server_options.port = options.port;
  auto server = http::Server::listen(server_options);
  if (!server.ok()) return server.error();
  Dashboard* self = dashboard.get();
  self->server_ = std::move(*server);
  self->loopback_ = self->server_->loopback();
  const Status served = self->server_->serve([self](const Request& request) { return self->answer(request); });
  if (!served.ok()) return served.error();
  dashboard->beat_ = std::thread([self] { self->beat(); });
  return dashboard;
}

Dashboard::~Dashboard() {
  board_.close();
  if (beat_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    ending_.notify_all();
    beat_.join();
  }
  server_ = nullptr;
}

void Dashboard::beat() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, kKeepAlive, [this] { return ended_; })) board_.keep_alive();
}

Response Dashboard::answer(const Request& request) {
  Response out = route(request);
  add_security_headers(out);
  return out;
}

Response Dashboard::route(const Request& request) {
  if (loopback_ && !request.host.empty() && !names_loopback(request.host)) {
    return failure(421, "this address answers to localhost only; to reach it by another name, bind another address");
  }
  const std::string_view path = request.path;
  const bool commanding = path.starts_with(kCommands);
  if (commanding ? request.method != "POST" : request.method != "GET" && request.method != "HEAD") {
    Response out = failure(405, commanding ? "only POST" : "only GET and HEAD");
    out.headers.emplace_back("Allow", commanding ? "POST" : "GET, HEAD");
    return out;
  }
  if (request.has_body) return failure(413, "requests have no body here");
  if (commanding) return command(request);
  if (path == "/") return page(request);
  if (path == "/api/v1/state") return json(*board_.full_json());
  if (path == "/api/v1/events") return events(request);
  if (path == "/api/v1/series") return series(request);
  if (path == "/api/v1/speeds") return json(board_.speeds_json());
  if (path == "/api/v1/checkpoints") return json(checkpoints_.json());
  if (path.starts_with(kCheckpoints)) return checkpoint(path.substr(kCheckpoints.size()));
  if (path == "/api/v1/log") return log(request);
  if (path == "/api/v1/trace") return trace();
  if (path == "/api/v1/timeline") return timeline(request);
  if (path == "/api/v1/runs") return json(runs_ ? runs_->list_json() : R"({"available":false,"runs":[]})");
  if (path.starts_with(kRuns)) return earlier_run(path.substr(kRuns.size()));
  if (path == "/livez" || path == "/healthz") return plain(200, "ok\n");
  if (path == "/readyz") {
    return board_.newest().state->registered ? plain(200, "ok\n") : plain(503, "waiting for the aggregator\n");
  }
  if (path == "/metrics") return metrics();
  for (const Asset& asset : assets()) {
    if (path == asset.path) return file(asset, request);
  }
  return failure(404,
                 "no such page; see /, /api/v1/state, /api/v1/events, /api/v1/series, /api/v1/speeds, /api/v1/log, /api/v1/trace, "
                 "/api/v1/checkpoints, /api/v1/runs, "
                 "/metrics, /livez, /readyz");
}

Response Dashboard::command(const Request& request) {
  if (!same_origin(request.origin, request.host)) return failure(403, "commands are not taken from pages of another site");
  if (token_.empty() || !same_secret(bearer_token(request.authorization), token_)) {
    Response out = failure(
        401, "commands need the token: Authorization: Bearer TOKEN; it is in the run folder's monitor.token, or in the monitor's log");
    out.headers.emplace_back("WWW-Authenticate", "Bearer");
    return out;
  }
  const auto order = order_named(request.path.substr(kCommands.size()));
  if (!order) return failure(404, "no such command; there are: pause, resume, checkpoint, stop");
  const auto number = commands_.put(*order);
  if (!number) return failure(503, "too many commands wait");
  Response out = json(command_json(*number, *order));
  out.status = 202;
  return out;
}

Response Dashboard::page(const Request&) {
  Response out;
  out.content_type = "text/html; charset=utf-8";
  const Published newest = board_.newest();
  out.body = page_html(*newest.state, *newest.findings);
  out.headers = {{"Cache-Control", "no-store"}};
  return out;
}

Response Dashboard::events(const Request& request) {
  Response out;
  out.content_type = "text/event-stream; charset=utf-8";
  out.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  if (request.method == "HEAD") return out;
  out.stream = board_.subscribe();
  if (out.stream) return out;
  Response full = failure(503, "too many event streams; /api/v1/state has the same figures");
  full.headers.emplace_back("Retry-After", "10");
  return full;
}

Response Dashboard::series(const Request& request) {
  std::optional<int> step;
  if (const auto asked = request.query.find("resolution"); asked != request.query.end()) {
    int value = 0;
    const char* end = asked->second.data() + asked->second.size();
    const auto parsed = std::from_chars(asked->second.data(), end, value);
    step = parsed.ec == std::errc() && parsed.ptr == end ? value : 0;
  }
  auto body = series_json(*board_.newest().state, step);
  return body ? json(std::move(*body)) : failure(400, "resolution is 1, 10 or 60 seconds");
}

Response Dashboard::checkpoint(std::string_view name) {
  std::shared_ptr<http::FileBody> file;
  switch (checkpoints_.open(name, file)) {
    case CheckpointFiles::Opened::yes: break;
    case CheckpointFiles::Opened::no_such: return failure(404, "no such checkpoint; see /api/v1/checkpoints");
    case CheckpointFiles::Opened::too_many: {
      Response full = failure(503, "too many downloads at a time");
      full.headers.emplace_back("Retry-After", "10");
      return full;
    }
  }
  Response out;
  out.content_type = "application/octet-stream";
  out.file = std::move(file);
  out.headers = {{"Content-Disposition", "attachment; filename=\"" + std::string(name) + "\""}, {"Cache-Control", "no-store"}};
  return out;
}

Response Dashboard::log(const Request& request) {
  std::uint64_t from = 0;
  if (const auto asked = request.query.find("from"); asked != request.query.end()) {
    const char* end = asked->second.data() + asked->second.size();
    const auto parsed = std::from_chars(asked->second.data(), end, from);
    if (parsed.ec != std::errc() || parsed.ptr != end) return failure(400, "from is the id of an event, a whole number");
  }
  Response out = json(event_lines(*board_.newest().findings, from));
  out.content_type = "application/x-ndjson";
  return out;
}

Response Dashboard::trace() {
  Response out = json(trace_json(*board_.newest().state));
  out.headers.emplace_back("Content-Disposition", "attachment; filename=\"hourglass-trace.json\"");
  return out;
}

Response Dashboard::timeline(const Request& request) {
  const auto asked = request.query.find("seconds");
  const std::string text = asked == request.query.end() ? "10" : asked->second;
  for (const int seconds : {10, 30, 60}) {
    if (text == std::to_string(seconds)) return json(timeline_json(*board_.newest().state, seconds));
  }
  return failure(400, "seconds is 10, 30 or 60");
}

Response Dashboard::earlier_run(std::string_view id) {
  auto curves = runs_ ? runs_->curves_json(id) : std::nullopt;
  return curves ? json(std::move(*curves)) : failure(404, "no such run; see /api/v1/runs");
}

Response Dashboard::metrics() {
  const ServerFigures figures{server_->requests(), board_.streams(), board_.events_dropped()};
  Response out = plain(200, prometheus_text(*board_.newest().state, figures));
  out.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return out;
}

}  // namespace hourglass
