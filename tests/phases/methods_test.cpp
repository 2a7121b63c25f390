#include <gtest/gtest.h>

#include "plans.h"
#include "stepwright/core/error.h"

namespace stepwright::phases {
namespace {

plan::TrainingMethod method_of(const std::string& objective) {
  return plan_of("parallel: {tensor: 2, data: 8}\n", objective).job.method;
}

TEST(Methods, AreReadWithTheirDefaults) {
  EXPECT_EQ(method_of("").kind, plan::TrainingMethodKind::kPretrain);
  EXPECT_EQ(method_of("{kind: step_time}").kind, plan::TrainingMethodKind::kPretrain);
  EXPECT_EQ(method_of("sft").kind, plan::TrainingMethodKind::kSft);
  const plan::TrainingMethod dpo = method_of("dpo");
  EXPECT_EQ(dpo.reference.place, plan::SecondModelPlace::kSame);
  EXPECT_FALSE(dpo.old_log_probabilities);
  EXPECT_FALSE(dpo.rollout);
  const plan::TrainingMethod grpo = method_of("{kind: grpo, rollout: {tokens_per_s: 1000}}");
  EXPECT_TRUE(grpo.old_log_probabilities);
  EXPECT_EQ(grpo.reference.place, plan::SecondModelPlace::kSame);
  EXPECT_EQ(grpo.critic.place, plan::SecondModelPlace::kNone);
  EXPECT_EQ(grpo.updates, 1);
  EXPECT_EQ(grpo.staleness, 1);
  EXPECT_FALSE(grpo.dispatch);
  const plan::TrainingMethod verl =
      method_of("{kind: grpo, rollout: {seconds: 5}, dispatch: {padded: 10240}}");
  EXPECT_EQ(verl.dispatch->token_s, plan::RolloutSequenceDispatch::kRayPutSecondsPerToken);
  const plan::TrainingMethod ppo = method_of("{kind: ppo, rollout: {seconds: 2min}}");
  EXPECT_EQ(ppo.critic.place, plan::SecondModelPlace::kSame);
  EXPECT_EQ(ppo.rollout->seconds, 120);
}

TEST(Methods, AreWrittenAsTheyWereRead) {
  for (const char* objective :
       {"", "sft", "{kind: dpo, updates: 2, reference: host, memory_limit: 40 GiB}",
        "{kind: grpo, updates: 8, reference: none, old_log_probabilities: false, staleness: 0, "
        "rollout: {tokens_per_s: 1500, longest: 10s, prompt: 100, devices: 8, tensor: 2}}",
        "{kind: grpo, rollout: {seconds: 5}, dispatch: {padded: 10240, token: 200ns}}",
        "{kind: ppo, reference: {devices: 8}, critic: {devices: 16}, rollout: {seconds: 5}}"}) {
    const plan::PlannedJob planned = plan_of("parallel: {tensor: 2, data: 8}\n", objective);
    const YamlJsonDocument written =
        YamlJsonDocument::parse(plan::plan_yaml(planned), "written.yaml");
    const plan::PlannedJob again = plan::read_plan(written, {});
    EXPECT_EQ(again.job.method, planned.job.method) << objective;
    EXPECT_EQ(again.job.objective.memory_limit_bytes, planned.job.objective.memory_limit_bytes);
    EXPECT_EQ(plan::plan_yaml(again), plan::plan_yaml(planned));
  }
}

TEST(Methods, StandBesideWhatTheTunerLooksFor) {
  const plan::PlannedJob planned =
      plan_of("parallel: {tensor: 2, data: 8}\n", "{kind: dpo, memory_confidence: 0.7}");
  EXPECT_EQ(planned.job.objective.kind, plan::TunerObjectiveKind::kStepTime);
  EXPECT_EQ(planned.job.objective.memory_confidence, 0.7);
  EXPECT_THROW(method_of("{kind: dpo, target_step_time: 5}"), Error);
}

TEST(Methods, ForwardsTakeNoMoreSequencesThanAStepHas) {
  EXPECT_EQ(method_of("{kind: dpo, updates: 2, forward_micro_batch: 128}").forward_micro_batch,
            128);
  EXPECT_THROW(method_of("{kind: dpo, updates: 2, forward_micro_batch: 129}"), Error);
}

TEST(Methods, EnginesHaveTheDevicesThatTheirWeightsNeed) {
  EXPECT_EQ(method_of("grpo").rollout->tensor, 1);
  const std::string text =
      "stepwright: job/2\nmodel: qwen2.5-72b\ncluster: {profile: dgx-a100-80g, nodes: 4}\n"
      "batch: {sequences: 64, length: 4096}\nobjective: ";
  const auto of = [&](const std::string& objective) {
    return plan::read_job(YamlJsonDocument::parse(text + objective + "\n", "job.yaml"), {}).method;
  };
  // 145 GB of weights leave half of 80 GB free on four devices.
  EXPECT_EQ(of("ppo").rollout->tensor, 4);
  EXPECT_EQ(of("{kind: ppo, rollout: {prompt: 100}}").rollout->tensor, 4);
  EXPECT_EQ(of("{kind: ppo, rollout: {tensor: 8}}").rollout->tensor, 8);
  EXPECT_EQ(of("{kind: ppo, rollout: {seconds: 9}}").rollout->tensor, 1);
  EXPECT_THROW(of("{kind: ppo, rollout: {seconds: 9, tokens_per_s: 9}}"), Error);
}

}  // namespace
}  // namespace stepwright::phases
