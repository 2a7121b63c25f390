#include "stepwright/logs/record_list.h"

#include <gmock/gmock.h>

namespace stepwright::logs {
namespace {

using ::testing::ElementsAre;

LoggedCall call_of(std::int64_t line, std::int64_t payload_bytes) {
  return {.line = line, .rank = 1, .payload_bytes = payload_bytes, .communicator = 0};
}

std::vector<std::int64_t> payloads_of(const LoggedCallList& list) {
  std::vector<std::int64_t> payloads;
  for (const LoggedCall& record : list) payloads.push_back(record.payload_bytes);
  return payloads;
}

TEST(LoggedCallList, GivesBackWhatWasPutIn) {
  LoggedCallList list;
  list.push_back(call_of(3, 10));
  LoggedCall timed = call_of(5, 10);
  timed.start_s = 2;
  timed.duration_s = 0.5;
  list.push_back(timed);
  list.push_back(call_of(7, 20));
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].line, 3);
  EXPECT_FALSE(list[0].duration_s >= 0);
  EXPECT_EQ(list[1].line, 5);
  EXPECT_EQ(list[1].start_s, 2);
  EXPECT_EQ(list[1].duration_s, 0.5);
  EXPECT_FALSE(list[1].exposed_s >= 0);
  EXPECT_FALSE(list[2].duration_s >= 0);
  EXPECT_THAT(payloads_of(list), ElementsAre(10, 10, 20));
}

TEST(LoggedCallList, HoldsEqualCallsOnce) {
  LoggedCallList list;
  for (std::int64_t line = 1; line <= 1000; ++line) list.push_back(call_of(line, line % 2));
  EXPECT_EQ(list.kinds(), 2U);
  const std::vector<EqualLoggedCalls> distinct_calls = list.distinct_calls();
  ASSERT_EQ(distinct_calls.size(), 2U);
  EXPECT_EQ(distinct_calls[0].first.line, 1);
  EXPECT_EQ(distinct_calls[0].records, 500);
}

TEST(LoggedCallList, ChangesEqualCallsTogetherAndOneAlone) {
  LoggedCallList list;
  for (const std::int64_t payload : {10, 20, 10}) list.push_back(call_of(1, payload));
  list.change_kinds([](LoggedCall& record) { record.payload_bytes *= 2; });
  list.push_back(call_of(1, 10));
  EXPECT_THAT(payloads_of(list), ElementsAre(20, 40, 20, 10));
  LoggedCall second = list[1];
  second.payload_bytes = 7;
  list.set(1, second);
  EXPECT_THAT(payloads_of(list), ElementsAre(20, 7, 20, 10));
  list.erase_if([](const LoggedCall& record) { return record.payload_bytes == 20; });
  EXPECT_THAT(payloads_of(list), ElementsAre(7, 10));
}

}  // namespace
}  // namespace stepwright::logs
