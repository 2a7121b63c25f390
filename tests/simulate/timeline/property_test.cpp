// Properties that hold for every program.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/random_program.h"

namespace stepwright::simulate {
namespace {

/// The priced seconds of a program: per stage, and per stage and scheme.
struct Totals {
  std::vector<double> compute_s;
  std::vector<std::array<double, 7>> communication_s;
  double serial_s = 0;
};

/// Adds a template that a stage runs once.
void add(Totals& totals, const step::OperatorTemplate& piece,
         std::span<const cost::OperatorTime> times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    totals.serial_s += times[i].seconds;
    if (op.kind == step::OperatorKind::kReceive) continue;
    double& sum = step::is_communication(op.kind)
                      ? totals.communication_s.back()[static_cast<int>(op.scheme)]
                      : totals.compute_s.back();
    sum += times[i].seconds;
  }
}

Totals totals(const Draft& draft) {
  Totals totals;
  for (const step::PipelineStageProgram& stage : draft.program.stages) {
    totals.compute_s.emplace_back();
    totals.communication_s.emplace_back();
    for (const step::PipelineScheduleSlot& slot : stage.schedule) {
      for (const step::TemplateSequenceItem& item : stage.sequences[slot.sequence].items) {
        add(totals, draft.program.templates[item.which], draft.prices[item.which]);
      }
    }
  }
  return totals;
}

class RandomProgram : public testing::TestWithParam<int> {
 protected:
  Draft draft_ = random_program(static_cast<std::uint32_t>(GetParam()));

