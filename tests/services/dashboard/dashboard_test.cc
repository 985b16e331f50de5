// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/dashboard.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "services/dashboard/assets.h"
#include "tests/services/dashboard/http_client.h"
#include "tests/services/dashboard/synthetic_run.h"
#include "tests/services/dashboard/trace_check.h"

namespace hourglass {
namespace {
using Json = nlohmann::json;

class DashboardTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = Dashboard::start({"127.0.0.1", 0});
    ASSERT_TRUE(started.ok()) << started.error().text;
    dashboard_ = std::move(*started);
  }
  void begin_run(SyntheticOptions options = {}, int seconds = 100) {
    run_ = std::make_unique<SyntheticRun>(&dashboard_->sink(), std::move(options));
    for (int i = 0; i < seconds; ++i) run_->tick();
  }
  Answer get(const std::string& path, const std::string& headers = "", const std::string& host = "localhost") {
    return HttpClient(dashboard_->port()).get(path, headers, host);
  }
  Answer raw(const std::string& request, bool has_body = true) {
    HttpClient client(dashboard_->port());
    client.send(request);
    return client.answer(has_body);
  }

  std::unique_ptr<Dashboard> dashboard_;
  std::unique_ptr<SyntheticRun> run_;
};

TEST_F(DashboardTest, ServesTheTraceAsAFileAndTheTimeline) {
  begin_run();
  const Answer trace = get("/api/v1/trace");
  EXPECT_EQ(trace.status, 200);
  EXPECT_EQ(trace.header("Content-Disposition"), "attachment; filename=\"hourglass-trace.json\"");
  TraceFigures figures;
  EXPECT_EQ(check_trace(trace.body, &figures), "");
  EXPECT_GT(figures.flows, 0U);
  for (const char* query : {"", "?seconds=10", "?seconds=30", "?seconds=60"}) {
    const Json timeline = Json::parse(get(std::string("/api/v1/timeline") + query).body);
    EXPECT_EQ(timeline["rows"].size(), 7U) << query;
  }
  for (const char* query : {"?seconds=7", "?seconds=", "?seconds=10x", "?seconds=-10"}) {
    EXPECT_EQ(get(std::string("/api/v1/timeline") + query).status, 400) << query;
  }
}

TEST_F(DashboardTest, StateIsValidJsonBeforeAndDuringARun) {
  Answer answer = get("/api/v1/state");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Content-Type"), "application/json");
  Json state = Json::parse(answer.body);
  EXPECT_EQ(state["registered"], false);
  EXPECT_EQ(state["run"]["phase"], "waiting");

  begin_run();
  state = Json::parse(get("/api/v1/state").body);
  EXPECT_EQ(state["registered"], true);
  EXPECT_EQ(state["run"]["phase"], "training");
  EXPECT_EQ(state["run"]["id"], "5eed0123456789ab");
  EXPECT_EQ(state["workers"].size(), 8U);  // loader, 4 CONV, FC, monitor, aggregator
  EXPECT_EQ(state["traffic"].size(), kTraffics);
  EXPECT_EQ(state["history"].size(), 2U);
  const Json& ledger = state["ledger"];
  EXPECT_EQ(ledger["received"].get<int>(), ledger["applied"].get<int>() + ledger["rejected"]["stale"].get<int>());
  EXPECT_EQ(ledger["balanced"], true);
  EXPECT_GT(state["bytes_per_second"].get<double>(), 0);
  EXPECT_EQ(state["sequence"], dashboard_->board().newest().state->sequence);
}

TEST_F(DashboardTest, SecurityHeadersAreOnEveryAnswer) {
  for (const char* path : {"/", "/app.js", "/api/v1/state", "/metrics", "/livez", "/nowhere"}) {
    const Answer answer = get(path);
    EXPECT_NE(answer.header("Content-Security-Policy").find("default-src 'self'"), std::string::npos) << path;
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff") << path;
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "") << path;
  }
}

TEST_F(DashboardTest, HealthEndpoints) {
  EXPECT_EQ(get("/livez").body, "ok\n");
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/readyz").status, 503);
  begin_run({}, 1);
  EXPECT_EQ(get("/readyz").status, 200);
}

