#include "stepwright/simulate/timeline/alone.h"

#include <gtest/gtest.h>

#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/random_program.h"

namespace stepwright::simulate {
namespace {

constexpr cost::OverlapSlowdownFactors kSlow{.compute_beside_inside = 2.0,
                                             .compute_beside_network = 3.0};

TEST(Alone, TellsWhatComputationHidesAndWhatItLoses) {
  // 1 s alone; 2 s concurrent with the message do 1 s of work; the message ends; 1 s more; 4 s of
  // the reduction without computation.
  const Draft draft =
      single({{computation(1), tensor_message(2, {0}), computation(2), reduction(4, {2})}});
  const IsolatedStageSeconds alone =
      simulate_template_alone(draft.program.templates[0], draft.prices[0], kSlow);
  EXPECT_DOUBLE_EQ(alone.duration_s, 8);
  EXPECT_DOUBLE_EQ(alone.compute_end_s, 4);
  EXPECT_DOUBLE_EQ(alone.compute_s, 3);
  EXPECT_DOUBLE_EQ(alone.exposed_s[static_cast<int>(step::ParallelismScheme::kTensor)], 1);
  EXPECT_DOUBLE_EQ(alone.exposed_s[static_cast<int>(step::ParallelismScheme::kData)], 4);
  EXPECT_DOUBLE_EQ(alone.link_busy_s[static_cast<int>(cost::LinkClass::kInside)], 2);
  EXPECT_DOUBLE_EQ(alone.link_busy_s[static_cast<int>(cost::LinkClass::kNetwork)], 4);
}

TEST(Alone, NeedsNoOtherStage) {
  Line norm = reduction(1, {1});
  norm.group = plan::CommunicatorKind::kNorm;
  const Draft draft = single({{receive(false), computation(2, {0}), norm, send(3, false, {1})}});
  EXPECT_DOUBLE_EQ(
      simulate_template_alone(draft.program.templates[0], draft.prices[0], {}).duration_s, 5);
}

TEST(Alone, AnEmptyTemplateTakesNoTime) {
  const Draft draft = single({{}});
  EXPECT_EQ(simulate_template_alone(draft.program.templates[0], draft.prices[0], {}).duration_s, 0);
}

TEST(Alone, PlaysASequenceAsASimulationOfItAlone) {
  IsolatedStageSimulator runner;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Draft draft = random_program(seed);
    if (draft.program.stages.size() > 1) continue;
    step::PipelineStageProgram& stage = draft.program.stages[0];
    stage.schedule = {{0, 0}};
    const Simulation whole = simulate::simulate_priced_program(draft.program, draft.prices, kSlow);
    const IsolatedStageSeconds alone = runner.simulate_template_in_isolation(
        draft.program, stage.sequences[0], draft.prices, kSlow);
    EXPECT_DOUBLE_EQ(alone.duration_s, whole.step_time_s);
    EXPECT_DOUBLE_EQ(alone.compute_s, whole.stages[0].compute_busy_s);
    EXPECT_DOUBLE_EQ(alone.exposed_s[static_cast<int>(step::ParallelismScheme::kExpert)],
                     whole.stages[0].breakdown.expert_s);
  }
}

}  // namespace
}  // namespace stepwright::simulate
