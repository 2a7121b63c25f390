#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

// The form of AMD-AGI/Primus examples/megatron/configs.
constexpr const char* kExperiment = R"(exp_name: ${PRIMUS_EXP_NAME:tiny}
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: llama3.1_8B.yaml
    overrides:
      micro_batch_size: ${MBS:1}
      global_batch_size: 64
      seq_length: 4096
      tensor_model_parallel_size: ${TP:1}
)";

ImportedPlan started_by(const std::string& script, UserFacts given = {}) {
  if (given.cluster.empty()) given.cluster = "dgx-h100";
  const launch_scripts::SourceFile files[] = {{"start.sh", script}, {"llama.yaml", kExperiment}};
  return import_plan_files("", files, given);
}

TEST(PrimusScript, OverridesAndVariablesStandOverTheExperiment) {
  const ImportedPlan read = started_by(
      "export NNODES=2 TP=4 EXP=examples/megatron/configs/llama.yaml\n"
      "bash ./examples/run_slurm_pretrain.sh --micro_batch_size 2 --global_batch_size=128 \\\n"
      "  --sequence_parallel True --recompute_granularity full --recompute_method uniform \\\n"
      "  --recompute_num_layers 1 --mtp_num_layers 0\n");
  EXPECT_EQ(read.target, "primus");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "llama-3.1-8b");
  EXPECT_EQ(job.cluster.devices(), 16);
  EXPECT_EQ(plan.parallel, (plan::ParallelismDegrees{.tensor = 4, .data = 4}));
  EXPECT_EQ(plan.micro_batch, 2);
  EXPECT_EQ(job.sequences, 128);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
}

TEST(PrimusScript, ItsCommandSaysNodes) {
  const ImportedPlan read = started_by(
      "MBS=2 ./primus-cli slurm -N 4 --nodelist \"a,b\" -- --image x:1 -- --numa -- train pretrain "
      "\\\n"
      "  --config llama.yaml --tensor_model_parallel_size 8\n");
  EXPECT_EQ(read.planned.job.cluster.nodes, 4);
  EXPECT_EQ(read.planned.plan.parallel, (plan::ParallelismDegrees{.tensor = 8, .data = 4}));
  EXPECT_EQ(read.planned.plan.micro_batch, 2);
  EXPECT_EQ(started_by("bash runner/primus-cli direct -- train pretrain --config llama.yaml\n")
                .planned.job.cluster.nodes,
            1);
}

// AMD-AGI/Primus parse_cli_overrides: "key=value", "--key=value", "--key value".
TEST(PrimusScript, OverridesNeedNoDashes) {
  const plan::Plan plan =
      started_by(
          "primus-cli direct -- train pretrain --config llama.yaml micro_batch_size=2 "
          "--recompute_granularity full recompute_method=uniform --data_path k=v "
          "tensor_model_parallel_size=4\n")
          .planned.plan;
  EXPECT_EQ(plan.micro_batch, 2);
  EXPECT_EQ(plan.parallel.tensor, 4);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
}

TEST(PrimusScript, AnExperimentThatWasNotGivenIsNamed) {
  EXPECT_THAT([] { started_by("EXP=examples/deepseek.yaml bash examples/run_pretrain.sh\n"); },
              testing::ThrowsMessage<Error>(HasSubstr("the command reads examples/deepseek")));
}

TEST(PrimusScript, ASettingOfAPersonStandsOverAll) {
  UserFacts given;
  given.settings = {"TP=2", "micro_batch_size=4"};
  const ImportedPlan read = started_by(
      "export EXP=llama.yaml TP=8\nbash run_local_pretrain.sh --micro_batch_size 1\n", given);
  EXPECT_EQ(read.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(read.planned.plan.micro_batch, 4);
}

}  // namespace
}  // namespace stepwright::framework_files
