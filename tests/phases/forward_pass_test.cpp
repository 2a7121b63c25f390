#include "stepwright/phases/forward_pass.h"

#include <gtest/gtest.h>

#include "plans.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/step/forwards.h"

namespace stepwright::phases {
namespace {

const char* const kTensor = "parallel: {tensor: 8, data: 2}\nsequence_parallel: true\n";
const char* const kPipeline = "parallel: {pipeline: 4, data: 4}\nschedule: 1f1b\n";

/// Returns the computation seconds of all forward operators on a rank of the first position.
double computation_s(const plan::PlannedJob& planned) {
  const step::StepProgram program = step::forward_only_program(planned.job, planned.plan);
  const cost::CostModel cost(planned.job);
  double seconds = 0;
  const step::PipelineStageProgram& stage = program.stages.front();
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    for (const step::TemplateSequenceItem& item :
         stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      for (const step::Operator& op :
           program.templates[static_cast<std::size_t>(item.which)].operators) {
        if (!step::is_communication(op.kind)) seconds += op.repeats * cost.compute_s(op);
      }
    }
  }
  return seconds;
}

TEST(ForwardPassPrediction, OnOneDeviceOfAModelIsItsComputation) {
  const plan::PlannedJob planned = plan_of("parallel: {data: 16}\nsharding: ddp\n");
  EXPECT_NEAR(predict_forward_passes(planned, 1).seconds, computation_s(planned),
              0.002 * computation_s(planned));
}

TEST(ForwardPassPrediction, IsLessThanABackward) {
  for (const char* choices : {"parallel: {data: 16}\nsharding: zero1\n", kTensor, kPipeline}) {
    const plan::PlannedJob planned = plan_of(choices);
    const double share =
        predict_forward_passes(planned, 1).seconds / simulate::predict_plan(planned).step_time_s();
    EXPECT_GT(share, 0.2) << choices;
    EXPECT_LT(share, 0.5) << choices;
  }
}

TEST(ForwardPassPrediction, HasNoBackwardAndKeepsNothing) {
  for (const char* choices : {kTensor, kPipeline}) {
    const plan::PlannedJob planned = plan_of(choices);
    for (const step::PipelineStageProgram& stage :
         step::forward_only_program(planned.job, planned.plan).stages) {
      EXPECT_EQ(stage.states.gradients + stage.states.optimizer, 0);
      for (const step::PipelineScheduleSlot& slot : stage.schedule) {
        EXPECT_EQ(stage.sequences[static_cast<std::size_t>(slot.sequence)].direction,
                  schedule::Direction::kForward);
      }
    }
  }
}

TEST(ForwardPassPrediction, OfMoreBatchesFillsThePipelineOnce) {
  const plan::PlannedJob flat = plan_of(kTensor);
  const plan::PlannedJob deep = plan_of(kPipeline);
  const double one = predict_forward_passes(flat, 1).seconds;
  EXPECT_NEAR(predict_forward_passes(flat, 5).seconds, 5 * one, 1e-3 * one);
  // Positions after the first wait for their first micro-batch of 16.
  const double first = predict_forward_passes(deep, 1).seconds;
  const double further = predict_forward_passes(deep, 2).seconds - first;
  EXPECT_GT(first / further, 1.1);
  EXPECT_LT(first / further, (16.0 + 3 + 1) / 16);
  EXPECT_NEAR(predict_forward_passes(deep, 7).seconds, first + 6 * further, 1e-9);
}

TEST(ForwardPassPrediction, NeedsOneMicroBatchWhateverTheirNumber) {
  const auto peak = [](const char* batch) {
    return predict_forward_passes(plan_of(kPipeline, "", batch), 1).peak_bytes;
  };
  EXPECT_EQ(peak("{sequences: 64, length: 4096}"), peak("{sequences: 256, length: 4096}"));
  const plan::PlannedJob planned = plan_of(kPipeline);
  const simulate::PlanPrediction step = simulate::predict_plan(planned);
  const std::vector<double> forward = predict_forward_passes(planned, 1).peak_bytes;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    EXPECT_GT(forward[i], static_cast<double>(step.program.stages[i].states.parameters));
    EXPECT_LT(forward[i], step.memory.stages[i].peak_bytes);
  }
}

TEST(ForwardPassPrediction, OfDocumentsWaitsForTheSlowestRank) {
  const std::string unequal =
      "{sequences: 64, length: 4096, lengths: {lognormal: {median: 600, sigma: 1.0}}, packing: "
      "{kind: greedy, too_long: split}}";
  const std::string equal =
      "{sequences: 64, length: 4096, lengths: {histogram: [[1024, 1]]}, packing: greedy}";
  const auto seconds = [](const std::string& batch) {
    return predict_forward_passes(plan_of("parallel: {data: 16}\nsharding: zero3\n", "", batch), 1)
        .seconds;
  };
  EXPECT_GT(seconds(unequal), 1.001 * seconds(equal));
  // Waits of independent batches add up to less than their number would give.
  const plan::PlannedJob planned = plan_of("parallel: {data: 16}\nsharding: zero1\n", "", unequal);
  EXPECT_LT(predict_forward_passes(planned, 16).seconds,
            16 * predict_forward_passes(planned, 1).seconds);
}

}  // namespace
}  // namespace stepwright::phases