TEST_F(DashboardTest, UnknownPathsAndMethodsAreRefusedAsJson) {
  for (const char* path : {"/nowhere", "/app.js/", "/../etc/passwd", "/%2e%2e/x", "/api/v1/state/x", "//"}) {
    const Answer answer = get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(Json::parse(answer.body)["error"]["status"], 404) << path;
  }
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "FOO"}) {
    const Answer answer = raw(std::string(method) + " /api/v1/state HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.header("Allow"), "GET, HEAD") << method;
    EXPECT_EQ(Json::parse(answer.body)["error"]["status"], 405) << method;
  }
}

TEST_F(DashboardTest, HeadHasTheHeadersOfGetAndNoBody) {
  for (const char* path : {"/", "/api/v1/state", "/app.css", "/metrics"}) {
    HttpClient client(dashboard_->port());
    client.send("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const std::string all = client.rest();
    EXPECT_EQ(all.substr(0, 15), "HTTP/1.1 200 OK") << path;
    EXPECT_EQ(all.find("\r\n\r\n"), all.size() - 4) << path;
    EXPECT_NE(all.find("Content-Length: " + std::to_string(get(path).body.size())), std::string::npos) << path;
  }
  HttpClient client(dashboard_->port());
  client.send("HEAD /api/v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_NE(client.rest().find("text/event-stream"), std::string::npos);
  EXPECT_EQ(dashboard_->board().streams(), 0U);
}

TEST_F(DashboardTest, OneConnectionServesManyRequests) {
  HttpClient client(dashboard_->port());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.get("/livez").status, 200);
}

TEST_F(DashboardTest, ForeignHostNamesAreRefusedOnLoopback) {
  for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:9", "[::1]:80", "monitor.localhost"}) {
    EXPECT_EQ(get("/livez", "", host).status, 200) << host;
  }
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "[::2]", "127.1", "[::1"}) {
    EXPECT_EQ(get("/livez", "", host).status, 421) << host;
    EXPECT_EQ(get("/api/v1/events", "", host).status, 421) << host;
  }
  EXPECT_EQ(raw("GET /livez HTTP/1.0\r\n\r\n").status, 200) << "no browser, no rebinding";
}

TEST(DashboardElsewhere, AnyHostNameIsTakenOffLoopback) {
  auto dashboard = Dashboard::start({"0.0.0.0", 0});
  ASSERT_TRUE(dashboard.ok());
  EXPECT_EQ(HttpClient((*dashboard)->port()).get("/livez", "", "monitor.example:8080").status, 200);
}

TEST(DashboardElsewhere, APortThatIsTakenIsAnError) {
  auto first = Dashboard::start({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok());
  auto second = Dashboard::start({"127.0.0.1", (*first)->port()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Errc::io);
  EXPECT_NE(second.error().text.find(std::to_string((*first)->port())), std::string::npos);
  auto nowhere = Dashboard::start({"nowhere.example", 0});
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, Errc::bad_config);
}

TEST_F(DashboardTest, HugeRequestsAreRefusedAndServiceGoesOn) {
  const std::string huge(200000, 'x');
  for (const std::string& request :
       {"GET /" + huge + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + huge + "\r\n\r\n"}) {
    HttpClient client(dashboard_->port());
    client.send(request);
    const std::string answer = client.rest();
    EXPECT_TRUE(answer.empty() || answer.substr(9, 1) == "4") << answer.substr(0, 60);
  }
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n").status, 413);
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n").status, 413);
  HttpClient noise(dashboard_->port());
  noise.send(std::string(100000, '\xdd'));
  EXPECT_EQ(get("/livez").status, 200);
}

TEST_F(DashboardTest, AssetsComeCompressedAndAreRevalidated) {
  for (const Asset& asset : assets()) {
    const std::string path(asset.path);
    const Answer plain = get(path), gzip = get(path, "Accept-Encoding: br, gzip;q=0.8\r\n"),
                 refused = get(path, "Accept-Encoding: gzip;q=0\r\n");
    EXPECT_EQ(plain.header("Content-Encoding"), "") << path;
    EXPECT_EQ(plain.body, asset.plain) << path;
    EXPECT_EQ(gzip.header("Content-Encoding"), "gzip") << path;
    EXPECT_EQ(gzip.body, asset.gzip) << path;
    EXPECT_EQ(refused.header("Content-Encoding"), "") << path;
    HttpClient again(dashboard_->port());
    again.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: " + plain.header("ETag") + "\r\n\r\n");
    EXPECT_EQ(again.answer(false).status, 304) << path;
  }
}

TEST_F(DashboardTest, LicencesNameWhatTheBundleHolds) {
  const std::string text = get("/licenses.txt").body;
  for (const char* package : {"preact 10.", "uplot 1."}) EXPECT_NE(text.find(package), std::string::npos) << package;
  EXPECT_NE(text.find("Permission is hereby granted"), std::string::npos);
}

TEST_F(DashboardTest, ThePageIsWholeAndLoadsNothingFromElsewhere) {
  begin_run();
  const Answer page = get("/");
  EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("src=\"/app.js\""), std::string::npos);
  EXPECT_NE(page.body.find("fashion_mnist"), std::string::npos) << "the table for browsers without scripts";
  for (const Asset& asset : assets()) {
    if (asset.path != "/app.js" && asset.path != "/app.css") continue;
    EXPECT_EQ(asset.plain.find("https://"), std::string_view::npos) << asset.path;
  }
  EXPECT_EQ(page.body.find("https://"), std::string::npos);
}

