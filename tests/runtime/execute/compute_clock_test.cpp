#include "stepwright/runtime/execute/compute_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace stepwright::runtime {
namespace {

using std::chrono::milliseconds;

TEST(ComputeClock, WorkEndsWhenItIsSaidToHoweverLateItIsDone) {
  ComputeClock clock;
  const Moment start = Moment::clock::now();
  EXPECT_EQ(clock.spend(start, 1e-3), start + milliseconds(1));
  EXPECT_GE(Moment::clock::now(), start + milliseconds(1));
  std::this_thread::sleep_for(milliseconds(5));  // a processor that came late
  EXPECT_EQ(clock.spend(start, 2e-3), start + milliseconds(3));
  EXPECT_EQ(clock.spend(start + milliseconds(10), 1e-3), start + milliseconds(11));
}

TEST(ComputeClock, WhatWasNotHeldTookTheTimeThatItTook) {
  ComputeClock clock;
  const Moment start = Moment::clock::now();
  clock.spend(start, 1e-3);
  std::this_thread::sleep_for(milliseconds(5));
  clock.catch_up();
  EXPECT_GE(clock.spend(start, 1e-3), start + milliseconds(7));
}

}  // namespace
}  // namespace stepwright::runtime
