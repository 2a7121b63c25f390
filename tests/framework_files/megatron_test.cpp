#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/cluster/generation.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/targets/code.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

/// A launch script as people write them.
constexpr const char* kScript = R"(#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NUM_NODES=${NUM_NODES:-4}
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --master_addr $MASTER_ADDR
)
GPT_MODEL_ARGS=(
    --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672
    --num-attention-heads 64 --group-query-attention --num-query-groups 8
    --seq-length 8192 --max-position-embeddings 8192
    --swiglu --normalization RMSNorm --disable-bias-linear
    --position-embedding-type rope --rotary-base 500000
    --untie-embeddings-and-output-weights
    --attention-dropout 0.0 --hidden-dropout 0.0
    --vocab-size 128256 --tokenizer-type HuggingFaceTokenizer
)
TRAINING_ARGS=(
    --micro-batch-size 1 --global-batch-size 512 --train-iters 500000
    --lr 1.5e-4 --bf16 --use-distributed-optimizer --overlap-grad-reduce
)
PARALLEL_ARGS=(
    --tensor-model-parallel-size 8
    --pipeline-model-parallel-size 4
    --sequence-parallel
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${GPT_MODEL_ARGS[@]} \
    ${TRAINING_ARGS[@]} \
    "${PARALLEL_ARGS[@]}" \
    --eval-interval 100 --some-own-flag
)";

plan::PlannedJob read(const std::string& text, const std::string& cluster = "dgx-h100") {
  PlanDraft draft;
  draft.framework.name = "megatron-core";
  UserFacts given;
  given.cluster = cluster;
  const launch_scripts::SourceFile file{"train.sh", text};
  ImportReport report;
  draft = read_megatron({&file, 1}, given, std::move(draft), report);
  return finish(std::move(draft), report, given, file.name);
}

TEST(Megatron, SharedExpertsBesideTheirMessages) {
  std::string text = kScript;
  const std::string_view last = "--some-own-flag";
  text.replace(text.find(last), last.size(),
               "--num-experts 8 --moe-router-topk 2 --moe-shared-expert-intermediate-size 4096 "
               "--expert-model-parallel-size 8 --expert-tensor-parallel-size 1 "
               "--moe-token-dispatcher-type alltoall "
               "--moe-shared-expert-overlap");
  const plan::PlannedJob planned = read(text);
  EXPECT_TRUE(planned.plan.overlap.shared_experts);
  const std::string script = write_megatron(planned, {});
  EXPECT_THAT(script, ::testing::HasSubstr("--moe-shared-expert-overlap"));
  EXPECT_EQ(read(script).plan, planned.plan);
}

TEST(Megatron, ModulesThatAreRecomputed) {
  const auto with = [](const std::string& modules) {
    std::string text = kScript;
    const std::string_view last = "--some-own-flag";
    text.replace(text.find(last), last.size(),
                 "--recompute-granularity selective --recompute-modules " + modules);
    return read(text);
  };
  const plan::PlannedJob two = with("layernorm mlp");
  EXPECT_EQ(two.plan.recompute.modules,
            (plan::RecomputeModuleSet{plan::RecomputeModule::kNorm, plan::RecomputeModule::kMlp}));
  EXPECT_EQ(with("core_attn").plan.recompute,
            (plan::ActivationRecomputation{.kind = plan::RecomputeKind::kSelective}));
  const plan::PlannedJob other = with("layernorm moe_act gated_attn");
  EXPECT_EQ(other.plan.recompute.modules, (plan::RecomputeModuleSet{plan::RecomputeModule::kNorm}));
  EXPECT_THAT(
      other.job.notes,
      ::testing::Contains("Recomputation of moe_act was left out, because the model has none."));
}

