// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/admission.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

Hello hello_of(const std::string& host, std::uint16_t port) {
  Hello hello;
  hello.build = "newcomer 1";
  hello.name = "box";
  hello.host = host;
  hello.port = port;
  return hello;
}

TEST(Admission, EndpointIsWhatTheNewcomerGivesElseWhereItsMessageCameFrom) {
  EXPECT_EQ(endpoint_of(hello_of("10.0.0.5", 7000), "10.0.0.9"), "tcp://10.0.0.5:7000");
  EXPECT_EQ(endpoint_of(hello_of("", 7000), "10.0.0.9"), "tcp://10.0.0.9:7000");
  EXPECT_EQ(endpoint_of(hello_of("fd00::5", 7000), ""), "tcp://[fd00::5]:7000");
  EXPECT_EQ(endpoint_of(hello_of("", 7000), ""), "");
  EXPECT_EQ(endpoint_of(hello_of("10.0.0.5", 0), ""), "") << "it listens nowhere";
}

TEST(Admission, N7_AProtocolThatDoesNotFitNamesBothSides) {
  Hello hello = hello_of("a", 1);
  EXPECT_EQ(protocol_mismatch(hello, "us 2"), "");
  hello.protocol_min = hello.protocol_max = kProtocolMax + 1;
  const std::string text = protocol_mismatch(hello, "us 2");
  for (const char* part : {"newcomer 1", "us 2", "update the older one"}) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Admission, NamesWhoIsMissingAndWhoHoldsThePlaces) {
  Job job;
  job.conv_workers = 2;
  job.fc_workers = 1;
  MemberTable members;
  EXPECT_EQ(missing_members(job, members, false), "data-loader, conv-worker 1 of 2, fc-worker 1 of 1");
  ASSERT_TRUE(members.add({Role::conv_worker, 1}, hello_of("a", 1), "tcp://a:1", Instant{}).ok());
  ASSERT_TRUE(members.add({Role::fc_worker, 2}, hello_of("b", 1), "tcp://b:1", Instant{}).ok());
  EXPECT_EQ(missing_members(job, members, true), "conv-worker 2 of 2");
  EXPECT_EQ(places_for(Role::fc_worker, job), 1U);
  EXPECT_EQ(places_for(Role::aggregator, job), 0U);
  const std::string text = no_place_left(Role::fc_worker, hello_of("c", 1), job, members);
  for (const char* part : {"1 fc-worker(s)", "tcp://b:1", "cluster.fc_workers", "(box waits)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(text.find("tcp://a:1"), std::string::npos);
  ASSERT_TRUE(members.add({Role::conv_worker, 3}, hello_of("d", 1), "tcp://d:1", Instant{}).ok());
  EXPECT_EQ(missing_members(job, members, true), "");
}

TEST(Admission, ARunWithoutOneOfItsRolesIsPausedAndSaysSo) {
  Job job;
  job.fc_workers = 1;
  MemberTable members;
  EXPECT_EQ(paused_for(job, members), "paused: no data-loader, no conv-worker, no fc-worker; training goes on when one joins");
  ASSERT_TRUE(members.add({Role::data_loader, 1}, hello_of("a", 1), "", Instant{}).ok());
  ASSERT_TRUE(members.add({Role::conv_worker, 2}, hello_of("b", 1), "", Instant{}).ok());
  EXPECT_EQ(paused_for(job, members), "paused: no fc-worker; training goes on when one joins");
  job.fc_workers = 0;
  EXPECT_EQ(paused_for(job, members), "");
}

}  // namespace
}  // namespace hourglass