TEST_F(DashboardTest, HostileNamesAreEscapedEverywhere) {
  SyntheticOptions options;
  options.host = "<img src=x onerror=alert(1)>\"'&\n{}\\";
  begin_run(options, 3);
  const std::string page = get("/").body;
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"), std::string::npos);
  EXPECT_EQ(Json::parse(get("/api/v1/state").body)["workers"][1]["host"], options.host + "1");
  HttpClient client(dashboard_->port());
  client.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string event = client.read_until("\n\n", 2);
  EXPECT_EQ(event.find("onerror=alert(1)>\"'&\n"), std::string::npos) << "a line break would end the event's data";
}

TEST_F(DashboardTest, SeriesComeAsColumnsAtEachResolution) {
  begin_run({}, 100);
  const Json series = Json::parse(get("/api/v1/series?resolution=1").body);
  EXPECT_EQ(series["columns"].size(), kColumns);
  EXPECT_EQ(series["columns"][0], "loss");
  EXPECT_EQ(series["time"].size(), 100U);
  EXPECT_EQ(series["mean"].size(), kColumns);
  EXPECT_EQ(series["mean"][0].size(), 100U);
  const Json tens = Json::parse(get("/api/v1/series?resolution=10").body);
  EXPECT_EQ(tens["time"].size(), 10U);
  EXPECT_LE(tens["least"][0][0].get<double>(), tens["mean"][0][0].get<double>());
  EXPECT_GE(tens["greatest"][0][0].get<double>(), tens["mean"][0][0].get<double>());
  for (const char* wrong : {"0", "2", "x", "", "1x", "99999999999999999999"}) {
    EXPECT_EQ(get("/api/v1/series?resolution=" + std::string(wrong)).status, 400) << wrong;
  }
}

TEST_F(DashboardTest, WithoutAHistoryThereIsNoEarlierRun) {
  EXPECT_EQ(Json::parse(get("/api/v1/runs").body)["available"], false);
  EXPECT_EQ(get("/api/v1/runs/0123456789abcdef").status, 404);
}

TEST(DashboardRuns, CurvesOfARunByItsId) {
  class Runs final : public EarlierRuns {
   public:
    std::string list_json() override { return "{\"available\":true}"; }
    std::optional<std::string> curves_json(std::string_view id) override {
      return id == "a" ? std::optional<std::string>("{\"id\":\"a\"}") : std::nullopt;
    }
  };
  DashboardOptions options;
  options.port = 0;
  options.runs = std::make_shared<Runs>();
  auto dashboard = Dashboard::start(options);
  ASSERT_TRUE(dashboard.ok());
  HttpClient client((*dashboard)->port());
  EXPECT_EQ(client.get("/api/v1/runs").body, "{\"available\":true}");
  EXPECT_EQ(client.get("/api/v1/runs/a").body, "{\"id\":\"a\"}");
  for (const char* other : {"", "b", "a/", "../a"}) {
    EXPECT_EQ(client.get("/api/v1/runs/" + std::string(other)).status, 404) << other;
  }
}

