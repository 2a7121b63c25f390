// The executor's walk through a schedule: tensors that templates pass to later ones, and their
// lifetimes.
#include "stepwright/runtime/execute/executor.h"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns a block whose backward pass takes two slots: the slot for data gradients restores what
/// the forward pass saved, and saves it again, with the gradient, for the slot of the weight
/// gradient.
step::StepProgram split_block(const std::vector<step::PipelineScheduleSlot>& schedule) {
  const step::Operator op{.kind = step::OperatorKind::kLinear};
  const auto of_phase = [&](step::Phase phase) {
    step::Operator one = op;
    one.phase = phase;
    return one;
  };
  step::OperatorTemplateBuilder forward("forward", {});
  const step::TensorId x = forward.tensor({.name = "x"});
  forward.add(op, {}, {x});
  step::KeptTensors kept;
  kept.set(step::KeptTensorRole::kMlpInput, x);
  forward.mark_tensors_kept_for_backward(kept);

  step::OperatorTemplateBuilder data("data_gradient", {});
  step::KeptTensors restored = data.create_kept_tensors_in_backward(forward, kept);
  const step::TensorId dy = data.tensor({.name = "dy"});
  data.add(of_phase(step::Phase::kDataGradient), {restored.get(step::KeptTensorRole::kMlpInput)},
           {dy});
  restored.set(step::KeptTensorRole::kFc1Out, dy);
  data.mark_tensors_kept_for_backward(restored);

  step::OperatorTemplateBuilder weight("weight_gradient", {});
  const step::KeptTensors both = weight.create_kept_tensors_in_backward(data, restored);
  weight.add(of_phase(step::Phase::kWeightGradient),
             {both.get(step::KeptTensorRole::kMlpInput), both.get(step::KeptTensorRole::kFc1Out)},
             {});

  step::StepProgram program;
  program.templates = {forward.piece(), data.piece(), weight.piece()};
  step::PipelineStageProgram stage;
  for (step::TemplateId which = 0; which < 3; ++which) {
    stage.sequences.push_back({.items = {{.which = which, .units = {0}}}});
  }
  stage.schedule = schedule;
  program.stages = {stage};
  return program;
}

/// Writes numbers that identify step and micro-batch, and records what weight gradients read.
class Noting : public OperatorRunner {
 public:
  void begin_step() override { ++step_; }
  void end_step() override {}
  Work make_operator_work(OperatorWithOperands placed) override {
    return [this, placed = std::move(placed)](Moment /*ready*/) { run(placed); };
  }

  struct Seen {
    double x, dy;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  std::vector<std::weak_ptr<TensorWithReadyMoment>>
      read;  ///< Cells that weight gradients have read.

 private:
  void run(const OperatorWithOperands& placed) {
    const double number = 10 * step_ + placed.micro_batch;
    if (placed.op.phase == step::Phase::kForward) {
      placed.writes[0]->value = at::scalar_tensor(number, at::kDouble);
    } else if (placed.op.phase == step::Phase::kDataGradient) {
      placed.writes[0]->value = placed.reads[0]->value + 0.5;
    } else {
      for (const auto& cell : read) EXPECT_TRUE(cell.expired());
      seen.push_back(
          {placed.reads[0]->value.item<double>(), placed.reads[1]->value.item<double>()});
      read.insert(read.end(), placed.reads.begin(), placed.reads.end());
    }
  }
  int step_ = 0;
};

constexpr std::int32_t kForward = 0;
constexpr std::int32_t kData = 1;
constexpr std::int32_t kWeight = 2;

TEST(StageStepExecutor, WeightGradientsInSlotsOfTheirOwnFindWhatWasSavedForThem) {
  const step::StepProgram program = split_block({{kForward, 0},
                                                 {kForward, 1},
                                                 {kData, 0},
                                                 {kForward, 2},
                                                 {kData, 1},
                                                 {kWeight, 0},
                                                 {kData, 2},
                                                 {kWeight, 2},
                                                 {kWeight, 1}});
  const std::unique_ptr<RankDevice> device = cpu_device();
  Noting noting;
  StageStepExecutor executor(program, program.stages.front(), noting,
                             RankStreams::Compute::kWhereIssued, *device);
  executor.run_training_step();
  executor.run_training_step();
  EXPECT_THAT(noting.seen,
              ElementsAre(Noting::Seen{10, 10.5}, Noting::Seen{12, 12.5}, Noting::Seen{11, 11.5},
                          Noting::Seen{20, 20.5}, Noting::Seen{22, 22.5}, Noting::Seen{21, 21.5}));
}

TEST(StageStepExecutor, RefusesToRestoreWhatNobodySaved) {
  const step::StepProgram program = split_block({{kForward, 0}, {kData, 0}, {kWeight, 1}});
  const std::unique_ptr<RankDevice> device = cpu_device();
  Noting noting;
  StageStepExecutor executor(program, program.stages.front(), noting,
                             RankStreams::Compute::kWhereIssued, *device);
  try {
    executor.run_training_step();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    EXPECT_THAT(error.what(), HasSubstr("weight_gradient of block 0, micro-batch 1: restores 2 "
                                        "tensors, 0 are saved"));
  }
}

}  // namespace
}  // namespace stepwright::runtime
