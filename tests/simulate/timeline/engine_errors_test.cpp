#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "stepwright/core/error.h"
#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/draft.h"

namespace stepwright::simulate {
namespace {

void play_all(const Draft& draft) {
  simulate::simulate_priced_program(draft.program, draft.prices, cost::OverlapSlowdownFactors{});
}

template <class Function>
std::string error_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    return error.what();
  }
  return {};
}

TEST(EngineErrors, ReportsADeadlockWithStageSlotAndOperator) {
  Pipeline pipeline{.forward_s = {1, 1}, .backward_s = {2, 2}};
  Draft stuck = draft(pipeline);
  std::swap(stuck.program.stages[0].schedule[0], stuck.program.stages[0].schedule[1]);
  const std::string message = error_of([&] { play_all(stuck); });
  EXPECT_THAT(message, testing::HasSubstr("stage 0, slot 0 (backward, micro-batch 0)"));
  EXPECT_THAT(message, testing::HasSubstr("\"computation\""));
  EXPECT_THAT(message, testing::HasSubstr("a message of another stage"));
}

TEST(EngineErrors, ReportsACollectiveThatOneStageNeverReaches) {
  Draft draft;
  Line norm = reduction(1);
  norm.group = plan::CommunicatorKind::kNorm;
  for (int s = 0; s < 2; ++s) {
    step::PipelineStageProgram& stage = draft.stage();
    const step::TemplateId which = s == 0 ? draft.add({norm}) : draft.add({computation(1)});
    stage.schedule = {{chain(stage, schedule::Direction::kUpdate, {which}), -1}};
  }
  EXPECT_THAT(error_of([&] { play_all(draft); }),
              testing::HasSubstr("\"reduction\" of template \"template 0\" waits for the other"));
}

TEST(EngineErrors, RefusesMessagesWithoutAPartner) {
  Draft sent = draft(Pipeline{.forward_s = {1, 1}, .backward_s = {2, 2}, .micro_batches = 2});
  sent.program.stages[1].schedule.erase(sent.program.stages[1].schedule.begin());
  EXPECT_THAT(error_of([&] { play_all(sent); }),
              testing::HasSubstr("stage 0, slot 0 (forward, micro-batch 0): the message of "
                                 "operator \"send\" is not received"));
  Draft expected = draft(Pipeline{.forward_s = {1, 1}, .backward_s = {2, 2}});
  expected.program.stages[0].schedule.erase(expected.program.stages[0].schedule.begin());
  EXPECT_THAT(error_of([&] { play_all(expected); }),
              testing::HasSubstr("stage 1, slot 0 (forward, micro-batch 0): the message of "
                                 "operator \"receive\" is never sent"));
}

TEST(EngineErrors, RefusesOperatorsThatWaitForLaterOnes) {
  EXPECT_THAT(error_of([] { play_all(single({{computation(1, {1}), computation(1)}})); }),
              testing::HasSubstr("operator 0 \"computation\" waits for operator 1"));
  Draft draft = single({{computation(1)}, {computation(1)}});
  draft.program.stages[0].sequences[0].items[0].after = {1};
  EXPECT_THAT(error_of([&] { play_all(draft); }), testing::HasSubstr("item 0 waits for item 1"));
}

TEST(EngineErrors, RefusesPricesThatAreNoDuration) {
  EXPECT_THAT(error_of([] { play_all(single({{computation(-1)}})); }), testing::HasSubstr("-1 s"));
  EXPECT_THAT(
      error_of([] { play_all(single({{computation(std::numeric_limits<double>::quiet_NaN())}})); }),
      testing::HasSubstr("nan s"));
  Draft draft = single({{computation(1)}});
  draft.prices[0].clear();
  EXPECT_THAT(error_of([&] { play_all(draft); }), testing::HasSubstr("0 prices for 1 operators"));
}

}  // namespace
}  // namespace stepwright::simulate
