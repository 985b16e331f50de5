// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/trace.h"

#include <gtest/gtest.h>

#include "tests/services/dashboard/synthetic_run.h"
#include "tests/services/dashboard/trace_check.h"

namespace hourglass {
namespace {
using Json = nlohmann::json;

constexpr ActorId kA{Role::conv_worker, 1}, kB{Role::aggregator, 0};

std::shared_ptr<const SpanChunk> chunk(std::vector<Span> spans, std::uint32_t dropped = 0) {
  SpanChunk out;
  out.spans = std::move(spans);
  out.dropped = dropped;
  return std::make_shared<const SpanChunk>(std::move(out));
}

DashboardState state_of(SpanSnapshot spans) {
  DashboardState out;
  out.uptime_seconds = 100;
  out.spans = std::make_shared<const SpanSnapshot>(std::move(spans));
  return out;
}

TEST(Trace, OfNobodyIsValid) {
  EXPECT_EQ(check_trace(trace_json(DashboardState())), "");
  EXPECT_EQ(check_trace(trace_json(state_of({{kA, {0, {chunk({}, 3)}}}}))), "");
  EXPECT_TRUE(Json::parse(timeline_json(DashboardState(), 10))["rows"].empty());
}

TEST(Trace, OverlappingSpansAreOnLanesOfTheirOwn) {
  const ActorSpans actor{0,
                         {chunk({{SpanKind::forward, 100, 50, 0, 0},
                                 {SpanKind::wait, 120, 100, 0, 0},
                                 {SpanKind::step, 150, 10, 0, 0},
                                 {SpanKind::encode, 130, 5, 0, 0}})}};
  const auto spans = place_spans(actor);
  ASSERT_EQ(spans.size(), 4U);
  const std::vector<std::size_t> lanes = {spans[0].lane, spans[1].lane, spans[2].lane, spans[3].lane};
  EXPECT_EQ(lanes, (std::vector<std::size_t>{0, 1, 2, 0})) << "by begin: forward, wait, encode, step";
  EXPECT_EQ(check_trace(trace_json(state_of({{kA, actor}}))), "");
  const ActorSpans crowd{0, {chunk(std::vector<Span>(limits::kSpans, {SpanKind::wait, 5, 5, 0, 0}))}};
  EXPECT_EQ(place_spans(crowd).size(), kLanesMax) << "more at a time is nonsense, and costs no more";
}

TEST(Trace, FlowsJoinWhatWasSentToWhatTookIt) {
  const auto flows = [](double offset_seconds) {
    TraceFigures figures;
    const std::string text = trace_json(
        state_of({{kA, {-7, {chunk({{SpanKind::encode, 9'000'000, 500, 0, 11}, {SpanKind::wait, 9'100'000, 5, 77, 0}})}}},
                  {kB, {offset_seconds, {chunk({{SpanKind::apply, 1'000'000, 300, 11, 0}, {SpanKind::apply, 1'000'400, 300, 11, 0}})}}}}));
    EXPECT_EQ(check_trace(text, &figures), "");
    EXPECT_EQ(figures.spans, 4U);
    EXPECT_EQ(figures.processes, 2U);
    return figures.flows;
  };
  EXPECT_EQ(flows(1.1), 1U) << "a repeat and a flow without a beginning give no arrow";
  EXPECT_EQ(flows(0.9998), 1U) << "a little early, by the error of the clocks: still within the span";
  EXPECT_EQ(flows(0.5), 0U) << "it cannot have come before it was sent";
}

TEST(Trace, TheCheckerFindsWhatIsWrong) {
  const std::string head = R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"a"}},)";
  const auto span = [](double ts, double dur) {
    return R"({"ph":"X","pid":1,"tid":1,"name":"n","ts":)" + std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) + "}";
  };
  const auto flow = [](const char* phase, double ts) {
    return std::string(R"({"ph":")") + phase + R"(","pid":1,"tid":1,"name":"m","id":"5","ts":)" + std::to_string(ts) + "}";
  };
  EXPECT_EQ(check_trace(head + span(1, 2) + "," + span(3, 1) + "," + flow("s", 1) + "," + flow("f", 3) + "]}"), "");
  for (const std::string& wrong :
       {span(1, 2) + "," + span(2, 1), span(-1, 2), span(1, -2), span(1, 2) + "," + flow("f", 2), span(1, 2) + "," + flow("s", 2),
        span(1, 2) + "," + flow("s", 2) + "," + flow("f", 1), span(1, 2) + "," + flow("s", 2) + "," + flow("f", 9)}) {
    EXPECT_NE(check_trace(head + wrong + "]}"), "") << wrong;
  }
  EXPECT_NE(check_trace(head + span(1, 2)), "");
}

TEST(Trace, OfARunHasEverybodyByRoleAndHost) {
  LastState sink;
  SyntheticOptions options;
  options.host = "<b>\"";  // hosts name themselves
  SyntheticRun run(&sink, options);
  for (int i = 0; i < 90; ++i) run.tick();
  const std::string text = trace_json(*sink.newest);
  TraceFigures figures;
  EXPECT_EQ(check_trace(text, &figures), "");
  EXPECT_EQ(figures.processes, 7U);  // loader, 4 CONV, FC, aggregator: the monitor does nothing that is worth a span
  EXPECT_GT(figures.spans, 60U * 100);
  EXPECT_GT(figures.flows, 60U * 4 * 12);
  std::vector<std::string> names;
  const Json trace = Json::parse(text);
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
  }
  EXPECT_NE(std::find(names.begin(), names.end(), "conv-worker 2 (<b>\"2)"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "aggregator"), names.end());
}

TEST(Timeline, HasTheLastSecondsInMilliseconds) {
  LastState sink;
  SyntheticRun run(&sink, {});
  for (int i = 0; i < 90; ++i) run.tick();
  const Json ten = Json::parse(timeline_json(*sink.newest, 10)), minute = Json::parse(timeline_json(*sink.newest, 60));
  ASSERT_EQ(ten["rows"].size(), 7U);
  EXPECT_EQ(ten["kinds"].size(), kSpanKinds);
  for (std::size_t i = 0; i < ten["rows"].size(); ++i) {
    const Json& spans = ten["rows"][i]["spans"];
    EXPECT_GT(spans.size(), 20U);
    EXPECT_GT(minute["rows"][i]["spans"].size(), spans.size());
    for (const Json& span : spans) {
      EXPECT_LT(span[1].get<int>(), ten["rows"][i]["lanes"].get<int>());
      EXPECT_GT(span[2].get<double>() + span[3].get<double>(), -10'000);
      EXPECT_LT(span[2].get<double>(), 0);
    }
  }
}

TEST(Timeline, IsBounded) {
  SpanSnapshot many;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    std::vector<Span> spans;
    for (std::uint64_t at = 0; at < limits::kSpans; ++at) spans.push_back({SpanKind::step, 99'000'000 + 1000 * at, 900, 0, 0});
    many[{Role::conv_worker, i}] = {0, {chunk(std::move(spans))}};
  }
  const Json out = Json::parse(timeline_json(state_of(std::move(many)), 60));
  std::size_t spans = 0;
  for (const Json& row : out["rows"]) spans += row["spans"].size();
  EXPECT_EQ(out["rows"].size(), 1000U);
  EXPECT_LE(spans, kTimelineSpans);
  EXPECT_EQ(out["rows"][0]["spans"].back()[2], -1000.0 + 63) << "the newest";
}

}  // namespace
}  // namespace hourglass