std::string refusal(const std::string& text, const std::string& cluster = "dgx-h100") {
  try {
    read(text, cluster);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Megatron, ReadsAScriptAsPeopleWriteThem) {
  const plan::PlannedJob planned = read(kScript);
  EXPECT_EQ(planned.job.model_name, "llama-3-70b");
  EXPECT_EQ(planned.job.cluster.nodes, 4);
  EXPECT_EQ(planned.plan.parallel.tensor, 8);
  EXPECT_EQ(planned.plan.parallel.pipeline, 4);
  EXPECT_EQ(planned.plan.parallel.data, 1);
  EXPECT_EQ(planned.job.sequences, 512);
  EXPECT_EQ(planned.job.length, 8192);
  EXPECT_TRUE(planned.plan.sequence_parallel);
}

TEST(Megatron, LayersThatStagesDoNotShareEvenlyDoNotStart) {
  std::string script = kScript;
  script.replace(script.find("--num-layers 80"), 15, "--num-layers 81");
  EXPECT_THAT(refusal(script),
              testing::HasSubstr(
                  "81 layers are not a multiple of 4 stages, with which Megatron-Core does"));
  script.replace(script.find("--sequence-parallel"), 19,
                 "--sequence-parallel --decoder-last-pipeline-num-layers 18");
  EXPECT_EQ(read(script).plan.layers, (std::vector<std::int64_t>{21, 21, 21, 18}));
}

TEST(Megatron, NamesWhatContradictsItself) {
  EXPECT_THAT(refusal(with(kScript, "--bf16", "--bf16 --fp16")),
              testing::HasSubstr("--fp16 says precision fp16, --bf16 in line"));
  EXPECT_THAT(
      refusal(with(kScript, "tensor-model-parallel-size 8", "tensor-model-parallel-size eight")),
      testing::HasSubstr("tensor_model_parallel_size: must be an integer"));
  EXPECT_THAT(
      refusal(with(kScript, "tensor-model-parallel-size 8", "tensor-model-parallel-size 3")),
      testing::HasSubstr("not a multiple"));
  EXPECT_THAT(refusal(with(kScript, "NUM_NODES:-4", "NUM_NODES:-3")),
              testing::HasSubstr("24 devices are not a multiple"));
  EXPECT_THAT(refusal(kScript, "dgx-h100:8"), testing::HasSubstr("runs on 32 ranks"));
  EXPECT_THAT(refusal(kScript, ""), testing::HasSubstr("--cluster is required"));
  EXPECT_THAT(refusal("echo hello\n"), testing::HasSubstr("no command has arguments"));
}

TEST(Megatron, AsksForConnectionsWhenAndOnlyWhenItMust) {
  plan::PlannedJob planned = read(kScript);
  const auto value = [&] {
    const auto settings = needed_environment_settings(planned);
    return settings.empty()                 ? std::string("free")
           : settings.front().value.empty() ? "unset"
                                            : settings.front().value;
  };
  EXPECT_EQ(value(), "1");
  planned.plan.parallel.tensor = 1;
  EXPECT_EQ(value(), "free");
  planned.plan.parallel.context = 2;
  EXPECT_EQ(value(), "1");
  planned.job.cluster.device.generation = &cluster::find_device_generation("B200");
  EXPECT_EQ(value(), "free");
  planned.plan.sharding = plan::sharding_named_by_word("GGG").value();
  EXPECT_EQ(value(), "unset");
}

TEST(Megatron, WritesTheFlagsOfARelease) {
  plan::PlannedJob planned = read(kScript);
  planned.plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 5};
  planned.job.kernels.attention = cluster::AttentionKernel::kFlash2;
  const std::string old = export_plan("megatron", planned, "0.8").text;
  EXPECT_THAT(old, testing::HasSubstr("--num-layers-per-virtual-pipeline-stage 4"));
  EXPECT_THAT(old, testing::HasSubstr("--use-flash-attn"));
  const std::string newest = export_plan("megatron", planned, "").text;
  EXPECT_THAT(newest, testing::HasSubstr("--num-virtual-stages-per-pipeline-rank 5"));
  EXPECT_THAT(newest, testing::HasSubstr("--attention-backend"));
}

// --global-batch-size 512 on 4 x 8 devices, tensor 8 and pipeline 4: 512 micro-batches.
std::string interleaved_script(const std::string& more) {
  std::string script = kScript;
  const std::string mark = "    --sequence-parallel\n";
  return script.replace(script.find(mark), mark.size(),
                        mark + "    --num-layers-per-virtual-pipeline-stage 10\n" + more);
}

