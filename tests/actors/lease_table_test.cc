// SPDX-License-Identifier: Apache-2.0
#include "actors/lease_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

ActorId worker(std::uint32_t index) { return {Role::conv_worker, index}; }
Instant at(int s) { return Instant(std::chrono::seconds(s)); }
LeaseResult all_of(const Lease& lease) { return {lease.id, static_cast<std::uint32_t>(lease.samples.size()), 1.0, 1}; }

LeasePlan plan() { return {103, 30, 10, 2, 0, 0, 7}; }

TEST(LeaseTable, AnEpochIsAPermutation) {
  LeaseTable table(plan());
  std::multiset<std::uint32_t> seen;
  for (int batch = 0; batch < 11; ++batch) {
    const Lease* lease = table.issue(worker(1), at(0), true);
    ASSERT_NE(lease, nullptr);
    EXPECT_EQ(lease->epoch, 0U);
    seen.insert(lease->samples.begin(), lease->samples.end());
    table.complete(worker(1), all_of(*lease));
  }
  EXPECT_EQ(seen.size(), 103U);
  EXPECT_EQ(std::set<std::uint32_t>(seen.begin(), seen.end()).size(), 103U);
  EXPECT_EQ(table.progress().samples_done, 103U);
}

TEST(LeaseTable, StopsAfterTheAskedSamplesExactly) {
  LeasePlan p = plan();
  p.samples = 255;
  LeaseTable table(p);
  std::size_t handed = 0;
  while (true) {
    const Lease* lease = table.issue(worker(1), at(0), true);
    if (lease == nullptr) break;
    if (lease->mode == Mode::train) handed += lease->samples.size();
    table.complete(worker(1), all_of(*lease));
    (void)table.take_evaluation();
  }
  EXPECT_EQ(handed, 255U);
  EXPECT_TRUE(table.finished());
}

TEST(LeaseTable, EvaluatesAtEachEpochButTheLastAndOnceAtTheEnd) {
  LeaseTable table(plan());
  int evaluations = 0;
  const auto drain = [&] {
    while (const Lease* lease = table.issue(worker(1), at(0), true)) {
      const bool evaluate = lease->mode == Mode::evaluate;
      table.complete(worker(1), all_of(*lease));
      if (const auto result = table.take_evaluation()) {
        EXPECT_TRUE(evaluate);
        EXPECT_EQ(result->count, 30U);
        ++evaluations;
      }
    }
  };
  drain();
  EXPECT_EQ(evaluations, 1);
  EXPECT_TRUE(table.finished());
  table.begin_evaluation(true);
  table.begin_evaluation(true);
  drain();
  EXPECT_EQ(evaluations, 2);
}

TEST(LeaseTable, LostWorkersSamplesReturnAndCountAsRepeated) {
  LeaseTable table(plan());
  const Lease lost = *table.issue(worker(1), at(0), true);
  const Lease kept = *table.issue(worker(2), at(0), true);
  table.keep_only([](ActorId id) { return id == worker(2); });
  EXPECT_EQ(table.held_by(worker(1)), 0U);
  EXPECT_EQ(table.progress().samples_repeated, 10U);
  const Lease* again = table.issue(worker(2), at(1), true);
  EXPECT_EQ(again->samples, lost.samples);
  EXPECT_FALSE(table.complete(worker(1), all_of(lost)).has_value()) << "the lost worker's late word counts for nothing";
  EXPECT_TRUE(table.complete(worker(2), all_of(kept)).has_value());
  EXPECT_FALSE(table.complete(worker(2), all_of(kept)).has_value()) << "a repeat counts once";
}