  [[nodiscard]] Simulation play(const cost::OverlapSlowdownFactors& contention,
                                bool record = false) const {
    return simulate::simulate_priced_program(draft_.program, draft_.prices, contention, record);
  }
};

TEST_P(RandomProgram, FollowsTheRecursionWhereNothingIsShared) {
  const Draft draft =
      random_program(static_cast<std::uint32_t>(GetParam()), {.shared_links = false});
  const Simulation result = simulate::simulate_priced_program(draft.program, draft.prices, kSlowed);
  const std::vector<double> ends = ends_without_contention(draft);
  for (std::size_t s = 0; s < ends.size(); ++s) {
    EXPECT_NEAR(result.stages[s].end_s, ends[s], 1e-9) << "stage " << s;
  }
}

TEST_P(RandomProgram, LiesBetweenItsBounds) {
  const Totals sums = totals(draft_);
  const std::vector<double> ends = ends_without_contention(draft_);
  const double step_s = play(kSlowed).step_time_s;
  for (const double compute_s : sums.compute_s) EXPECT_GE(step_s, compute_s - 1e-9);
  for (const double end_s : ends) EXPECT_GE(step_s, end_s - 1e-9);
  EXPECT_LE(step_s, sums.serial_s + 1e-9);
}

TEST_P(RandomProgram, PlaysWhatIsPriced) {
  const Totals sums = totals(draft_);
  const Simulation result = play(kSlowed);
  for (std::size_t s = 0; s < result.stages.size(); ++s) {
    EXPECT_NEAR(result.stages[s].compute_busy_s, sums.compute_s[s], 1e-9);
    for (std::size_t scheme = 0; scheme < 7; ++scheme) {
      EXPECT_NEAR(result.stages[s].communication_busy_s[scheme], sums.communication_s[s][scheme],
                  1e-9);
    }
  }
}

TEST_P(RandomProgram, AccountsForAllOfTheStep) {
  const Simulation result = play(kSlowed);
  for (const StageTimes& stage : result.stages) {
    const StageTimeBreakdown& b = stage.breakdown;
    EXPECT_NEAR(b.total(), result.step_time_s, 1e-9);
    EXPECT_NEAR(std::accumulate(b.computation.begin(), b.computation.end(), 0.0), b.compute_s,
                1e-9);
    for (const double part : {b.compute_s, b.bubble_s, b.optimizer_s, b.tensor_s, b.context_s,
                              b.expert_s, b.pipeline_s, b.data_s, b.host_s}) {
      EXPECT_GE(part, -1e-12);
    }
  }
}

TEST_P(RandomProgram, TakesTheSameTimeWhenRecorded) {
  const Simulation merged = play(kSlowed);
  const Simulation recorded = play(kSlowed, true);
  EXPECT_NEAR(merged.step_time_s, recorded.step_time_s, 1e-9);
  EXPECT_EQ(merged.critical_stage, recorded.critical_stage);
  for (std::size_t s = 0; s < merged.stages.size(); ++s) {
    const StageTimeBreakdown& a = merged.stages[s].breakdown;
    const StageTimeBreakdown& b = recorded.stages[s].breakdown;
    EXPECT_NEAR(merged.stages[s].end_s, recorded.stages[s].end_s, 1e-9);
    EXPECT_NEAR(a.compute_s, b.compute_s, 1e-9);
    EXPECT_NEAR(a.bubble_s, b.bubble_s, 1e-9);
    EXPECT_NEAR(a.pipeline_s, b.pipeline_s, 1e-9);
    EXPECT_NEAR(a.data_s, b.data_s, 1e-9);
  }
}

TEST_P(RandomProgram, IsDeterministic) {
  const Simulation first = play(kSlowed, true);
  const Simulation second = play(kSlowed, true);
  EXPECT_EQ(first.step_time_s, second.step_time_s);
  ASSERT_EQ(first.events.size(), second.events.size());
  for (std::size_t i = 0; i < first.events.size(); ++i) {
    EXPECT_EQ(first.events[i].start_s, second.events[i].start_s);
    EXPECT_EQ(first.events[i].operation, second.events[i].operation);
  }
}

TEST_P(RandomProgram, StreamsRunOneOperatorAtATimeAndNoneFasterThanPriced) {
  const Simulation result = play(kSlowed, true);
  std::map<std::pair<int, step::DeviceStream>, double> free_s;
  for (const TimelineEvent& event : result.events) {
    const step::Operator& op = draft_.program.templates[event.which].operators[event.operation];
    if (op.kind == step::OperatorKind::kReceive) continue;
    double& free = free_s[{event.stage, op.stream}];
    EXPECT_GE(event.start_s, free - 1e-12);
    EXPECT_GE(event.end_s - event.start_s,
              draft_.prices[event.which][event.operation].seconds - 1e-9);
    free = std::max(free, event.end_s);
  }
}

/// Returns how much of its priced time an operator has done at the end of its event, if rates
/// follow from the other events of its stage alone: 1 / messages on its link, or 1 / slow-down for
/// computation.
double played_s(const Draft& draft, std::span<const TimelineEvent> events,
                const TimelineEvent& self) {
  const auto operation = [&](const TimelineEvent& event) -> const step::Operator& {
    return draft.program.templates[event.which].operators[event.operation];
  };
  const auto link = [&](const TimelineEvent& event) {
    return step::is_communication(operation(event).kind)
               ? draft.prices[event.which][event.operation].link
               : cost::LinkClass::kNone;
  };
  std::vector<double> times{self.start_s, self.end_s};
  for (const TimelineEvent& event : events) {
    for (const double time_s : {event.start_s, event.end_s}) {
      if (time_s > self.start_s && time_s < self.end_s) times.push_back(time_s);
    }
  }
  std::sort(times.begin(), times.end());
  double played = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double middle_s = (times[i - 1] + times[i]) / 2;
    std::array<int, cost::kLinkClasses> busy{};
    for (const TimelineEvent& event : events) {
      if (event.start_s < middle_s && middle_s < event.end_s) ++busy[static_cast<int>(link(event))];
    }
    double stretch = 1;
    if (!step::is_communication(operation(self).kind)) {
      if (busy[1] > 0) stretch = kSlowed.compute_beside_inside;
      if (busy[2] > 0) stretch = std::max(stretch, kSlowed.compute_beside_network);
    } else if (link(self) != cost::LinkClass::kNone) {
      stretch = std::max(busy[static_cast<int>(link(self))], 1);
    }
    played += (times[i] - times[i - 1]) / stretch;
  }
  return played;
}

TEST_P(RandomProgram, RatesFollowFromWhatRunsBeside) {
  const Simulation result = play(kSlowed, true);
  const bool meets = draft_.program.stages.size() > 1;
  for (auto first = result.events.begin(); first != result.events.end();) {
    const auto last = std::find_if(first, result.events.end(), [&](const TimelineEvent& event) {
      return event.stage != first->stage;
    });
    const std::span<const TimelineEvent> stage(first, last);
    for (const TimelineEvent& event : stage) {
      const step::Operator& op = draft_.program.templates[event.which].operators[event.operation];
      // The last to end in a meeting ends it for all.
      if (meets && op.group == plan::CommunicatorKind::kNorm) continue;
      if (op.kind == step::OperatorKind::kReceive) continue;
      EXPECT_NEAR(played_s(draft_, stage, event),
                  draft_.prices[event.which][event.operation].seconds, 1e-9);
    }
    first = last;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgram, testing::Range(0, kRandomPrograms));

}  // namespace
}  // namespace stepwright::simulate