TEST(Megatron, OneChunkOfTheInterleavedScheduleIsSaid) {
  std::string script = interleaved_script("");
  script.replace(script.find("--num-layers-per-virtual-pipeline-stage 10"), 42,
                 "--num-layers-per-virtual-pipeline-stage 20");
  const ImportedPlan imported = import_text("", "train.sh", script, {.cluster = "dgx-h100"});
  EXPECT_EQ(imported.planned.plan.schedule.kind,
            schedule::PipelineScheduleKind::kOneForwardOneBackward);
  EXPECT_THAT(imported.report.not_read,
              lists("--num-layers-per-virtual-pipeline-stage", SettingImpact::kYes));
}

TEST(Megatron, ReadsAndWritesGroupsOfMicroBatches) {
  const std::string flag = "--microbatch-group-size-per-virtual-pipeline-stage";
  EXPECT_EQ(read(interleaved_script("")).plan.schedule.group, 0);
  const plan::PlannedJob planned = read(interleaved_script("    " + flag + " 12\n"));
  EXPECT_EQ(planned.plan.schedule.group, 12);
  const std::string written = export_plan("megatron", planned, "").text;
  EXPECT_THAT(written, testing::HasSubstr(flag + " 12"));
  EXPECT_EQ(read(written).plan.schedule, planned.plan.schedule);
  EXPECT_THAT(export_plan("megatron", read(interleaved_script("")), "").text,
              testing::Not(testing::HasSubstr(flag)));
  try {
    // Groups of 10 leave 2, fewer than the 4 positions.
    read(interleaved_script("    " + flag + " 10\n"));
    FAIL() << "groups of 10 are read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("interleaving-needs-groups"));
  }
}

TEST(Megatron, PipelinesOfDenseModelsMayComeBeforeData) {
  std::string script = kScript;
  const std::string mark = "    --sequence-parallel\n";
  script.replace(script.find(mark), mark.size(), mark + "    --use-tp-pp-dp-mapping\n");
  const plan::PlannedJob planned = read(script);
  EXPECT_EQ(plan::rank_order_text(planned.plan.rank_order), "tp-cp-ep-pp-dp");
  const std::string written = export_plan("megatron", planned, "").text;
  EXPECT_EQ(read(written).plan.rank_order, planned.plan.rank_order);
}

std::string layout_script(const std::string& layout) {
  std::string script = kScript;
  const std::string mark = "    --sequence-parallel\n";
  return script.replace(script.find(mark), mark.size(),
                        mark + "    --pipeline-model-parallel-layout \"" + layout + "\"\n");
}

TEST(Megatron, ReadsAndWritesMultiTokenLayers) {
  const std::string script =
      with(layout_script("Et*22|t*21|t*21|t*16mL"), "--eval-interval 100",
           "--eval-interval 100 --mtp-num-layers 1 --mtp-loss-scaling-factor 0.3");
  const plan::PlannedJob planned = read(script);
  EXPECT_EQ(planned.job.model.extra_predicted_tokens(), 1);
  EXPECT_EQ(planned.job.model.multi_token_weight, 0.3);
  EXPECT_THAT(planned.plan.layers, testing::ElementsAre(22, 21, 21, 16));
  const std::string written = export_plan("megatron", planned, "").text;
  EXPECT_THAT(written, testing::HasSubstr("--mtp-num-layers 1"));
  EXPECT_THAT(written, testing::HasSubstr("--mtp-loss-scaling-factor 0.3"));
  EXPECT_THAT(written, testing::HasSubstr("t*16mL"));
  EXPECT_EQ(read(written).job.model, planned.job.model);
  PlanDraft draft;
  draft.framework.name = "megatron-core";
  const launch_scripts::SourceFile file{"train.sh", layout_script("Et*22|t*29|t*29m|L")};
  ImportReport report;
  read_megatron({&file, 1}, UserFacts{.cluster = "dgx-h100"}, std::move(draft), report);
  EXPECT_THAT(report.not_read,
              testing::Contains(testing::Field(&SettingNotInPlan::why,
                                               testing::HasSubstr("before that of the loss"))));
  EXPECT_EQ(read(layout_script("Et*22|t*21|t*21|t*16L")).job.model.extra_predicted_tokens(), 0);
}

/// Returns the script with arguments about the weight gradients of the head.
std::string deferring_script(const std::string& more) {
  return with(kScript, "--some-own-flag", "--defer-embedding-wgrad-compute" + more);
}