TEST(LeaseTable, ABatchLostOnItsWayIsReclaimed) {
  LeaseTable table(plan());
  const Lease first = *table.issue(worker(1), at(0), true);
  const Lease second = *table.issue(worker(1), at(9), true);
  table.reclaim(worker(1), {}, at(5));
  EXPECT_EQ(table.held_by(worker(1)), 1U) << "the second may still be on its way";
  table.reclaim(worker(1), {second.id}, at(20));
  EXPECT_EQ(table.held_by(worker(1)), 1U);
  EXPECT_EQ(table.issue(worker(2), at(21), true)->samples, first.samples);
}

/// Whatever the order of losses, returns and completions: when the table says finished, each sample was completed once per epoch.
TEST(LeaseTable, RandomHistoriesCompleteEverySampleOncePerEpoch) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    LeasePlan p = plan();
    p.seed = seed;
    LeaseTable table(p);
    std::map<std::uint64_t, Lease> held;
    std::vector<int> completed(p.train_size, 0);
    for (int event = 0; event < 100000 && !table.finished(); ++event) {
      const ActorId who = worker(static_cast<std::uint32_t>(random.below(4)));
      const auto mine = std::find_if(held.begin(), held.end(), [&](const auto& row) { return row.second.worker == who; });
      switch (random.below(8)) {
        case 0:
          table.keep_only([&](ActorId id) { return id != who; });
          std::erase_if(held, [&](const auto& row) { return row.second.worker == who; });
          break;
        case 1:
          if (mine != held.end()) {
            table.complete(who, {mine->first, 0, 0, 0});
            held.erase(mine);
          }
          break;
        case 2:
        case 3:
        case 4:
          if (mine != held.end()) {
            if (table.complete(who, all_of(mine->second)) == Mode::train) {
              for (const std::uint32_t id : mine->second.samples) ++completed[id];
            }
            held.erase(mine);
            (void)table.take_evaluation();
          }
          break;
        default:
          if (const Lease* lease = table.issue(who, at(event), true)) held.emplace(lease->id, *lease);
      }
    }
    ASSERT_TRUE(table.finished()) << "seed " << seed;
    for (const int times : completed) ASSERT_EQ(times, 2) << "seed " << seed;
  }
}

/// Hands out and completes leases at random, and asks a new table to go on from the cursor, again and again.
TEST(LeaseTable, EverySampleOfAnEpochIsDoneOnceAcrossRestartsOrCountedAsRepeated) {
  std::uint64_t restarts_of_all = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    auto table = std::make_unique<LeaseTable>(plan());
    std::vector<int> completed(plan().train_size, 0);
    std::uint64_t restarts = 0, repeated_uses = 0;
    std::map<std::uint64_t, Lease> held;
    for (int event = 0; event < 5000 && !table->finished(); ++event) {
      const ActorId who = worker(1 + static_cast<std::uint32_t>(random.below(3)));
      const std::uint64_t choice = random.below(40);
      if (choice == 0 && restarts < 20) {
        const DataProgress cursor = table->progress();
        if (random.below(2) == 0) {  // those that still hold a lease use it, and nobody is told
          repeated_uses += held.size();
        } else {
          for (const auto& [id, lease] : held) table->give_back(id);
        }
        LeasePlan next = plan();
        next.first_id = 1000 * ++restarts;
        auto fresh = std::make_unique<LeaseTable>(next);
        ASSERT_TRUE(fresh->resume(cursor)) << "seed " << seed;
        ASSERT_EQ(fresh->progress().samples_done, cursor.samples_done) << "seed " << seed;
        ASSERT_EQ(fresh->progress().handed_out, cursor.handed_out) << "seed " << seed;
        ASSERT_EQ(fresh->progress().epoch, cursor.epoch) << "seed " << seed;
        held.clear();
        table = std::move(fresh);
      } else if (choice < 20) {
        if (const Lease* lease = table->issue(who, at(event), true)) held.emplace(lease->id, *lease);
      } else if (!held.empty()) {
        const auto mine = std::next(held.begin(), static_cast<std::ptrdiff_t>(random.below(held.size())));
        if (table->complete(mine->second.worker, all_of(mine->second)) == Mode::train) {
          for (const std::uint32_t id : mine->second.samples) ++completed[id];
        }
        held.erase(mine);
        (void)table->take_evaluation();
      }
    }
    ASSERT_TRUE(table->finished()) << "seed " << seed;
    restarts_of_all += restarts;
    for (const int times : completed) ASSERT_EQ(times, 2) << "seed " << seed;
    if (repeated_uses > 0) {
      EXPECT_GT(table->progress().samples_repeated, 0U) << "seed " << seed;
    }
  }
  EXPECT_GT(restarts_of_all, 50U);
}

