// The head's weight gradients deferred until after the last backward pass, worked by hand.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slots.h"
#include "stepwright/plan/laws/legality.h"
#include "tests/memory/jobs.h"
#include "tests/memory/unrolled.h"
#include "tests/plan/shown.h"

namespace stepwright::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kGradient = 512.0 * 1000 * 2;  ///< Logits' gradient: tokens x entries x 2 bytes.
constexpr double kRows = 512.0 * 64 * 2;        ///< The head's input: tokens x hidden x 2 bytes.

/// Returns a plan worked by hand: two layers of 64 channels on two positions, four micro-batches of
/// 512 tokens.
plan::PlannedJob by_hand() {
  plan::PlannedJob planned;
  planned.job = testing::gpt_job(2, 64, 8, 512);
  planned.job.model.vocabulary = 1000;
  planned.job.sequences = 4;
  planned.plan.parallel.pipeline = 2;
  planned.plan.overlap.defer_embedding_gradient = true;
  return planned;
}

double account_bytes(const StageMemory& stage) {
  double bytes = 0;
  for (const MemoryKind kind : {MemoryKind::kActivations, MemoryKind::kLogits,
                                MemoryKind::kGathered, MemoryKind::kCommunication}) {
    bytes += stage.kinds[static_cast<std::size_t>(kind)];
  }
  return bytes;
}

/// Returns a slot as the letter of its direction and its micro-batch.
std::string word_of(schedule::Direction direction, std::int32_t micro_batch) {
  using enum schedule::Direction;
  if (direction == kUpdate) return "U";
  const char letter = direction == kForward ? 'F' : direction == kBackward ? 'B' : 'H';
  return letter + std::to_string(micro_batch);
}

/// Bytes that are kept after each slot of a position, by kind of tensor.
struct Waiting {
  std::vector<std::string> slots;
  std::vector<double> logits;
  std::vector<double> activations;
};

Waiting waiting_at(const step::StepProgram& program, std::size_t position) {
  const step::PipelineStageProgram& stage = program.stages[position];
  Waiting waiting;
  visit_slot_tensor_bytes(
      program, stage, template_memory_footprints(program, MemoryPlace::kDevice),
      [&](const step::PipelineScheduleSlot& slot, const ScheduleSlotTensorBytes& tensors) {
        const auto& sequence = stage.sequences[static_cast<std::size_t>(slot.sequence)];
        waiting.slots.push_back(word_of(sequence.direction, slot.micro_batch));
        const auto after = [&](step::TensorPurpose kind) {
          return tensors.after[static_cast<std::size_t>(kind)];
        };
        waiting.logits.push_back(after(step::TensorPurpose::kLogits));
        waiting.activations.push_back(after(step::TensorPurpose::kActivation));
      });
  return waiting;
}

// Position 1 of two: each forward pass is followed by its backward pass, which keeps the gradient
// of the logits and the head's input; after the last one, the products use them in order.
TEST(DeferredHead, OfTwoPositionsAndFourMicroBatchesByHand) {
  const auto [job, plan] = by_hand();
  const step::StepProgram program = step::build_step_program(job, plan);
  EXPECT_THAT(waiting_at(program, 0).slots,
              ElementsAre("F0", "F1", "B0", "F2", "B1", "F3", "B2", "B3", "U"));
  const Waiting head = waiting_at(program, 1);
  ASSERT_THAT(head.slots, ElementsAre("F0", "B0", "F1", "B1", "F2", "B2", "F3", "B3", "H0", "H1",
                                      "H2", "H3", "U"));
  for (const std::size_t backward : {1, 3, 5, 7}) {
    const double kept = (static_cast<double>(backward) + 1) / 2;
    EXPECT_EQ(head.logits[backward], kept * kGradient);
    EXPECT_EQ(head.activations[backward], kept * kRows);
  }
  for (const std::size_t deferred : {8, 9, 10, 11}) {
    const double kept = 11 - static_cast<double>(deferred);
    EXPECT_EQ(head.logits[deferred], kept * kGradient);
    EXPECT_EQ(head.activations[deferred], kept * kRows);
  }
}

TEST(DeferredHead, HasItsMemoryFromTheUnrolledWalk) {
  std::mt19937 random(8);
  for (int drawn = 0; drawn < 60;) {
    auto [job, plan] = testing::any_planned_job(random, false);
    job.kernels.loss_chunks = 1;
    job.kernels.loss_keeps = plan::LossSavedTensors::kLogits;
    plan.overlap.defer_embedding_gradient = true;
    if (plan.parallel.pipeline == 1 || plan::first_broken_rule(job, plan)) continue;
    ++drawn;
    SCOPED_TRACE(plan::shown(plan));
    const step::StepProgram program = step::build_step_program(job, plan);
    const MemoryReport report = memory_report(job, program);
    for (std::size_t s = 0; s < program.stages.size(); ++s) {
      const testing::Unrolled unrolled = testing::unroll(program, program.stages[s]);
      ASSERT_THAT(unrolled.faults, IsEmpty());
      EXPECT_EQ(unrolled.left_bytes, 0);
      ASSERT_EQ(account_bytes(report.stages[s]), unrolled.peak_bytes);
    }
  }
}

}  // namespace
}  // namespace stepwright::memory