TEST_F(DashboardTest, M4_SeriesOfALongRunCoverAllOfItInOrder) {
  SyntheticOptions options;
  options.run_seconds = 1e6;
  begin_run(options, 3000);
  const Json series = Json::parse(get("/api/v1/series").body);
  const auto time = series["time"].get<std::vector<double>>();
  EXPECT_LT(time.front(), 10);
  EXPECT_EQ(time.back(), 3000);
  for (std::size_t i = 1; i < time.size(); ++i) ASSERT_GT(time[i], time[i - 1]);
  EXPECT_LT(time.size(), 1200U);
}

TEST_F(DashboardTest, M4_EventsBeginWithASnapshotAndCountUp) {
  begin_run({}, 50);
  HttpClient client(dashboard_->port());
  client.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_NE(head.find("Cache-Control: no-store"), std::string::npos);
  EXPECT_NE(head.find("X-Accel-Buffering: no"), std::string::npos);
  std::string body = client.read_until("\n\n", 2);  // retry, snapshot
  for (int i = 0; i < 3; ++i) {
    run_->tick();
    body += client.read_until("\n\n");
  }
  const std::string text = unchunk(body + "\r\n0\r\n");
  EXPECT_EQ(text.substr(0, 13), "retry: 2000\n\n");
  std::vector<std::uint64_t> sequences;
  std::vector<std::string> names;
  for (std::size_t at = 13; at < text.size();) {
    const std::size_t end = text.find("\n\n", at);
    ASSERT_NE(end, std::string::npos);
    const std::string event = text.substr(at, end - at);
    ASSERT_EQ(event.substr(0, 4), "id: ");
    const std::size_t name = event.find("\nevent: "), data = event.find("\ndata: ");
    names.push_back(event.substr(name + 8, data - name - 8));
    const Json state = Json::parse(event.substr(data + 7));
    EXPECT_EQ(state["sequence"], std::stoull(event.substr(4)));
    sequences.push_back(state["sequence"]);
    at = end + 2;
  }
  ASSERT_EQ(names, (std::vector<std::string>{"snapshot", "state", "state", "state"}));
  for (std::size_t i = 1; i < sequences.size(); ++i) EXPECT_EQ(sequences[i], sequences[i - 1] + 1);
}

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(std::fscanf(file, "%zu %zu", &pages, &resident), 2);
  std::fclose(file);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST_F(DashboardTest, FiveHundredStuckReadersCostBoundedMemoryAndDelayNobody) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  SyntheticOptions options;
  options.conv_workers = 20;
  begin_run(options, 50);
  std::vector<std::unique_ptr<HttpClient>> stuck;
  for (int i = 0; i < 500; ++i) {
    stuck.push_back(std::make_unique<HttpClient>(dashboard_->port(), 4096));
    ASSERT_TRUE(stuck.back()->connected());
    stuck.back()->send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (auto& client : stuck) ASSERT_NE(client->read_until("\r\n\r\n").find("200 OK"), std::string::npos);  // and then they read no more
  EXPECT_EQ(dashboard_->board().streams(), 500U);
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 300; ++i) run_->tick();
  EXPECT_GT(dashboard_->board().events_dropped(), 0U);
  EXPECT_LT(resident_bytes(), before + (64U << 20));
  HttpClient late(dashboard_->port());
  EXPECT_EQ(late.get("/livez").status, 200);
  late.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(late.read_until("\n\n", 2).find("event: snapshot"), std::string::npos);
  run_->tick();
  EXPECT_NE(late.read_until("\n\n").find("event: state"), std::string::npos);
  stuck.clear();
  for (int i = 0; i < 500 && dashboard_->board().streams() > 1; ++i) {
    run_->tick();  // writing to those who left shows that they did
    usleep(10000);
  }
  EXPECT_EQ(dashboard_->board().streams(), 1U);
}

TEST_F(DashboardTest, StreamsEndWhenTheDashboardDoes) {
  begin_run({}, 5);
  HttpClient client(dashboard_->port());
  client.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  (void)client.read_until("\n\n", 2);
  run_ = nullptr;
  dashboard_ = nullptr;
  (void)client.rest();
  EXPECT_TRUE(client.closed());
}

TEST_F(DashboardTest, MetricsAreServedAsPrometheusText) {
  const Answer answer = get("/metrics");
  EXPECT_EQ(answer.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(answer.body.find("# TYPE hourglass_build_info gauge\n"), std::string::npos);
}

}  // namespace
}  // namespace hourglass
