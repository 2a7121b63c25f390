#include "stepwright/transport/greeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/core/error.h"
#include "tests/transport/thread_transport.h"

namespace stepwright::transport {
namespace {

/// Returns the errors of four ranks in a ring of two nodes when they announce `texts`.
std::vector<std::string> complaints(const std::vector<std::string>& texts) {
  const collective::CollectiveSchedule schedule =
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kHoRing,
                                                collective::CollectiveOperation::kAllGather,
                                                {2, 2},
                                                1});
  ThreadSwitch hub;
  std::vector<std::string> heard(texts.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    threads.emplace_back([&, r] {
      ThreadTransport transport(hub, static_cast<std::int32_t>(r));
      try {
        check_equal_call_texts(schedule.ranks[r], static_cast<std::int32_t>(r), texts[r],
                               transport);
      } catch (const Error& error) {
        heard[r] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return heard;
}

TEST(Greeting, IsSilentWhereAllDoTheSame) {
  const std::string sum = "all_reduce sum of 100 float32";
  EXPECT_THAT(complaints({sum, sum, sum, sum}), testing::Each(""));
}

TEST(Greeting, NamesBothWhoDiffer) {
  const std::vector<std::string> heard = complaints({"a sum", "a sum", "a maximum", "a sum"});
  EXPECT_EQ(heard[0], "rank 0 calls a sum, but rank 2 calls a maximum");
  EXPECT_EQ(heard[2], "rank 2 calls a maximum, but rank 3 calls a sum");
  EXPECT_EQ(heard[3], "rank 3 calls a sum, but rank 2 calls a maximum");
  EXPECT_EQ(heard[1], "");  // It exchanges nothing with rank 2.
}

}  // namespace
}  // namespace stepwright::transport
