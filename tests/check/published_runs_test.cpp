// Runs whose owners have published whether they fitted in memory, read from their launch files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stepwright/check/check.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::check {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

/// Returns the plan that files describe, on a cluster.
framework_files::ImportedPlan imported_plan(const std::string& cluster,
                                            const std::vector<launch_scripts::SourceFile>& files) {
  framework_files::UserFacts given;
  given.cluster = cluster;
  return framework_files::import_plan_files("", files, given, true);
}

plan::PlannedJob imported(const std::string& cluster,
                          const std::vector<launch_scripts::SourceFile>& files) {
  return imported_plan(cluster, files).planned;
}

/// Returns the GiB that PyTorch's allocator counts at the peak of the fullest stage.
double allocated_gib(const simulate::PlanPrediction& prediction) {
  const auto stages = memory::pytorch_allocated_memory(prediction.planned.job, prediction.program);
  double most = 0;
  for (const memory::PyTorchAllocatedMemory& stage : stages)
    most = std::max(most, stage.peak_bytes);
  return most / kGiB;
}

// mlc-ai/pith-train issue 79: torchtitan, Qwen3-30B-A3B on eight B200, sequences of 8,192, eight of
// them a rank, recomputation by operator, eight chunks of the loss: 141.8 GiB reserved.
TEST(PublishedRuns, TorchtitanRunsAMixtureAgainByOperator) {
  plan::PlannedJob planned =
      imported("dgx-b200", {{"train.toml",
                             "[model]\nname = \"qwen3\"\nflavor = \"30B-A3B\"\n"
                             "[training]\nlocal_batch_size = 8\nseq_len = 8192\n"
                             "dtype = \"float32\"\n"
                             "mixed_precision_param = \"bfloat16\"\n"
                             "[parallelism]\ndata_parallel_shard_degree = 8\n"
                             "[activation_checkpoint]\nmode = \"selective\"\n"
                             "selective_ac_option = \"op\"\n"
                             "[compile]\nenable = true\n"
                             "components = [\"model\", \"loss\"]\n"}});
  planned.job.kernels.loss_chunks = 8;
  planned.job.kernels.loss_keeps = plan::LossSavedTensors::kGradients;
  const simulate::PlanPrediction prediction = simulate::predict_plan(planned);
  EXPECT_TRUE(prediction.memory.fits());
  EXPECT_GT(prediction.memory.p_fits, 0.9);
  EXPECT_LT(allocated_gib(prediction), 141.8);
  EXPECT_NEAR(prediction.memory.peak_bytes / kGiB, 141.8, 0.04 * 141.8);
}

// alibaba/Pai-Megatron-Patch issue 643: Megatron-Core, Qwen3-30B-A3B on 16 H800, sequences of
// 8,192, a capacity factor of 1: it ran in 80 GB without recomputation. The issue does not tell how
// uneven its experts were; with 30 % of the rows above their capacity the prediction fits, too.
TEST(PublishedRuns, ACapacityFactorOfOneDropsWhatUnevenExpertsCannotTake) {
  plan::PlannedJob planned = imported(
      "h800-8gpu",
      {{"train.sh",
        "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --use-mcore-models "
        "--pipeline-model-parallel-size 2 --expert-model-parallel-size 8 --num-layers 48 "
        "--hidden-size 2048 --ffn-hidden-size 6144 --moe-ffn-hidden-size 768 "
        "--num-attention-heads 32 --kv-channels 128 --group-query-attention --num-query-groups 4 "
        "--qk-layernorm --normalization RMSNorm --swiglu --disable-bias-linear "
        "--position-embedding-type rope --untie-embeddings-and-output-weights --vocab-size 151936 "
        "--num-experts 128 --moe-router-topk 8 --moe-grouped-gemm "
        "--moe-token-dispatcher-type alltoall --moe-expert-capacity-factor 1.0 --seq-length 8192 "
        "--max-position-embeddings 40960 --micro-batch-size 1 --global-batch-size 128 --bf16 "
        "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather "
        "--use-flash-attn --attention-dropout 0 --hidden-dropout 0"}});
  EXPECT_EQ(planned.job.capacity_factor, 1);
  EXPECT_EQ(planned.job.kernels.expert_weights, plan::RouterWeightPlacement::kBefore);
  EXPECT_LT(allocated_gib(simulate::predict_plan(planned)), 79.1);
  for (int i = 0; i < 128; ++i) planned.job.expert_tokens.push_back(i % 2 == 0 ? 1.6 : 0.4);
  EXPECT_NEAR(plan::expert_capacity_row_share(planned.job), 0.7, 1e-9);
  EXPECT_LT(allocated_gib(simulate::predict_plan(planned)), 73);
}

