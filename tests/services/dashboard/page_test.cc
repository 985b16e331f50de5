// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/page.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

TEST(Page, EscapesWhatHtmlTakesSpecially) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST(Page, HasTheFiguresInTablesForBrowsersWithoutScripts) {
  DashboardState state;
  state.series = std::make_shared<const Series>();
  auto status = std::make_shared<RunStatus>();
  status->model = "<b>cnn</b>";
  status->epoch = 1;
  status->epochs = 5;
  status->groups.resize(1);
  status->groups[0].received = 7;
  status->groups[0].by_verdict = {5, 2};
  state.status = status;
  ActorState actor;
  actor.name = "host & co";
  state.actors = {actor};
  Findings findings;
  findings.alerts = {{"alarm", kAggregator, Level::error, "disk <full>", 5}};
  findings.events.push_back({1, 3723000, Level::warning, "host & co is gone"});
  findings.waits[actor.id] = {{kAggregator}, "CONV worker 3 at clock 9", 12.2};
  const std::string page = page_html(state, findings);
  for (const char* cell :
       {"<td>&lt;b&gt;cnn&lt;/b&gt;</td>", "<td>2 of 5</td>", "<td>Pushes rejected</td><td>2</td>", "<td>host &amp; co</td>",
        "<td>push_conv</td>", "<li>disk &lt;full&gt;</li>", "<td>01:02:03</td><td>warning</td><td>host &amp; co is gone</td>",
        "<td>CONV worker 3 at clock 9</td><td>12</td>"}) {
    EXPECT_NE(page.find(cell), std::string::npos) << cell;
  }
}

}  // namespace
}  // namespace hourglass