TEST(LeaseTable, WhatCameBackUnusedIsNotCountedAsRepeatedAndComesFirstInOrder) {
  LeaseTable table(plan());
  std::vector<Lease> leases;
  for (int i = 0; i < 4; ++i) leases.push_back(*table.issue(worker(1), at(0), true));
  (void)table.complete(worker(1), all_of(leases[0]));
  table.give_back(leases[2].id);
  table.give_back(leases[1].id);
  const DataProgress cursor = table.progress();  // lease 3 is with the worker
  EXPECT_EQ(cursor.open_unused, 2U);
  LeaseTable next(plan());
  ASSERT_TRUE(next.resume(cursor));
  EXPECT_EQ(next.progress().samples_repeated, leases[3].samples.size());
  for (int i = 1; i < 4; ++i) {
    const Lease* lease = next.issue(worker(2), at(0), true);
    EXPECT_EQ(lease->samples, leases[static_cast<std::size_t>(i)].samples) << i;
    EXPECT_EQ(lease->progress, leases[static_cast<std::size_t>(i)].progress) << i;
  }
}

TEST(LeaseTable, AnEvaluationThatNobodyFinishedIsMadeUpForAndOneThatWasIsNot) {
  LeasePlan p = plan();
  p.evaluate_every = 40;
  const auto work = [](LeaseTable& table, std::uint64_t until) {
    while (table.progress().samples_done < until) table.complete(worker(1), all_of(*table.issue(worker(1), at(0), true)));
  };
  const auto next_mode = [](LeaseTable& table) { return table.issue(worker(2), at(0), true)->mode; };
  LeaseTable table(p);
  work(table, 40);
  const DataProgress unfinished = table.progress();
  LeaseTable heir(p);
  ASSERT_TRUE(heir.resume(unfinished));
  EXPECT_EQ(next_mode(heir), Mode::evaluate);

  const Lease* lease = table.issue(worker(1), at(0), true);
  for (; lease->mode == Mode::evaluate; lease = table.issue(worker(1), at(0), true)) table.complete(worker(1), all_of(*lease));
  ASSERT_TRUE(table.take_evaluation());
  LeaseTable second(p);
  ASSERT_TRUE(second.resume(table.progress()));
  EXPECT_EQ(next_mode(second), Mode::train);
}

TEST(LeaseTable, ACursorThatIsNoneOfItsPlanIsRefused) {
  const auto refused = [](std::uint64_t handed_out, std::uint64_t first, std::uint32_t count) {
    DataProgress cursor;
    cursor.handed_out = handed_out;
    cursor.open_first = {first};
    cursor.open_count = {count};
    LeaseTable table(plan());
    return !table.resume(cursor);
  };
  EXPECT_FALSE(refused(50, 0, 10));
  EXPECT_TRUE(refused(50, 45, 10)) << "beyond what was handed out";
  EXPECT_TRUE(refused(50, 10, 0));
  EXPECT_TRUE(refused(50, 60, 5));
  EXPECT_TRUE(refused(150, plan().train_size - 5, 10)) << "over the end of an epoch";
  DataProgress uneven;
  uneven.handed_out = 50;
  uneven.open_first = {1};
  LeaseTable table(plan());
  EXPECT_FALSE(table.resume(uneven));
}

}  // namespace
}  // namespace hourglass
