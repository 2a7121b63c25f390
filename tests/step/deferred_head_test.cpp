// The head's weight gradients deferred until after all turns of their position.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/model/catalog.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/program.h"
#include "stepwright/step/program_json.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns a job for Llama 3 8B with 4 micro-batches of one sequence.
plan::Job llama(std::int64_t data) { return job_of("llama-3-8b", 1, 4 * data, 4096); }

plan::Plan deferring(const plan::Job& job, std::int64_t tensor, std::int64_t pipeline) {
  plan::Plan plan = plan_of(job, tensor, pipeline);
  plan.overlap.defer_embedding_gradient = true;
  return plan;
}

std::vector<std::pair<schedule::Direction, std::int32_t>> slots(const PipelineStageProgram& stage) {
  std::vector<std::pair<schedule::Direction, std::int32_t>> all;
  for (const PipelineScheduleSlot& slot : stage.schedule) {
    all.emplace_back(stage.sequences[static_cast<std::size_t>(slot.sequence)].direction,
                     slot.micro_batch);
  }
  return all;
}

/// Returns the micro-batches whose head has its own slot at a position, in order.
std::vector<std::int32_t> deferred(const PipelineStageProgram& stage) {
  std::vector<std::int32_t> all;
  for (const auto& [direction, micro_batch] : slots(stage)) {
    if (direction == schedule::Direction::kHeadGradient) all.push_back(micro_batch);
  }
  return all;
}

/// Returns the direction and micro-batch of each slot of a position that reduces gradients of its
/// head.
std::vector<std::pair<schedule::Direction, std::int32_t>> reductions(
    const StepProgram& program, const PipelineStageProgram& stage) {
  std::vector<std::pair<schedule::Direction, std::int32_t>> all;
  for (const PipelineScheduleSlot& slot : stage.schedule) {
    const TemplateSequence& sequence = stage.sequences[static_cast<std::size_t>(slot.sequence)];
    for (const TemplateSequenceItem& item : sequence.items) {
      const bool of_head = std::ranges::count(item.units, kHeadBlockNumber) > 0;
      const OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
      const bool reduces = std::ranges::any_of(piece.operators, [](const Operator& op) {
        return op.scheme == ParallelismScheme::kData && op.kind != OperatorKind::kAllGather;
      });
      if (of_head && reduces) all.emplace_back(sequence.direction, slot.micro_batch);
    }
  }
  return all;
}

/// Counts how often a position runs each operator of its blocks in a step.
std::map<std::string, std::int64_t> census(const StepProgram& program,
                                           const PipelineStageProgram& stage) {
  std::map<std::string, std::int64_t> count;
  for (const PipelineScheduleSlot& slot : stage.schedule) {
    for (const TemplateSequenceItem& item :
         stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      for (const Operator& op : program.templates[static_cast<std::size_t>(item.which)].operators) {
        if (op.scheme == ParallelismScheme::kData) continue;
        count[std::string(op.name) + "/" + std::string(name_of(kOperatorNames, op.kind)) + "/" +
              std::string(name_of(kPhaseNames, op.phase))] += op.repeats;
      }
    }
  }
  return count;
}

TEST(DeferredHead, HasASlotForEachMicroBatchBehindAllTurnsOfItsPosition) {
  const plan::Job job = llama(2);
  for (const schedule::PipelineSchedule& schedule :
       {schedule::PipelineSchedule{},
        schedule::PipelineSchedule{schedule::PipelineScheduleKind::kGpipe, 1},
        schedule::PipelineSchedule{schedule::PipelineScheduleKind::kInterleaved, 2},
        schedule::PipelineSchedule{schedule::PipelineScheduleKind::kZeroBubbleH1, 1},
        schedule::PipelineSchedule{schedule::PipelineScheduleKind::kFolded, 2}}) {
    plan::Plan plan = deferring(job, 2, 2);
    plan.schedule = schedule;
    ASSERT_FALSE(plan::find_plan_rejection(job, plan));
    const StepProgram program = build_step_program(job, plan);
    const auto head = static_cast<std::size_t>(program.placement.head_position());
    EXPECT_THAT(deferred(program.stages[head]), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(deferred(program.stages[1 - head]), IsEmpty());
    const auto all = slots(program.stages[head]);
    for (std::size_t i = all.size() - 5; i + 1 < all.size(); ++i) {
      EXPECT_EQ(all[i].first, schedule::Direction::kHeadGradient);
    }
    EXPECT_EQ(all.back().first, schedule::Direction::kUpdate);
  }
}

TEST(DeferredHead, DoesTheSameOperatorsAsOneThatDefersNone) {
  for (const bool sequence_parallel : {false, true}) {
    for (const bool fused : {false, true}) {
      plan::Job job = llama(2);
      job.kernels.fused_accumulation = fused;
      plan::Plan plan = deferring(job, 2, 2);
      plan.sequence_parallel = sequence_parallel;
      const StepProgram deferred = build_step_program(job, plan);
      plan.overlap.defer_embedding_gradient = false;
      const StepProgram at_once = build_step_program(job, plan);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(census(deferred, deferred.stages[i]), census(at_once, at_once.stages[i]));
      }
    }
  }
}

