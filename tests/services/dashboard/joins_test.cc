// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/joins.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

struct Scene {
  DashboardState state;
  Joins joins;

  ActorState& add(std::uint32_t index, const std::string& name) {
    ActorState actor;
    actor.id = {Role::conv_worker, index};
    actor.name = name;
    actor.presence = Presence::active;
    state.actors.push_back(actor);
    return state.actors.back();
  }
  std::uint32_t restarts(std::uint32_t index) {
    joins.look(state);
    const auto all = joins.restarts(state);
    const auto found = all.find({Role::conv_worker, index});
    return found == all.end() ? 0 : found->second;
  }
};

TEST(Joins, ARestartedProcessHasANewIdAndItsOldName) {
  Scene scene;
  scene.add(1, "conv-worker-1");
  scene.add(2, "conv-worker-2");
  EXPECT_EQ(scene.restarts(1), 0U);
  scene.add(3, "conv-worker-1");  // before the dead one is noticed
  EXPECT_EQ(scene.restarts(3), 0U);
  scene.state.actors[0].presence = Presence::gone;
  EXPECT_EQ(scene.restarts(3), 1U);
  EXPECT_EQ(scene.restarts(2), 0U);
  scene.state.actors.erase(scene.state.actors.begin());  // no longer shown
  EXPECT_EQ(scene.restarts(3), 1U);
}

TEST(Joins, OneThatIsBackHasJoinedAgain) {
  Scene scene;
  scene.add(1, "a");
  EXPECT_EQ(scene.restarts(1), 0U);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    scene.state.actors[0].presence = Presence::gone;
    (void)scene.restarts(1);
    scene.state.actors[0].presence = Presence::idle;
    EXPECT_EQ(scene.restarts(1), i);
  }
}

TEST(Joins, SeveralOfOneNameAreNoRestarts) {
  Scene scene;
  for (std::uint32_t i = 1; i <= 4; ++i) scene.add(i, "host");
  for (std::uint32_t i = 1; i <= 4; ++i) EXPECT_EQ(scene.restarts(i), 0U);
}

TEST(Joins, AnotherRunBeginsAnew) {
  Scene scene;
  const auto status = [](std::uint64_t run) {
    auto out = std::make_shared<RunStatus>();
    out->run = run;
    return out;
  };
  scene.state.status = status(1);
  scene.add(1, "a");
  (void)scene.restarts(1);
  scene.state.actors[0].id.index = 2;
  EXPECT_EQ(scene.restarts(2), 1U);
  scene.state.status = status(2);
  EXPECT_EQ(scene.restarts(2), 0U);
}

}  // namespace
}  // namespace hourglass
