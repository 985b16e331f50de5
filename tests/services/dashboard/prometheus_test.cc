// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/prometheus.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/services/dashboard/synthetic_run.h"

namespace hourglass {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

DashboardState empty_state() {
  DashboardState state;
  state.series = std::make_shared<const Series>();
  return state;
}

TEST(Prometheus, HasAllFamiliesFromTheStart) {
  const std::string text = prometheus_text(empty_state(), {});
  for (const char* line :
       {"hourglass_sent_bytes_total{kind=\"push_fc\"} 0\n", "hourglass_samples_total 0\n", "hourglass_loss{split=\"train\"} NaN\n",
        "hourglass_accuracy_ratio NaN\n", "hourglass_gradients_total{group=\"conv\",verdict=\"stale\"} 0\n",
        "hourglass_gradients_total{group=\"fc\",verdict=\"applied\"} 0\n",
        "hourglass_workers{role=\"conv-worker\",presence=\"active\"} 0\n", "# TYPE hourglass_build_info gauge\n",
        "# TYPE hourglass_sent_bytes_total counter\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST(Prometheus, FollowsTheRun) {
  LastState last;
  SyntheticRun run(&last, {});
  for (int i = 0; i < 100; ++i) run.tick();
  const std::string text = prometheus_text(*last.newest, {3, 2, 1});
  for (const char* line : {"hourglass_run_phase{phase=\"training\"} 1\n", "hourglass_samples_total 150000\n",
                           "hourglass_http_requests_total 3\n", "hourglass_event_streams 2\n", "hourglass_events_dropped_total 1\n",
                           "hourglass_staleness_pushes_total{group=\"conv\",versions=\"2\"} ",
                           "hourglass_worker_last_seen_seconds{role=\"conv-worker\",number=\"1\"} "}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST(Prometheus, EverySampleBelongsToTheFamilyAboveItAndComesOnce) {
  LastState last;
  SyntheticRun run(&last, {});
  for (int i = 0; i < 10; ++i) run.tick();
  DashboardState state = *last.newest;
  state.actors.push_back(state.actors[1]);  // two members of one number
  std::set<std::string> families, samples;
  std::string family;
  for (const std::string& line : lines_of(prometheus_text(state, {}))) {
    if (line.starts_with("# TYPE ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << line;
      EXPECT_EQ(family.ends_with("_total"), line.ends_with(" counter")) << line;
    } else if (!line.starts_with("# HELP ")) {
      EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), family);
      EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_GT(families.size(), 25U);
}

TEST(Prometheus, EscapesLabels) {
  DashboardState state = empty_state();
  state.build = "a\"b\\c\nd";
  EXPECT_NE(prometheus_text(state, {}).find("hourglass_build_info{version=\"a\\\"b\\\\c\\nd\"} 1\n"), std::string::npos);
}

}  // namespace
}  // namespace hourglass