TEST(DeferredHead, IsReducedBehindItsLastGradient) {
  using enum schedule::Direction;
  const plan::Job job = llama(2);
  plan::Plan plan = deferring(job, 2, 2);
  plan.sharding.optimizer = plan::StateShardingScope::kGlobal;
  plan.gradient_bucket = 1;
  const StepProgram once = build_step_program(job, plan);
  EXPECT_THAT(reductions(once, once.stages[1]), ElementsAre(std::pair(kHeadGradient, 3)));

  plan.sharding.gradients = plan::StateShardingScope::kGlobal;
  const StepProgram each = build_step_program(job, plan);
  EXPECT_THAT(reductions(each, each.stages[1]),
              ElementsAre(std::pair(kHeadGradient, 0), std::pair(kHeadGradient, 1),
                          std::pair(kHeadGradient, 2), std::pair(kHeadGradient, 3)));

  plan.sharding.gradients = plan::StateShardingScope::kNone;
  plan.overlap.defer_embedding_gradient = false;
  const StepProgram at_once = build_step_program(job, plan);
  EXPECT_THAT(reductions(at_once, at_once.stages[1]), ElementsAre(std::pair(kBackward, 3)));
}

TEST(DeferredHead, KeepsItsInputAndTheGradientOfItsLogits) {
  const plan::Job job = llama(2);
  plan::Plan plan = deferring(job, 2, 2);
  for (const plan::GatheredInputPolicy input :
       {plan::GatheredInputPolicy::kRegather, plan::GatheredInputPolicy::kKeep}) {
    plan.tensor_input = input;
    const ModelBlockTemplatePair head = build_head_templates(make_setting(job, plan), false);
    std::map<TensorPurpose, std::int64_t> kept;
    for (const TensorId id : head.backward.saved) {
      const TemplateTensor& tensor = head.backward.tensors[static_cast<std::size_t>(id)];
      kept[tensor.kind] += tensor.bytes();
    }
    // 4096 tokens of half of 128256 entries in two bytes each.
    EXPECT_EQ(kept[TensorPurpose::kLogits], 4096LL * 64128 * 2);
    // Rows of 4096 channels: this rank's half, or all where they are kept gathered.
    const bool whole = input == plan::GatheredInputPolicy::kKeep;
    EXPECT_EQ(kept[TensorPurpose::kActivation] + kept[TensorPurpose::kCommunication],
              (whole ? 4096LL : 2048LL) * 4096 * 2);
    ASSERT_EQ(head.deferred.restored.size(), head.backward.saved.size());
  }
}

/// True if the flag leaves the program of a plan unchanged.
bool changes_nothing(const plan::Job& job, plan::Plan plan) {
  plan.overlap.defer_embedding_gradient = true;
  const std::string deferring = step_program_json(build_step_program(job, plan)).dump();
  plan.overlap.defer_embedding_gradient = false;
  return deferring == step_program_json(build_step_program(job, plan)).dump();
}

TEST(DeferredHead, IsAsAnyOtherWhereNothingCanWait) {
  plan::Job job = llama(2);
  EXPECT_TRUE(changes_nothing(llama(4), plan_of(job, 2, 1)));
  EXPECT_FALSE(changes_nothing(job, plan_of(job, 2, 2)));

  plan::Plan spread = plan_of(job, 2, 2);
  spread.schedule.kind = schedule::PipelineScheduleKind::kSpreadVocabulary;
  EXPECT_TRUE(changes_nothing(job, spread));

  // One table for both ends on one position is reduced with the gradients of both.
  plan::Plan folded = plan_of(job, 2, 2);
  folded.schedule = {schedule::PipelineScheduleKind::kFolded, 2};
  EXPECT_FALSE(changes_nothing(job, folded));
  job.model.tied = true;
  EXPECT_TRUE(changes_nothing(job, folded));
  EXPECT_FALSE(changes_nothing(job, plan_of(job, 2, 2)));

  job.model.frozen = {.embedding = true};
  EXPECT_TRUE(changes_nothing(job, plan_of(job, 2, 2)));
}

}  // namespace
}  // namespace stepwright::step
