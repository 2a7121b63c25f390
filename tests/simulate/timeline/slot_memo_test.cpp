// Slots that begin like an earlier one are not simulated again; this must not change any result.
#include "stepwright/simulate/timeline/slot_memo.h"

#include <gtest/gtest.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "tests/plan/shown.h"

namespace stepwright::simulate {
namespace {

plan::Job many_micro_batches() {
  plan::Job job;
  job.model = *model::built_in_model("llama-3-8b");
  job.model.layers = 16;
  job.cluster = *cluster::built_in_cluster("dgx-h100", 4);
  job.sequences = 320;
  job.length = 4096;
  return job;
}

/// Expects the same result from simulating recorded slots as from simulating task by task.
void expect_same_as_recorded(const plan::Job& job, const plan::Plan& plan) {
  SCOPED_TRACE(plan::shown(plan));
  ASSERT_FALSE(plan::first_broken_rule(job, plan));
  const cost::CostModel cost(job);
  const step::StepProgram program = step::build_step_program(job, plan);
  const auto layouts = cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan));
  const Simulation quick = simulate_step_program(program, cost, layouts, plan);
  const Simulation full = simulate_step_program(program, cost, layouts, plan, true);
  EXPECT_NEAR(quick.step_time_s, full.step_time_s, 1e-9);
  EXPECT_EQ(quick.critical_stage, full.critical_stage);
  for (std::size_t s = 0; s < full.stages.size(); ++s) {
    const StageTimes& a = quick.stages[s];
    const StageTimes& b = full.stages[s];
    EXPECT_NEAR(a.end_s, b.end_s, 1e-9);
    EXPECT_NEAR(a.compute_busy_s, b.compute_busy_s, 1e-9);
    EXPECT_NEAR(a.breakdown.bubble_s, b.breakdown.bubble_s, 1e-9);
    EXPECT_NEAR(a.breakdown.tensor_s, b.breakdown.tensor_s, 1e-9);
    EXPECT_NEAR(a.breakdown.pipeline_s, b.breakdown.pipeline_s, 1e-9);
    EXPECT_NEAR(a.breakdown.data_s, b.breakdown.data_s, 1e-9);
    for (std::size_t i = 0; i < a.communication_busy_s.size(); ++i) {
      EXPECT_NEAR(a.communication_busy_s[i], b.communication_busy_s[i], 1e-9);
    }
  }
}

TEST(SlotMemo, ChangesNoTimeWhateverOverlapsAndIsSharded) {
  const plan::Job job = many_micro_batches();
  for (const schedule::PipelineSchedule& schedule :
       {schedule::PipelineSchedule{schedule::PipelineScheduleKind::kOneForwardOneBackward, 1},
        schedule::PipelineSchedule{schedule::PipelineScheduleKind::kInterleaved, 2},
        schedule::PipelineSchedule{schedule::PipelineScheduleKind::kZeroBubbleH1, 1}}) {
    for (const char* sharding : {"NNN", "NNG", "NGG", "GGG"}) {
      for (const bool overlap : {false, true}) {
        plan::Plan plan;
        plan.parallel = {.tensor = 2, .pipeline = 4, .data = 4};
        plan.sequence_parallel = true;
        plan.schedule = schedule;
        plan.sharding = *plan::sharding_named_by_word(sharding);
        plan.overlap.pipeline = plan.overlap.tensor = plan.overlap.gradients =
            plan.overlap.parameters = overlap;
        if (!plan::first_broken_rule(job, plan)) expect_same_as_recorded(job, plan);
      }
    }
  }
}

TEST(SlotMemo, KeepsAHandfulOfSlots) {
  SimulatedScheduleSlotCache memo(2);
  for (int i = 0; i < 20; ++i)
    memo.record_simulated_slot(1, {.before = {.now_s = static_cast<double>(i)}});
  EXPECT_TRUE(memo.of(0).empty());
  EXPECT_EQ(memo.of(1).size(), 8U);
  EXPECT_EQ(memo.of(1)[3].before.now_s, 19);
}

}  // namespace
}  // namespace stepwright::simulate
