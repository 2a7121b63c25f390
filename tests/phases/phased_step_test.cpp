#include "stepwright/phases/phased_step.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plans.h"
#include "stepwright/core/error.h"
#include "stepwright/memory/memory.h"
#include "stepwright/model/parameters.h"
#include "stepwright/phases/forward_pass.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/step/program.h"

namespace stepwright::phases {
namespace {

const char* const kPlan = "parallel: {tensor: 8, data: 2}\nsequence_parallel: true\n";

PhasedStep step_of(const std::string& objective, const std::string& choices = kPlan) {
  return predict_phased_step(plan_of(choices, objective));
}

TEST(PhasedStep, OfPretrainingIsItsUpdate) {
  const PhasedStep step = step_of("");
  ASSERT_EQ(step.phases.size(), 1);
  EXPECT_DOUBLE_EQ(step.step_s, step.update.step_time_s());
  EXPECT_DOUBLE_EQ(step.peak_bytes, step.update.memory.peak_bytes);
  EXPECT_DOUBLE_EQ(step.low_s, step.update.interval.low * step.step_s);
}

TEST(PhasedStep, OfPreferencesTakesAForwardOfTheReferenceMore) {
  const PhasedStep step = step_of("dpo");
  const double forward = predict_forward_passes(plan_of(kPlan), 1).seconds;
  EXPECT_DOUBLE_EQ(step.step_s, step.update.step_time_s() + forward);
  // A copy of an eighth of the model in 16 bits.
  const double copy =
      2.0 * static_cast<double>(model::count_parameters(step.update.planned.job.model)) / 8;
  const PhasedStep alone = step_of("{kind: dpo, reference: host}");
  EXPECT_NEAR(step.peak_bytes - alone.peak_bytes, copy, 0.01 * copy);
  EXPECT_DOUBLE_EQ(step.peak_bytes_above_policy_update(), 0);
  EXPECT_DOUBLE_EQ(alone.peak_bytes_above_policy_update(), 0);
}

TEST(PhasedStep, FitsWhereWhatGeneratesDoes) {
  const auto grpo = [](int tensor, double limit_bytes) {
    return step_of("{kind: grpo, reference: none, memory_limit: " + std::to_string(limit_bytes) +
                   ", rollout: {seconds: 9, tensor: " + std::to_string(tensor) + "}}");
  };
  const PhasedStep whole = grpo(1, 79e9);
  const double generating = whole.phases.front().peak_bytes;
  ASSERT_GT(generating, whole.peak_bytes);
  EXPECT_TRUE(whole.fits());
  EXPECT_DOUBLE_EQ(whole.peak_bytes_above_policy_update(),
                   generating - whole.update.memory.peak_bytes);
  const double between = (generating + whole.peak_bytes) / 2;
  EXPECT_FALSE(grpo(1, between).fits());
  EXPECT_TRUE(grpo(8, between).fits());
}

// The memory of an update in `predict`, `memory` and `tune` includes the models that stay on the
// devices with it.
TEST(PhasedStep, ModelsBesideThePolicyAreInTheMemoryOfItsUpdate) {
  const auto planned = [](const std::string& objective) { return plan_of(kPlan, objective); };
  const auto account = [&](const std::string& objective) {
    const plan::PlannedJob own = planned(objective);
    return memory::memory_report(own.job, step::build_step_program(own.job, own.plan)).peak_bytes;
  };
  const auto priced = [&](const std::string& objective) {
    const plan::PlannedJob own = planned(objective);
    const cost::CostModel cost(own.job);
    return simulate::PlanPricer(own.job, cost).price(own.plan).memory_bytes;
  };
  const std::string rollout = "rollout: {tokens_per_s: 2000, tensor: 8}}";
  const double pretraining = account("step_time");
  EXPECT_DOUBLE_EQ(account("{kind: grpo, reference: none, " + rollout), pretraining);
  const double reference = account("dpo") - pretraining;
  const double critic = account("{kind: ppo, reference: none, " + rollout) - pretraining;
  EXPECT_GT(critic, 3 * reference);
  EXPECT_DOUBLE_EQ(account("{kind: ppo, " + rollout) - pretraining, reference + critic);
  for (const std::string& objective :
       {std::string("dpo"), "{kind: ppo, reference: none, " + rollout, "{kind: ppo, " + rollout}) {
    const double more = account(objective) - pretraining;
    EXPECT_NEAR(priced(objective) - priced("step_time"), more, 0.01 * more);
    EXPECT_LE(priced(objective), account(objective) + 1);
  }
}

TEST(PhasedStep, OnTheSameDevicesIsASum) {
  const PhasedStep step =
      step_of("{kind: ppo, updates: 4, rollout: {tokens_per_s: 2000, tensor: 8}}");
  ASSERT_EQ(step.phases.size(), 7);
  double sum = 0;
  for (const StepPhase& phase : step.phases) {
    EXPECT_FALSE(phase.beside);
    sum += phase.seconds;
  }
  EXPECT_NEAR(step.step_s, sum, 1e-9 * sum);
  const double update = step.update.step_time_s();
  EXPECT_DOUBLE_EQ(step.seconds_of_phase(StepPhaseKind::kUpdate), 4 * update);
  EXPECT_DOUBLE_EQ(step.seconds_of_phase(StepPhaseKind::kCriticUpdate), 4 * update);
  const double forwards = predict_forward_passes(plan_of(kPlan), 4).seconds;
  for (const StepPhaseKind kind :
       {StepPhaseKind::kOldLogProbabilities, StepPhaseKind::kReference, StepPhaseKind::kValues}) {
    EXPECT_DOUBLE_EQ(step.seconds_of_phase(kind), forwards);
  }
  // 4 x 64 x 4,096 tokens on 16 devices of 2,000 tokens/s.
  EXPECT_DOUBLE_EQ(step.seconds_of_phase(StepPhaseKind::kGeneration),
                   4 * 64 * 4096 / (16 * 2000.0));
}

TEST(PhasedStep, SequencesOfOneProcessLengthenEachPhase) {
  const std::string method = "kind: grpo, updates: 4, rollout: {seconds: 5, tensor: 8}";
  const PhasedStep step = step_of("{" + method + ", dispatch: {padded: 30720, token: 100ns}}");
  const PhasedStep without = step_of("{" + method + "}");
  // 4 x 64 sequences of 30,720 tokens.
  const double dispatch = 4 * 64 * 30720 * 100e-9;
  for (const StepPhaseKind kind :
       {StepPhaseKind::kOldLogProbabilities, StepPhaseKind::kReference, StepPhaseKind::kUpdate}) {
    EXPECT_NEAR(step.seconds_of_phase(kind) - without.seconds_of_phase(kind), dispatch, 1e-9);
  }
  EXPECT_NEAR(step.step_s - without.step_s, 3 * dispatch, 1e-9);
}

TEST(PhasedStep, OnTwoPoolsIsTheSlowerOne) {
  const auto with = [](const std::string& rollout, const std::string& more = "") {
    return step_of("{kind: grpo, reference: none, " + more + "rollout: {devices: 16, " + rollout +
                   "}}");
  };
  const PhasedStep slow = with("seconds: 1000");
  EXPECT_DOUBLE_EQ(slow.step_s, 1000 + slow.sync.seconds());
  EXPECT_EQ(slow.devices, 32);
  const PhasedStep fast = with("seconds: 0.1");
  EXPECT_DOUBLE_EQ(fast.step_s, fast.training_s + fast.sync.seconds());
  EXPECT_LT(fast.low_s, fast.step_s);
  EXPECT_LT(fast.step_s, fast.high_s);
  EXPECT_DOUBLE_EQ(slow.low_s, slow.step_s);
  const PhasedStep waiting = with("seconds: 1000", "staleness: 0, ");
  EXPECT_DOUBLE_EQ(waiting.step_s, 1000 + waiting.training_s + waiting.sync.seconds());
  const PhasedStep given = with("seconds: 0.1", "old_log_probabilities: false, ");
  EXPECT_DOUBLE_EQ(given.training_s, given.update.step_time_s());
}

TEST(PhasedStep, ModelsOnDevicesOfTheirOwnWorkBeside) {
  const PhasedStep step = step_of(
      "{kind: ppo, reference: {devices: 8}, critic: {devices: 16}, rollout: {seconds: 5, "
      "tensor: 8}}");
  // Eight devices take twice as long for the reference, as they have half the ranks.
  const double forward = step.seconds_of_phase(StepPhaseKind::kOldLogProbabilities);
  EXPECT_NEAR(step.seconds_of_phase(StepPhaseKind::kReference), 2 * forward, 0.05 * forward);
  EXPECT_DOUBLE_EQ(step.training_s, step.seconds_of_phase(StepPhaseKind::kReference) +
                                        step.seconds_of_phase(StepPhaseKind::kUpdate));
  EXPECT_EQ(step.devices, 16 + 8 + 16);
  EXPECT_DOUBLE_EQ(step.peak_bytes_above_policy_update(), 0);
}

TEST(PhasedStep, OnFewerDevicesStatesAreSharedInGroupsOfTheirOwnSize) {
  const plan::PlannedJob planned = plan_of(
      "parallel: {tensor: 2, data: 8}\nsequence_parallel: true\nsharding: {states: III, "
      "group: 8}\n",
      "{kind: ppo, critic: {devices: 8}, rollout: {tokens_per_s: 2000}}");
  const PhasedStep step = predict_phased_step(planned);
  EXPECT_GT(step.seconds_of_phase(StepPhaseKind::kCriticUpdate),
            step.seconds_of_phase(StepPhaseKind::kUpdate));
}

TEST(PhasedStep, AdaptersAreLearntAgainstTheirBase) {
  const plan::PlannedJob planned =
      plan_of(kPlan, "{kind: grpo, rollout: {tokens_per_s: 2000, tensor: 8}}",
              "{sequences: 64, length: 4096}", "  adapters: {rank: 16}\n");
  const PhasedStep step = predict_phased_step(planned);
  EXPECT_DOUBLE_EQ(step.peak_bytes_above_policy_update(), 0);
  EXPECT_DOUBLE_EQ(step.sync.bytes,
                   2.0 * static_cast<double>(model::count_trained_parameters(planned.job.model)));
}

TEST(PhasedStep, GenerationTakesAsLongAsItsLongestSequence) {
  const PhasedStep step =
      step_of("{kind: grpo, rollout: {tokens_per_s: 1e9, longest: 33s, prompt: 96}}");
  EXPECT_DOUBLE_EQ(step.seconds_of_phase(StepPhaseKind::kGeneration), 33);
  EXPECT_DOUBLE_EQ(step.generated, 64 * 4000);
}

TEST(PhasedStep, OnlyDevicesThatDoBothChange) {
  const auto step = [](const std::string& rollout) {
    return step_of("{kind: grpo, rollout: {seconds: 50, switch: 20s" + rollout + "}}");
  };
  const PhasedStep turns = step("");
  const PhasedStep without = step_of("{kind: grpo, rollout: {seconds: 50}}");
  EXPECT_DOUBLE_EQ(turns.seconds_of_phase(StepPhaseKind::kSwitch), 20);
  EXPECT_NEAR(turns.step_s, without.step_s + 20, 1e-9);
  EXPECT_NEAR(turns.low_s, without.low_s + 20, 1e-9);
  EXPECT_DOUBLE_EQ(turns.training_s, without.training_s);
  EXPECT_DOUBLE_EQ(step(", devices: 16").seconds_of_phase(StepPhaseKind::kSwitch), 0);
}

TEST(PhasedStep, RefusesDevicesOnWhichNoPlanIsLegal) {
  EXPECT_THROW(step_of("{kind: dpo, reference: {devices: 12}}"), Error);
  EXPECT_THROW(step_of("{kind: dpo, reference: {devices: 4}}"), Error);
  EXPECT_THROW(step_of("{kind: grpo, rollout: {seconds: 1, tensor: 3}}"), Error);
}

TEST(PhasedStep, EstimatesAGenerationThatNobodyHasMeasured) {
  const PhasedStep step = step_of("{kind: grpo, reference: none, rollout: {prompt: 96}}");
  const StepPhase& generation = step.phases.front();
  ASSERT_EQ(generation.kind, StepPhaseKind::kGeneration);
  EXPECT_TRUE(generation.assumed());
  EXPECT_LT(generation.low_s, generation.seconds);
  EXPECT_LT(generation.seconds, generation.high_s);
  // No token comes faster than the weights are read once at 70 % of the memory bandwidth.
  const plan::Job& job = step.update.planned.job;
  const double weights = 2.0 * static_cast<double>(model::count_parameters(job.model));
  const double token_s = weights / (0.7 * job.cluster.device.memory_bandwidth_bytes_per_s);
  EXPECT_GE(generation.low_s, 4000 * token_s);
  EXPECT_LT(generation.high_s, 50 * 4000 * token_s);
  EXPECT_LE(step.low_s, step.step_s);
  EXPECT_LE(step.step_s, step.high_s);
  EXPECT_TRUE(std::ranges::any_of(step.notes, [](const std::string& note) {
    return note.starts_with("The generation is an assumption");
  }));
  const PhasedStep given = step_of("{kind: grpo, reference: none, rollout: {seconds: 9}}");
  EXPECT_FALSE(given.phases.front().assumed());
}

TEST(PhasedStep, AMethodAloneIsEnough) {
  for (const char* method : {"grpo", "ppo", "{kind: ppo, updates: 2}"}) {
    const PhasedStep step = step_of(method);
    EXPECT_TRUE(step.phases.front().assumed()) << method;
    EXPECT_GT(step.step_s, 0) << method;
  }
}

}  // namespace
}  // namespace stepwright::phases