// verl-project/verl issue 1208: GRPO of Qwen2.5-0.5B on four GH200, answers of 427 tokens in the
// mean without padding, 32 in a micro-batch: 61.6 GB reserved. Padded to 2,048 tokens they need
// three times as much.
TEST(PublishedRuns, VerlTakesTokensAsTheyAre) {
  framework_files::UserFacts given;
  given.cluster = "alps-gh200";
  given.batch = "{sequences: 1280, length: 2048, lengths: {lognormal: {median: 400, sigma: 0.4}}}";
  const auto policy = [&](const std::string& words) {
    const framework_files::ImportedPlan plan = framework_files::import_plan_files(
        "",
        std::vector<launch_scripts::SourceFile>{
            {"train.sh",
             "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo "
             "data.train_batch_size=1024 data.max_prompt_length=1024 "
             "data.max_response_length=1024 "
             "actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B-Instruct " +
                 words +
                 " actor_rollout_ref.model.enable_gradient_checkpointing=True "
                 "actor_rollout_ref.actor.ppo_mini_batch_size=256 "
                 "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=32 "
                 "actor_rollout_ref.rollout.n=5 trainer.nnodes=1 trainer.n_gpus_per_node=4\n"}},
        given, true);
    return simulate::predict_plan(plan.planned).memory.peak_bytes / kGiB;
  };
  const double unpadded = policy("actor_rollout_ref.model.use_remove_padding=True");
  EXPECT_LT(unpadded, 61.6e9 / kGiB);
  EXPECT_GT(policy("actor_rollout_ref.model.use_remove_padding=False"), 3 * unpadded);
}

/// Returns the bytes of model states on the host, including pinned buffers.
double states_bytes(const memory::MemoryReport& memory) {
  double bytes = 0;
  for (const memory::HostMemoryKind kind :
       {memory::HostMemoryKind::kStates, memory::HostMemoryKind::kGradients,
        memory::HostMemoryKind::kPinned}) {
    bytes += memory.host_kinds[static_cast<std::size_t>(kind)];
  }
  return bytes;
}

constexpr const char* kBothOnTheHost =
    R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
"gradient_accumulation_steps": "auto", "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 3,
"overlap_comm": true, "offload_optimizer": {"device": "cpu", "pin_memory": true},
"offload_param": {"device": "cpu", "pin_memory": true}}})";

// hiyouga/LLaMA-Factory issue 6755: Qwen2.5-32B on one H100 NVL of a host with 744 GiB, ZeRO-3 with
// both offloads: the kernel ended it for want of host memory.
TEST(PublishedRuns, OneRankLeavesParametersOnAHostThatIsTooSmall) {
  const plan::PlannedJob planned = imported(
      "{name: one-h100-nvl, device: h100-nvl-94g, devices_per_node: 1, nodes: 1, "
      "nics_per_node: 1, nic: 12.5e9, host: {memory: 744 GiB, memory_bandwidth: 300e9}, "
      "levels: []}",
      {{"train.yaml",
        "model_name_or_path: deepseek-ai/DeepSeek-R1-Distill-Qwen-32B\nstage: sft\n"
        "do_train: true\nfinetuning_type: full\ndeepspeed: zero.json\ndataset: data\n"
        "template: deepseek3\ncutoff_len: 1024\noutput_dir: out\n"
        "per_device_train_batch_size: 1\ngradient_accumulation_steps: 2\nbf16: true\n"},
       {"zero.json", kBothOnTheHost}});
  EXPECT_TRUE(planned.plan.offload.parameters);
  const memory::MemoryReport memory = simulate::predict_plan(planned).memory;
  EXPECT_TRUE(memory.fits_devices());
  EXPECT_FALSE(memory.fits_hosts());
  EXPECT_NEAR(memory.host_bytes, 18 * 32.8e9 * 1.5, 0.03 * 884e9)
      << "as DeepSpeed's estimate_zero3_model_states_mem_needs";
}

