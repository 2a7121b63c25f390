#include "stepwright/runtime/execute/paced_performer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

namespace stepwright::runtime {
namespace {

double processor_time_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A performer that keeps its thread busy for a millisecond per operator.
class Busy : public OperatorRunner {
 public:
  void begin_step() override {}
  Work make_operator_work(OperatorWithOperands /*placed*/) override {
    return [this](Moment /*ready*/) {
      const double before = processor_time_s();
      while (processor_time_s() < before + 1e-3) continue;
      busy_s += processor_time_s() - before;
    };
  }
  void end_step() override {}

  double busy_s = 0;
};

TEST(PacedOperatorRunner, ComputationsLastTheirProcessorTimeSoManyTimes) {
  constexpr double kPace = 20;
  const step::Operator op{.kind = step::OperatorKind::kLinear};
  const step::OperatorTemplate piece;
  const step::TemplateSequenceItem item;
  Busy busy;
  PacedOperatorRunner paced(busy, kPace);
  const Moment begin = Moment::clock::now();
  paced.begin_step();
  for (int i = 0; i < 5; ++i)
    paced.make_operator_work({.op = op, .piece = piece, .item = item})(begin);
  paced.end_step();
  const std::chrono::duration<double> taken = Moment::clock::now() - begin;
  EXPECT_GE(taken.count(), kPace * busy.busy_s);
}

}  // namespace
}  // namespace stepwright::runtime
