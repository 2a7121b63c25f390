#include "stepwright/transport/bounded_calls.h"

#include <gmock/gmock.h>

#include <future>
#include <stdexcept>

#include "stepwright/core/error.h"

namespace stepwright::transport {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{60'000};

/// A call that returns only when the test releases it.
struct Hanging {
  std::shared_ptr<std::promise<void>> let_go = std::make_shared<std::promise<void>>();

  std::function<void()> call() {
    return [future = std::make_shared<std::future<void>>(let_go->get_future())] { future->wait(); };
  }
};

std::string failure_of(TimeBoundedCalls& calls, milliseconds patience, std::function<void()> call) {
  try {
    calls.call_within_time_limit(patience, std::move(call));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    return error.what();
  }
  return "";
}

TEST(TimeBoundedCalls, RunOneAfterTheOtherAndThrowWhatTheyThrow) {
  TimeBoundedCalls calls("silent");
  int number = 0;
  calls.call_within_time_limit(kLong, [&] { number = 1; });
  EXPECT_THROW(calls.call_within_time_limit(kLong, [] { throw std::runtime_error("own"); }),
               std::runtime_error);
  calls.call_within_time_limit(kLong, [&] { number += 1; });
  EXPECT_EQ(number, 2);
}

TEST(TimeBoundedCalls, EndWhenOneDoesNotReturn) {
  TimeBoundedCalls calls("rank 0 hangs");
  Hanging hanging;
  EXPECT_EQ(failure_of(calls, milliseconds(50), hanging.call()), "rank 0 hangs");
  EXPECT_EQ(failure_of(calls, kLong, [] {}), "rank 0 hangs");
  hanging.let_go->set_value();
}

TEST(TimeBoundedCalls, EndForAllWhoWaitBehindIt) {
  TimeBoundedCalls calls("rank 0 hangs");
  Hanging hanging;
  auto first =
      std::async(std::launch::async, [&] { return failure_of(calls, kLong, hanging.call()); });
  while (failure_of(calls, milliseconds(200), [] {}).empty()) {
  }  // until the other one is first
  EXPECT_EQ(first.get(), "rank 0 hangs");
  hanging.let_go->set_value();
}

TEST(TimeBoundedCalls, GoWithoutWaitingForACallThatHangs) {
  Hanging hanging;
  {
    TimeBoundedCalls calls("silent");
    EXPECT_EQ(failure_of(calls, milliseconds(10), hanging.call()), "silent");
  }
  hanging.let_go->set_value();
}

}  // namespace
}  // namespace stepwright::transport
