#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

#include "stepwright/runtime/paced_performer.h"

namespace stepwright {
namespace {

double thread_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Keeps its thread busy for a millisecond of processor time per operator.
class Busy : public Performer {
 public:
  void begin_step() override {}
  Work issue(PlacedOperator /*placed*/) override {
    return [this](Moment /*ready*/) {
      const double before = thread_s();
      while (thread_s() < before + 1e-3) continue;
      busy_s += thread_s() - before;
    };
  }
  void end_step() override {}

  double busy_s = 0;
};

/// Seconds from the first operator to the last.
double play(Performer& performer, const PlacedOperator& placed) {
  performer.begin_step();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) performer.issue(placed)(Moment::min());
  performer.end_step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(PacedPerformer, ComputationsLastTheirProcessorTimeSoManyTimes) {
  Busy busy;
  PacedPerformer paced(busy, 20);
  // The clock of the step begins before ours.
  EXPECT_GE(play(paced, {.op = {.kind = OperatorKind::kLinear}}), 0.99 * 20 * busy.busy_s);
}

}  // namespace
}  // namespace stepwright
