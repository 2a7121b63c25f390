#include "stepwright/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace stepwright {
namespace {

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const int threads : {-1, 0, 1, 2, 8}) {
    std::vector<int> calls(1000);
    parallel_for(threads, calls.size(), [&](std::size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(1000, 1)) << threads << " threads";
  }
}

TEST(ParallelFor, RunsInTheCallerWithOneThread) {
  std::vector<std::size_t> order;
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for(1, 5, [&](std::size_t i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, DoesNothingWithoutWork) {
  parallel_for(4, 0, [](std::size_t) { FAIL(); });
}

TEST(ParallelFor, WorksOnSeveralThreadsAtOnce) {
  std::atomic<int> waiting{0};
  parallel_for(2, 2, [&](std::size_t) {
    ++waiting;
    while (waiting.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(waiting.load(), 2);
}

/// Returns the failure that a loop throws if every tenth index, from 7 on, fails.
std::string thrown_failure(int threads) {
  try {
    parallel_for(threads, 200, [](std::size_t i) {
      if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(ParallelFor, ThrowsTheFailureOfTheLowestIndex) {
  for (const int threads : {1, 2, 8}) {
    for (int repeat = 0; repeat < 50; ++repeat) EXPECT_EQ(thrown_failure(threads), "7");
  }
}

TEST(ParallelFor, HandsOutNothingAfterAFailure) {
  std::atomic<std::size_t> calls{0};
  const auto body = [&](std::size_t i) {
    ++calls;
    if (i == 3) throw std::runtime_error("3");
  };
  EXPECT_THROW(parallel_for(1, 1000, body), std::runtime_error);
  EXPECT_EQ(calls.load(), 4U);
}

}  // namespace
}  // namespace stepwright