// hiyouga/LLaMA-Factory issue 5977: Llama-3-8B on eight RTX 3090, ZeRO-3 with both offloads, 13 GB
// a card; the memory of the hosts is not known.
TEST(PublishedRuns, HostsThatNobodyDescribesAreNoReasonNotToStart) {
  const framework_files::ImportedPlan plan = imported_plan(
      "rtx4090-8gpu-pcie",
      {{"train.yaml",
        "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\ndo_train: true\n"
        "finetuning_type: full\ndeepspeed: zero.json\ndataset: data\ntemplate: llama3\n"
        "cutoff_len: 1024\noutput_dir: out\nper_device_train_batch_size: 1\n"
        "gradient_accumulation_steps: 2\nbf16: true\n"},
       {"zero.json", kBothOnTheHost}});
  EXPECT_FALSE(plan.refused);
  const memory::MemoryReport memory = simulate::predict_plan(plan.planned).memory;
  EXPECT_TRUE(memory.fits());
  EXPECT_EQ(memory.host_capacity_bytes, 0);
  EXPECT_NEAR(states_bytes(memory), 18 * 8.03e9 * 1.5, 0.05 * 217e9);
  EXPECT_GT(memory.host_bytes, states_bytes(memory) + 8 * 1e9) << "eight processes";
}

// deepspeedai/DeepSpeed issue 3448: a Llama of 33B on eight A100 40GB with the same offloads took
// 750 to 800 GB of the host.
TEST(PublishedRuns, AHostHoldsWhatWasMeasured) {
  const framework_files::ImportedPlan plan = imported_plan(
      "dgx-a100-40g",
      {{"train.yaml",
        "model_name_or_path: huggyllama/llama-30b\nstage: sft\ndo_train: true\n"
        "finetuning_type: full\ndeepspeed: zero.json\ndataset: data\ntemplate: llama3\n"
        "cutoff_len: 2048\noutput_dir: out\nper_device_train_batch_size: 1\n"
        "gradient_accumulation_steps: 2\nbf16: true\n"},
       {"zero.json", kBothOnTheHost}});
  ASSERT_FALSE(plan.refused);
  const memory::MemoryReport memory = simulate::predict_plan(plan.planned).memory;
  EXPECT_GT(memory.host_bytes, 0.85 * 750e9);
  EXPECT_LT(memory.host_bytes, 1.15 * 800e9);
}

// The same without offload ran out of memory.
TEST(PublishedRuns, WhereNothingFitsCheckSaysThatOffloadWould) {
  const JobCheckResult check = check_job(imported_plan(
      "{name: eight-3090, device: rtx-3090, devices_per_node: 8, nodes: 1, nics_per_node: 1, "
      "nic: 1.25e9, levels: [{name: pcie, size: 8, bandwidth: 25e9}]}",
      {{"train.yaml",
        "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\ndo_train: true\n"
        "finetuning_type: full\ndeepspeed: zero.json\ndataset: data\ntemplate: llama3\n"
        "cutoff_len: 1024\noutput_dir: out\nper_device_train_batch_size: 1\n"
        "gradient_accumulation_steps: 2\nfp16: true\n"},
       {"zero.json", R"({"train_batch_size": "auto", "fp16": {"enabled": "auto"},
"zero_optimization": {"stage": 3, "overlap_comm": true}})"}}));
  EXPECT_TRUE(check.is_plan_legal());
  EXPECT_FALSE(check.fits());
  const auto host =
      std::ranges::find(check.remedies, plan::MemoryRemedyKind::kParametersOnHost,
                        [](const MemoryRemedyWithFlags& said) { return said.remedy.kind; });
  ASSERT_NE(host, check.remedies.end());
  EXPECT_LT(host->remedy.peak_memory_bytes, 24e9);
  EXPECT_GT(host->remedy.step_time_s, 0);
  EXPECT_THAT(host->words, ::testing::Contains(::testing::HasSubstr("offload")));
}

// huggingface/accelerate issue 3647: Qwen2.5-32B on four A100 of 80 GB, 20,480 tokens, states on
// the hosts. A copy of the logits in fp32 has 12.5 GB: the loss has three at its largest moment.
TEST(PublishedRuns, TheLossOfTransformersMakesThreeCopiesOfLogitsInFp32) {
  const plan::PlannedJob planned = imported(
      "dgx-a100-80g",
      {{"run.json",
        R"({"model_name_or_path": "Qwen/Qwen2.5-32B", "per_device_train_batch_size": 1,
"gradient_accumulation_steps": 1, "bf16": true, "max_length": 20480, "optim": "adamw_torch",
"output_dir": "out"})"},
       {"accelerate.yaml",
        "distributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 4\n"
        "fsdp_config:\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
        "  fsdp_sharding_strategy: FULL_SHARD\n  fsdp_activation_checkpointing: true\n"
        "  fsdp_offload_params: true\n"}});
  const simulate::PlanPrediction prediction = simulate::predict_plan(planned);
  const auto logits = static_cast<std::size_t>(memory::MemoryKind::kLogits);
  EXPECT_GE(prediction.memory.stages.front().kinds[logits], 3.0 * 20480 * 152064 * 4);
}

}  // namespace
}  // namespace stepwright::check