TEST(Megatron, ReadsAndWritesADeferredHead) {
  for (const char* limit : {"", " --wgrad-deferral-limit 0", " --wgrad-deferral-limit 512"}) {
    const plan::PlannedJob planned = read(deferring_script(limit));
    EXPECT_TRUE(planned.plan.overlap.defer_embedding_gradient);
    const std::string written = export_plan("megatron", planned, "").text;
    EXPECT_THAT(written, testing::HasSubstr("--defer-embedding-wgrad-compute"));
    EXPECT_THAT(written, testing::HasSubstr("--wgrad-deferral-limit 0"));
    EXPECT_EQ(read(written).plan, planned.plan);
  }
  EXPECT_FALSE(read(kScript).plan.overlap.defer_embedding_gradient);
}

TEST(Megatron, AHeadThatDefersSomeMicroBatchesIsTakenForOneThatDefersNone) {
  PlanDraft draft;
  draft.framework.name = "megatron-core";
  const launch_scripts::SourceFile file{"train.sh", deferring_script(" --wgrad-deferral-limit 50")};
  ImportReport report;
  draft = read_megatron({&file, 1}, UserFacts{.cluster = "dgx-h100"}, std::move(draft), report);
  EXPECT_FALSE(draft.plan.overlap.defer_embedding_gradient);
  EXPECT_THAT(report.not_read,
              testing::Contains(testing::Field(
                  &SettingNotInPlan::why, testing::HasSubstr("the first 50 micro-batches wait"))));
}

TEST(Megatron, DefersAHeadWhereMegatronDoes) {
  EXPECT_THAT(refusal(with(deferring_script(""), "pipeline-model-parallel-size 4",
                           "pipeline-model-parallel-size 1")),
              testing::HasSubstr("needs pipeline_model_parallel_size above 1"));
  EXPECT_THAT(refusal(deferring_script(" --no-gradient-accumulation-fusion")),
              testing::HasSubstr("needs gradient_accumulation_fusion"));
  EXPECT_THAT(refusal(deferring_script(" --wgrad-deferral-limit -1")),
              testing::HasSubstr("wgrad_deferral_limit: "));
}

TEST(Megatron, AContainerThatDefersAHeadSaysItsLimit) {
  const plan::PlannedJob planned = read(deferring_script(""));
  const std::string written = export_plan("nemo", planned, "").text;
  EXPECT_THAT(written, testing::HasSubstr("comm_overlap=CommOverlapConfig(\n"
                                          "            defer_embedding_wgrad_compute=True,\n"
                                          "            wgrad_deferral_limit=0,\n"
                                          "            tp_comm_overlap=False,\n"));
  const auto again = [&](const std::string& text) {
    UserFacts given;
    given.cluster = "dgx-h100:4";
    const launch_scripts::SourceFile file{"plan.py", text};
    return import_plan_files("nemo", {&file, 1}, given).planned.plan;
  };
  EXPECT_TRUE(again(written).overlap.defer_embedding_gradient);
  try {
    again(with(written, "            wgrad_deferral_limit=0,\n", ""));
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("needs wgrad_deferral_limit"));
  }
}

TEST(Megatron, StagesOfALayoutMayBeEmpty) {
  const plan::PlannedJob planned = read(layout_script("E|(t*20|)*4||L"));
  EXPECT_THAT(planned.plan.layers, testing::ElementsAre(0, 20, 20, 20, 20, 0, 0, 0));
  EXPECT_EQ(planned.plan.schedule.chunks, 2);
  const std::string written = export_plan("megatron", planned, "").text;
  EXPECT_THAT(written, testing::HasSubstr("E|t*20|t*20|t*20|t*20|||L"));
  EXPECT_EQ(read(written).plan.layers, planned.plan.layers);
  const auto refusal = [](const std::string& layout) -> std::string {
    try {
      read(layout_script(layout));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal("Et*40||t*20|t*20L"), testing::HasSubstr("leave no position"));
  EXPECT_THAT(refusal("t*20|Et*20|t*20|t*20L"), testing::HasSubstr("is no layout"));
}

}  // namespace
}  // namespace stepwright::framework_files
