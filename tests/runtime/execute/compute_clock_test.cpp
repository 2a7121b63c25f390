#include "stepwright/runtime/execute/compute_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace stepwright::runtime {
namespace {

using std::chrono::milliseconds;

TEST(StreamPacer, WorkEndsWhenItIsSaidToHoweverLateItIsDone) {
  StreamPacer clock;
  const Moment start = Moment::clock::now();
  EXPECT_EQ(clock.sleep_until_work_ends(start, 1e-3), start + milliseconds(1));
  EXPECT_GE(Moment::clock::now(), start + milliseconds(1));
  std::this_thread::sleep_for(milliseconds(5));  // a processor that came late
  EXPECT_EQ(clock.sleep_until_work_ends(start, 2e-3), start + milliseconds(3));
  EXPECT_EQ(clock.sleep_until_work_ends(start + milliseconds(10), 1e-3), start + milliseconds(11));
}

TEST(StreamPacer, WhatWasNotHeldTookTheTimeThatItTook) {
  StreamPacer clock;
  const Moment start = Moment::clock::now();
  clock.sleep_until_work_ends(start, 1e-3);
  std::this_thread::sleep_for(milliseconds(5));
  clock.mark_stream_free_now();
  EXPECT_GE(clock.sleep_until_work_ends(start, 1e-3), start + milliseconds(7));
}

}  // namespace
}  // namespace stepwright::runtime
