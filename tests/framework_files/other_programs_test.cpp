#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

// The form of AMD-AGI/Primus examples/megatron/configs/MI300X/llama3.1_70B-BF16-pretrain.yaml.
constexpr const char* kPrimus = R"(work_group: ${PRIMUS_TEAM:amd}
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: ${PRIMUS_MODEL:llama3.1_70B}.yaml
    overrides:
      micro_batch_size: 1
      global_batch_size: 64
      seq_length: ${PRIMUS_SEQ_LENGTH:8192}
      tensor_model_parallel_size: ${PRIMUS_TP:8}
      norm_epsilon: 1.0e-6
      sequence_parallel: 1
      use_distributed_optimizer: true
      overlap_grad_reduce: true
      recompute_granularity: full
      recompute_method: uniform
      recompute_num_layers: 1
      lr: 1.0e-5
      use_turbo_attention: true
)";

TEST(Primus, ItsOwnSizesOfAModelAreNotThoseThatWereReleased) {
  const std::string text =
      "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n"
      "    model: gpt_oss_20B.yaml\n    overrides:\n      micro_batch_size: 1\n"
      "      global_batch_size: 64\n      seq_length: 4096\n      expert_model_parallel_size: 8\n";
  EXPECT_THAT([&] { import_text("", "exp.yaml", text); },
              testing::ThrowsMessage<Error>(HasSubstr(
                  "exp.yaml:5:1: modules.pre_trainer.model: has sizes of its own in Primus")));
  EXPECT_EQ(
      import_text("", "exp.yaml", text, {.model = "gpt-oss-20b"}).planned.plan.parallel.expert, 8);
}

TEST(Primus, ReadsWordsOfMegatron) {
  const ImportedPlan read = import_text("", "exp.yaml", kPrimus);
  EXPECT_EQ(read.target, "primus");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "llama-3.1-70b");
  EXPECT_EQ(job.framework.name, "megatron-core");
  EXPECT_EQ(plan.parallel.tensor, 8);
  EXPECT_EQ(plan.parallel.data, 2);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.micro_batch, 1);
  EXPECT_EQ(job.sequences, 64);
  EXPECT_EQ(job.length, 8192);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(plan.sharding, plan::sharding_named_by_word("NNG").value());
  EXPECT_THAT(read.report.read, takes("tensor_model_parallel_size", "parallel.tensor"));
  EXPECT_THAT(read.report.not_read, lists("use_turbo_attention", SettingImpact::kYes));
  EXPECT_THAT(read.report.not_read, lists("lr", SettingImpact::kNo));
}

TEST(Primus, AModelBesideTheExperimentMayBeNamedByAVariable) {
  const launch_scripts::SourceFile files[] = {
      {"exp.yaml", kPrimus},
      {"llama3.1_70B.yaml", "num_layers: 40\nhidden_size: 8192\nnum_attention_heads: 64\n"}};
  const ImportedPlan read =
      import_plan_files("primus", files, {.model = "llama-3.1-70b", .cluster = "dgx-h100:2"});
  EXPECT_EQ(read.planned.plan.parallel.tensor, 8);
}

TEST(Primus, AModelThatIsNotBuiltInIsAskedFor) {
  const std::string name =
      "modules:\n  pre_trainer:\n    framework: megatron\n"
      "    config: pre_trainer.yaml\n    model: ${MODEL:own_1B}.yaml\n";
  EXPECT_THAT([&] { import_text("primus", "exp.yaml", name); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("names own_1B.yaml")));
}

// The form of AMD-AGI/Primus examples/maxtext/configs/MI300X/llama3_70B-fp8-pretrain.yaml.
TEST(Primus, ReadsWordsOfMaxText) {
  const ImportedPlan read = import_text("", "exp.yaml", R"(modules:
  pre_trainer:
    framework: maxtext
    config: pre_trainer.yaml
    model: llama3_70B.yaml
    overrides:
      dcn_data_parallelism: -1
      dcn_fsdp_parallelism: 1
      ici_fsdp_parallelism: 8
      ici_data_parallelism: 1
      remat_policy: full
      max_target_length: 8192
      per_device_batch_size: 7
      quantization: fp8
)");
  EXPECT_EQ(read.target, "primus");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "llama-3-70b");
  EXPECT_EQ(job.framework.name, "maxtext");
  EXPECT_EQ(job.sequences, 7 * 16);
  EXPECT_EQ(job.length, 8192);
  EXPECT_EQ(job.precision, DType::kFp8);
  EXPECT_EQ(plan.sharding.group, 8);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
}

TEST(Primus, WhatItDoesNotTrainWithMegatronOrTorchtitanIsRefused) {
  const std::string text = kPrimus;
  for (const auto& [word, other] : {std::pair("framework: megatron", "framework: maxdiffusion"),
                                    std::pair("  pre_trainer:\n    framework: megatron",
                                              "  post_trainer:\n    framework: megatron_bridge")}) {
    std::string changed = text;
    changed.replace(changed.find(word), std::string(word).size(), other);
    try {
      import_text("", "exp.yaml", changed);
      ADD_FAILURE() << other;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
    }
  }
}

// The form of AMD-AGI/Primus examples/megatron/configs/MI355X/llama2_70B-BF16-lora-128k.yaml.
TEST(Primus, ReadsFineTuningWithAdapters) {
  std::string text = R"(modules:
  post_trainer:
    framework: megatron
    config: sft_trainer.yaml
    model: llama2_70B.yaml
    overrides:
      stage: sft
      enable_packed_sequences: true
      global_batch_size: ${PRIMUS_GBS:16}
      tensor_model_parallel_size: ${PRIMUS_TP:2}
      context_parallel_size: 4
      cp_comm_type: all_gather
      lora: {enabled: true, dim: 16, alpha: 32, target_modules: [linear_qkv, linear_proj]}
)";
  const ImportedPlan before = import_text("", "exp.yaml", text);
  text.replace(text.find("post_trainer"), 4, "pre");
  const ImportedPlan read = import_text("", "exp.yaml", text);
  EXPECT_EQ(read.planned.plan, before.planned.plan);
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(plan.parallel, (plan::ParallelismDegrees{.tensor = 2, .context = 4, .data = 2}));
  EXPECT_EQ(plan.context_kind, plan::ContextKind::kAllGather);
  EXPECT_EQ(plan.micro_batch, 1);
  EXPECT_EQ(job.length, 2048);
  ASSERT_TRUE(job.model.adapters.has_value());
  EXPECT_EQ(job.model.adapters->rank, 16);
  EXPECT_FALSE(job.model.adapters->has(model::LoraTargetProduct::kFc2));
  EXPECT_THAT(read.report.not_read, lists("enable_packed_sequences", SettingImpact::kYes));
}

TEST(Primus, OverridesOfSizesCount) {
  const std::string text = std::string(kPrimus) + "      num_layers: 40\n      hidden_size: 4096\n";
  const model::ModelArchitecture smaller = import_text("", "exp.yaml", text).planned.job.model;
  EXPECT_EQ(smaller.layers, 40);
  EXPECT_EQ(smaller.hidden, 4096);
  EXPECT_EQ(smaller.head_dim, 128);
  EXPECT_EQ(smaller.kv_heads, 8);
  const std::string wider = std::string(kPrimus) + "      ffn_hidden_size: 16384\n";
  EXPECT_EQ(import_text("", "exp.yaml", wider).planned.job.model.ffn, 16384);
}

TEST(Primus, ReadsWordsOfTorchtitan) {
  const ImportedPlan read = import_text("", "exp.yaml", R"(modules:
  pre_trainer:
    framework: torchtitan
    model: llama3.1_8B-fp8.yaml
    overrides:
      training: {local_batch_size: 3, seq_len: 8192}
      activation_checkpoint: {mode: full}
)");
  EXPECT_EQ(read.planned.job.framework.name, "torchtitan");
  EXPECT_EQ(read.planned.job.precision, DType::kFp8);
  EXPECT_EQ(read.planned.plan.micro_batch, 3);
  EXPECT_EQ(read.planned.job.sequences, 48);
}

TEST(Primus, OverridesMayBeCalledLikeArguments) {
  const std::string text = std::string(kPrimus) +
                           "      untie_embeddings_and_output_weights: true\n"
                           "      attention_softmax_in_fp32: false\n"
                           "      recompute_activations: false\n      log_throughput: true\n";
  const ImportedPlan read = import_text("", "exp.yaml", text);
  EXPECT_EQ(read.planned.job.model_name, "llama-3.1-70b");
  EXPECT_THAT(read.report.read, takes("share_embeddings_and_output_weights", "job.model"));
  EXPECT_THAT(read.report.not_read, lists("log_throughput", SettingImpact::kNo));
}

TEST(Primus, ModelsOfMaxTextHaveOtherNames) {
  const std::string text =
      "modules:\n  pre_trainer:\n    framework: maxtext\n    model: mixtral_8x7B.yaml\n"
      "    overrides: {ici_expert_parallelism: 8, dcn_data_parallelism: -1, "
      "max_target_length: 4096, per_device_batch_size: 12}\n";
  EXPECT_EQ(import_text("", "exp.yaml", text).planned.job.model_name, "mixtral-8x7b");
}

TEST(Primus, AsksForAModelThatItDoesNotKnow) {
  std::string text = kPrimus;
  text.replace(text.find("llama3.1_70B"), 12, "grok1");
  EXPECT_THROW(import_text("", "exp.yaml", text), Error);
}

TEST(Primus, TurboDeepEpIsTheDispatcher) {
  const auto dispatcher = [](const std::string& model, const std::string& lines) {
    return import_text("", "exp.yaml",
                       "modules:\n  pre_trainer:\n    framework: megatron\n    model: " + model +
                           ".yaml\n    overrides:\n      micro_batch_size: 1\n"
                           "      global_batch_size: 32\n      seq_length: 2048\n"
                           "      expert_model_parallel_size: 8\n" +
                           lines)
        .planned.job.dispatcher;
  };
  EXPECT_EQ(dispatcher("qwen3_30B_A3B", ""), plan::TokenDispatcher::kAllGather);
  // primus/configs/modules/megatron/pre_trainer.yaml: use_distributed_optimizer.
  std::string silent = kPrimus;
  silent.erase(silent.find("      use_distributed_optimizer: true\n"), 38);
  EXPECT_EQ(plan::sharding_letters(import_text("", "exp.yaml", silent).planned.plan.sharding),
            "NNG");
  EXPECT_EQ(dispatcher("deepseek_v2_lite", ""), plan::TokenDispatcher::kAllToAll);
  const std::string turbo = "      use_turbo_deepep: true\n";
  EXPECT_EQ(dispatcher("qwen3_30B_A3B", turbo), plan::TokenDispatcher::kAllGather);
  EXPECT_EQ(dispatcher("qwen3_30B_A3B", turbo + "      enable_primus_turbo: true\n"),
            plan::TokenDispatcher::kOncePerNode);
}

// The form of volcengine/verl examples/grpo_trainer/run_qwen2-7b.sh.
constexpr const char* kVerlScript = R"(set -x
max_response=1536
python3 -m verl.trainer.main_ppo \
    data.max_prompt_length=512 \
    data.max_response_length=${max_response} \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \
    actor_rollout_ref.actor.fsdp_config.fsdp_size=8 \
    actor_rollout_ref.actor.fsdp_config.param_offload=True \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=5 \
    trainer.n_gpus_per_node=8 \
    trainer.nnodes=2 $@
)";

TEST(Verl, ReadsTheActorUnderFsdp) {
  const ImportedPlan read = import_text("", "run.sh", kVerlScript, {.cluster = "dgx-h100"});
  EXPECT_EQ(read.target, "verl");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.framework.name, "fsdp");
  EXPECT_EQ(job.model_name, "qwen2.5-7b");
  EXPECT_EQ(job.cluster.devices(), 16);
  EXPECT_EQ(job.sequences, 64 * 5);
  EXPECT_EQ(job.length, 2048);
  EXPECT_EQ(plan.micro_batch, 4);
  EXPECT_EQ(plan.sharding.group, 8);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT(read.report.not_read,
              lists("actor_rollout_ref.actor.fsdp_config.param_offload", SettingImpact::kYes));
  EXPECT_THAT(read.report.not_read, lists("actor_rollout_ref.rollout.name", SettingImpact::kYes));
  EXPECT_THAT(read.report.read, takes("data.max_response_length", "job.batch.length"));
}

TEST(Verl, ReadsTheActorUnderMegatron) {
  const ImportedPlan read = import_text("", "ppo.yaml", R"(data:
  max_prompt_length: 1024
  max_response_length: 3072
actor_rollout_ref:
  model: {path: ~/models/Qwen3-30B-A3B}
  rollout: {n: 8, name: vllm}
  actor:
    strategy: megatron
    ppo_mini_batch_size: 32
    use_dynamic_bsz: true
    ppo_max_token_len_per_gpu: 9000
    megatron:
      tensor_model_parallel_size: 2
      expert_model_parallel_size: 8
      expert_tensor_parallel_size: null
      override_transformer_config: {recompute_granularity: full, recompute_method: uniform}
trainer: {nnodes: 2, n_gpus_per_node: 8}
)");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.framework.name, "megatron-core");
  EXPECT_EQ(job.model_name, "qwen3-30b-a3b");
  EXPECT_EQ(plan.parallel.tensor, 2);
  EXPECT_EQ(plan.parallel.expert, 8);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.sharding, plan::sharding_named_by_word("NNG").value());
  EXPECT_EQ(plan.micro_batch, 2);
  EXPECT_EQ(job.sequences, 256);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT(read.report.not_read,
              lists("actor_rollout_ref.actor.use_dynamic_bsz", SettingImpact::kYes));
}

TEST(Verl, ALauncherMayHaveOptionsThatAreOpen) {
  std::string script = kVerlScript;
  const std::string_view python = "python3 -m";
  script.replace(script.find(python), python.size(), "torchrun --nnodes $NODES --rdzv-id $ID -m");
  EXPECT_EQ(import_text("", "run.sh", script, {.cluster = "dgx-h100"}).planned.plan.micro_batch, 4);
}

// volcengine/verl verl/experimental/fully_async_policy: its batch of prompts is 0.
TEST(Verl, TheFullyAsynchronousTrainerCountsUpdates) {
  std::string script = kVerlScript;
  script.replace(script.find("main_ppo"), 8, "main_ppo data.train_batch_size=0");
  EXPECT_THAT([&] { import_text("", "run.sh", script, {.cluster = "dgx-h100"}); },
              testing::ThrowsMessage<Error>(HasSubstr("data.train_batch_size")));
  script.replace(script.find("=0"), 2, "=0 async_training.require_batches=2");
  const ImportedPlan read = import_text("", "run.sh", script, {.cluster = "dgx-h100"});
  EXPECT_EQ(read.planned.job.method.updates, 2);
  EXPECT_THAT(read.report.read, takes("async_training.require_batches", "job.objective.updates"));
}

TEST(Verl, ConditionsThatDecideANameChangeNoFigure) {
  const auto decided = [](const std::string& setting) {
    std::string script = kVerlScript;
    script.insert(script.find("python3"), "M=$(date +%s)\nX=2\nif [[ $M != *7* ]]; then X=4; fi\n");
    script.replace(script.find("$@"), 2, setting + "=$X");
    const ImportedPlan read = import_text("", "run.sh", script, {.cluster = "dgx-h100"});
    const auto found = std::ranges::find_if(read.report.not_read, [](const SettingNotInPlan& one) {
      return one.name.find("*7*") != std::string::npos;
    });
    return found == read.report.not_read.end() ? SettingNotInPlan() : *found;
  };
  const SettingNotInPlan name = decided("trainer.experiment_name");
  EXPECT_EQ(name.matters, SettingImpact::kNo);
  EXPECT_THAT(name.why, HasSubstr("trainer.experiment_name"));
  EXPECT_EQ(decided("actor_rollout_ref.rollout.n").matters, SettingImpact::kMaybe);
}

TEST(Verl, RefusesWhatStartsNothing) {
  EXPECT_THROW(import_text("verl", "run.sh", "echo verl.trainer=1\n"), Error);
  std::string second = kVerlScript;
  second.replace(second.find("micro_batch_size_per_gpu=4"), 26, "micro_batch_size_per_gpu=2");
  const std::string twice = kVerlScript + second;
  EXPECT_THROW(import_text("verl", "run.sh", twice), Error);
  EXPECT_EQ(import_text("verl", "run.sh", twice, {.cluster = "dgx-h100", .command = 2})
                .planned.plan.micro_batch,
            2);
}

TEST(Verl, HydraChoosesTheEngine) {
  const auto engine = [](const std::string& word,
                         std::vector<launch_scripts::SourceFile> beside = {}) {
    std::string text = kVerlScript;
    text.replace(text.find("python3"), 0, "");
    text.replace(text.find("main_ppo"), 8, "main_ppo " + word);
    beside.insert(beside.begin(), {"run.sh", text});
    return import_plan_files("", beside, {.cluster = "dgx-h100"}).planned;
  };
  EXPECT_EQ(engine("").job.framework.name, "fsdp");
  EXPECT_EQ(engine("model_engine=megatron").job.framework.name, "megatron-core");
  const plan::PlannedJob named =
      engine("--config-path=config --config-name='ppo_megatron_trainer.yaml'");
  EXPECT_EQ(named.job.framework.name, "megatron-core");
  EXPECT_EQ(plan::sharding_letters(named.plan.sharding), "NNG");
  EXPECT_EQ(named.plan.recompute.kind, plan::RecomputeKind::kNone);
  EXPECT_EQ(engine("--config-name=fully_async_ppo_megatron_trainer").job.framework.name,
            "megatron-core");
  const auto refused = [&](const std::string& word) -> std::string {
    try {
      engine(word);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refused("--config-name our_trainer"),
              HasSubstr("names a configuration: give it, too"));
  EXPECT_THAT(refused("--batch_size 32"),
              HasSubstr("has the option --batch_size, which Hydra does not have"));
  EXPECT_THAT(refused("model_engine=veomni"), HasSubstr("strategy veomni is not read"));
  // A configuration of one's own over verl's, under the words of the command.
  const launch_scripts::SourceFile own{
      "config/our_trainer.yaml",
      "defaults:\n  - ppo_trainer\n  - override model_engine: megatron\n"
      "  - _self_\ntrainer: {nnodes: 4}\nactor_rollout_ref:\n  actor:\n"
      "    megatron: {tensor_model_parallel_size: 2}\n"};
  const plan::PlannedJob over = engine("--config-name our_trainer", {own});
  EXPECT_EQ(over.job.framework.name, "megatron-core");
  EXPECT_EQ(over.plan.parallel.tensor, 2);
  EXPECT_EQ(over.job.cluster.nodes, 2);
}

TEST(Verl, ProgramsOnItsTrainersAreReadAlike) {
  std::string text = kVerlScript;
  text.replace(text.find("verl.trainer.main_ppo"), 21, "recipe.dapo.main_dapo");
  EXPECT_EQ(import_text("", "run.sh", text, {.cluster = "dgx-h100"}).planned.plan.micro_batch, 4);
}

// The form of NVIDIA-NeMo/RL examples/configs/grpo_math_8B_megatron.yaml, over its parent.
constexpr const char* kNemoRlParent = R"(policy:
  model_name: "Qwen/Qwen2.5-7B"
  train_global_batch_size: 512
  train_micro_batch_size: 4
  max_total_sequence_length: 512
  precision: "bfloat16"
  dtensor_cfg: {enabled: true, tensor_parallel_size: 2, cpu_offload: false,
                activation_checkpointing: true}
  sequence_packing: {enabled: true}
cluster: {gpus_per_node: 8, num_nodes: 2}
)";
constexpr const char* kNemoRlChild = R"(defaults: "parent.yaml"
policy:
  model_name: "meta-llama/Llama-3.1-8B-Instruct"
  train_micro_batch_size: 1
  max_total_sequence_length: 4096
  dtensor_cfg: {enabled: false}
  megatron_cfg:
    enabled: true
    activation_checkpointing: true
    pipeline_model_parallel_size: 2
    pipeline_dtype: ${policy.precision}
    optimizer: {optimizer: adam, lr: 3.0e-7, use_distributed_optimizer: true}
    distributed_data_parallel_config: {grad_reduce_in_fp32: false, overlap_grad_reduce: true}
)";

TEST(NemoRl, ReadsThePolicyUnderDtensor) {
  const ImportedPlan read = import_text("", "grpo.yaml", kNemoRlParent);
  EXPECT_EQ(read.target, "nemo-rl");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.framework.name, "fsdp");
  EXPECT_EQ(plan.parallel.tensor, 2);
  EXPECT_EQ(plan.sharding, plan::sharding_named_by_word("GGG").value());
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(job.sequences, 512);
  EXPECT_THAT(read.report.not_read, lists("policy.sequence_packing.enabled", SettingImpact::kYes));
}

TEST(NemoRl, PairsOfPreferencesAreSaid) {
  const ImportedPlan read =
      import_text("", "dpo.yaml", std::string(kNemoRlParent) + "dpo: {max_num_steps: 150}\n");
  EXPECT_THAT(read.report.not_read, lists("dpo", SettingImpact::kYes));
  const ImportedPlan alone = import_text("", "rl.yaml", kNemoRlParent);
  EXPECT_EQ(read.planned.job.sequences, 2 * alone.planned.job.sequences);
  EXPECT_EQ(read.planned.plan.micro_batch, 2 * alone.planned.plan.micro_batch);
}

TEST(NemoRl, LaysAFileOverItsParent) {
  const launch_scripts::SourceFile files[] = {{"conf/child.yaml", kNemoRlChild},
                                              {"parent.yaml", kNemoRlParent}};
  const ImportedPlan read = import_plan_files("", files, {.cluster = "dgx-h100"});
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.framework.name, "megatron-core");
  EXPECT_EQ(job.model_name, "llama-3.1-8b");
  EXPECT_EQ(plan.parallel.pipeline, 2);
  EXPECT_EQ(plan.parallel.data, 8);
  EXPECT_EQ(plan.micro_batch, 1);
  EXPECT_EQ(job.sequences, 512);
  EXPECT_EQ(plan.accumulate, DType::kBf16);
  EXPECT_TRUE(job.kernels.document_loss);
  EXPECT_FALSE(job.kernels.fused_accumulation);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  const launch_scripts::SourceFile strangers[] = {{"a.yaml", kNemoRlParent},
                                                  {"b.yaml", kNemoRlParent}};
  EXPECT_THROW(import_plan_files("nemo-rl", strangers, {.cluster = "dgx-h100"}), Error);
}

TEST(NemoRl, SaysThatTheParentIsMissing) {
  const UserFacts given{.cluster = "dgx-h100:2", .nodes = 2, .batch = "512"};
  const launch_scripts::SourceFile child{"child.yaml", kNemoRlChild};
  EXPECT_THAT([&] { import_plan_files("", {&child, 1}, given); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "child.yaml:1:1: defaults: names the file that says tensor_model_parallel_size: "
                  "give it, too")));
  UserFacts said = given;
  said.settings = {"policy.megatron_cfg.tensor_model_parallel_size=2"};
  EXPECT_THAT(import_plan_files("", {&child, 1}, said).report.not_read,
              lists("defaults", SettingImpact::kYes));
}

TEST(Nanotron, ReadsParallelismAndTokens) {
  const ImportedPlan read = import_text("", "config.yaml", R"(model:
  dtype: bfloat16
  make_vocab_size_divisible_by: 128
  model_config:
    is_llama_config: true
    hidden_size: 2048
    intermediate_size: 5632
    num_attention_heads: 32
    num_hidden_layers: 16
    num_key_value_heads: 8
    vocab_size: 50000
    max_position_embeddings: 4096
    tie_word_embeddings: true
optimizer: {accumulate_grad_in_fp32: true, zero_stage: 1, optimizer_factory: {name: adamW}}
parallelism: {dp: 2, tp: 4, pp: 2, pp_engine: 1f1b, tp_mode: REDUCE_SCATTER, recompute_layer: true,
              tp_linear_async_communication: false}
tokens: {batch_accumulation_per_replica: 8, micro_batch_size: 2, sequence_length: 4096}
)");
  EXPECT_EQ(read.target, "nanotron");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(plan.parallel, (plan::ParallelismDegrees{.tensor = 4, .pipeline = 2, .data = 2}));
  EXPECT_EQ(job.sequences, 2 * 2 * 8);
  EXPECT_EQ(job.model.vocabulary, 50176);
  EXPECT_EQ(job.model.layers, 16);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.sharding, plan::sharding_named_by_word("NNG").value());
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(plan.accumulate, DType::kFp32);
  EXPECT_THAT(read.report.not_read,
              lists("parallelism.tp_linear_async_communication", SettingImpact::kYes));
}

// 24,000 tokens are 15.6 of these sequences, of which a rank has 160: 16, not 10.
TEST(Verl, AMicroBatchOfTokensIsTheNearestThatDividesTheUpdate) {
  const ImportedPlan read = import_text(
      "verl", "run.sh",
      "python3 -m verl.trainer.main_ppo data.max_prompt_length=512 data.max_response_length=1024 "
      "actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.rollout.n=5 "
      "actor_rollout_ref.actor.ppo_mini_batch_size=256 trainer.n_gpus_per_node=8 trainer.nnodes=1 "
      "actor_rollout_ref.actor.use_dynamic_bsz=True "
      "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=24000\n",
      {.cluster = "dgx-h100"});
  EXPECT_EQ(read.planned.plan.micro_batch, 16);
}

// verl/utils/seqlen_balancing.py: rearrange_micro_batches.
TEST(Verl, SaysThatSequencesAreLongerThanItsMicroBatches) {
  const auto read = [](const std::string& tokens) {
    return import_text(
        "verl", "run.sh",
        "python3 -m verl.trainer.main_ppo data.max_prompt_length=3072 "
        "data.max_response_length=1024 actor_rollout_ref.model.path=Qwen/Qwen3-8B "
        "actor_rollout_ref.actor.ppo_mini_batch_size=64 trainer.n_gpus_per_node=8 trainer.nnodes=1 "
        "actor_rollout_ref.actor.use_dynamic_bsz=True "
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 "
        "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=" +
            tokens + "\n",
        {.cluster = "dgx-h100"});
  };
  constexpr const char* kTokens = "actor_rollout_ref.actor.ppo_max_token_len_per_gpu";
  EXPECT_THAT(read("2000").report.not_read, lists(kTokens, SettingImpact::kYes));
  EXPECT_EQ(read("2000").planned.plan.micro_batch, 1);
  EXPECT_THAT(read("2048").report.not_read, testing::Not(lists(kTokens, SettingImpact::kYes)));
}

// huggingface/nanotron src/nanotron/parallel/context.py: ParallelContext.
TEST(Nanotron, RunsOnTheNodesOfItsLauncher) {
  const launch_scripts::SourceFile settings{
      "tiny.yaml",
      "model: {dtype: bfloat16, model_config: {is_llama_config: true, hidden_size: 768,\n"
      "  intermediate_size: 1536, num_attention_heads: 12, num_hidden_layers: 12,\n"
      "  num_key_value_heads: 12, vocab_size: 50257, max_position_embeddings: 512}}\n"
      "parallelism: {dp: 2, tp: 4, pp: 1, tp_linear_async_communication: true}\n"
      "tokens: {batch_accumulation_per_replica: 1, micro_batch_size: 64, sequence_length: 512}\n"};
  const auto read = [&](const std::string& devices, UserFacts given = {.cluster = "dgx-h100"}) {
    const launch_scripts::SourceFile script{
        "run.sh",
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n"
        "#SBATCH --gpus-per-task=" +
            devices +
            "\nsrun bash -c \"torchrun --nnodes=\\${SLURM_NNODES} "
            "--nproc-per-node=\\${SLURM_GPUS_PER_TASK} run_train.py "
            "--config-file examples/tiny.yaml\"\n"};
    return import_plan_files("", std::vector{script, settings}, given).planned.job.cluster;
  };
  EXPECT_EQ(read("4").nodes, 2);
  EXPECT_EQ(read("4").devices_per_node, 4);
  EXPECT_EQ(read("8", {.cluster = "dgx-h100", .nodes = 1}).devices(), 8);
  try {
    read("8");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("its degrees are those of 8 ranks, its script starts 16"));
  }
}

// The form of EleutherAI/gpt-neox configs/20B.yml.
TEST(GptNeox, ReadsDashesAndCommentsAndDeepSpeed) {
  const ImportedPlan read = import_text("", "20B.yml", R"({
  # parallelism settings
  "pipe-parallel-size": 4,
  "model-parallel-size": 2,
  "num-layers": 44, "hidden-size": 6144, "num-attention-heads": 64,
  "seq-length": 2048, "max-position-embeddings": 2048,
  "norm": "layernorm", "pos-emb": "rotary", "rotary_pct": 0.25,
  "no-weight-tying": true, "gpt_j_residual": true,
  "optimizer": {"type": "Adam", "params": {"lr": 0.97e-4,},},
  "zero_optimization": {"stage": 1, "allgather_partitions": True,},
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 32,
  "checkpoint-activations": true,
  "partition-activations": true,
  "fp16": {"enabled": true, "loss_scale": 0,},
  "tokenizer_type": "HFTokenizer",
}
)");
  EXPECT_EQ(read.target, "gpt-neox");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "gpt-neox-20b");
  EXPECT_EQ(plan.parallel, (plan::ParallelismDegrees{.tensor = 2, .pipeline = 4, .data = 2}));
  EXPECT_EQ(plan.micro_batch, 4);
  EXPECT_EQ(job.sequences, 4 * 2 * 32);
  EXPECT_EQ(job.precision, DType::kFp16);
  EXPECT_EQ(plan.sharding, plan::sharding_named_by_word("NNG").value());
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT(read.report.not_read, lists("partition_activations", SettingImpact::kYes));
}

TEST(Nanotron, SaysWhichSizesItDoesNotRead) {
  const std::string text =
      "model: {model_config: {is_llama4_config: true, moe_config: {num_experts: 8}}}\n"
      "parallelism: {dp: 16}\n"
      "tokens: {batch_accumulation_per_replica: 1, micro_batch_size: 1, sequence_length: 4096}\n";
  EXPECT_THAT([&] { import_text("", "config.yaml", text); },
              testing::ThrowsMessage<Error>(HasSubstr("in a form that is read (is_llama_config")));
}

TEST(GptNeox, AFileWithoutABatchAsksForIt) {
  const std::string text =
      "pipe_parallel_size: 1\nnum_layers: 12\nhidden_size: 768\nnum_attention_heads: 12\n"
      "seq_length: 2048\npos_emb: rotary\n";
  EXPECT_THAT([&] { import_text("", "neox.yml", text); },
              testing::ThrowsMessage<Error>(HasSubstr("--batch is required")));
  UserFacts given;
  given.batch = "64";
  EXPECT_EQ(import_text("", "neox.yml", text, given).planned.job.sequences, 64);
}

TEST(GptNeox, ExpertsAreNoDenseModelAndKernelsAreAskedFor) {
  const std::string text =
      "pipe_parallel_size: 1\nnum_layers: 12\nhidden_size: 768\nnum_attention_heads: 12\n"
      "seq_length: 2048\nnorm: rmsnorm\npos_emb: rotary\ntrain_micro_batch_size_per_gpu: 4\n";
  const auto kernels = [&](const std::string& more) {
    return import_text("", "neox.yml", text + more).planned.job.kernels;
  };
  EXPECT_FALSE(kernels("").fused_softmax);
  EXPECT_FALSE(kernels("").fused_activation);
  EXPECT_FALSE(kernels("").fused_norm);
  EXPECT_TRUE(kernels("scaled_upper_triang_masked_softmax_fusion: true\n").fused_softmax);
  EXPECT_TRUE(kernels("bias_gelu_fusion: true\n").fused_activation);
  EXPECT_TRUE(kernels("rmsnorm_fusion: true\n").fused_norm);
  EXPECT_EQ(kernels("attention_config: [[[flash], all]]\n").attention,
            cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(kernels("attention_config: [[[global], 12]]\n").attention,
            cluster::AttentionKernel::kUnfused);
  EXPECT_THROW(kernels("attention_config: [flash]\n"), Error);
  EXPECT_NO_THROW(kernels("num_experts: 1\n"));
  EXPECT_THROW(kernels("num_experts: 4\n"), Error);
}

TEST(Verl, FineTuningIsRefused) {
  EXPECT_THROW(
      import_text("", "run.sh",
                  "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer "
                  "data.train_batch_size=128 data.micro_batch_size_per_gpu=16 "
                  "data.max_length=4096 model.partial_pretrain=Qwen/Qwen3-8B\n"),
      Error);
}

TEST(OtherPrograms, EndOnReferencesThatGoInCircles) {
  const std::string circle = R"(policy:
  a: ${policy.b}
  b: ${policy.a}${policy.a}
  train_global_batch_size: ${policy.a}
  dtensor_cfg: {enabled: true}
)";
  EXPECT_THROW(import_text("nemo-rl", "circle.yaml", circle), Error);
}

// The form of EleutherAI/gpt-neox configs/llama2/13B.yml.
TEST(GptNeox, TheWidthOfAGateIsAThirdOfWhatIsSaid) {
  const auto model = [](const std::string& more) {
    return import_text("", "neox.yml",
                       "model_parallel_size: 2\npipe_parallel_size: 1\nnum_layers: 40\n"
                       "hidden_size: 5120\nnum_attention_heads: 40\nseq_length: 4096\n"
                       "pos_emb: rotary\nnorm: rmsnorm\nvocab_size: 32000\n"
                       "train_micro_batch_size_per_gpu: 1\n" +
                           more)
        .planned.job.model;
  };
  EXPECT_EQ(model("activation: swiglu\nintermediate_size: 41472\nmlp_multiple_of: 256\n").ffn,
            13824);
  EXPECT_EQ(model("activation: gelu\nintermediate_size: 13824\n").ffn, 13824);
  const model::ModelArchitecture llama = model("activation: silu\nmlp_type: llama\n");
  EXPECT_TRUE(llama.gated);
  EXPECT_EQ(llama.ffn, 13824);
}

TEST(GptNeox, ABatchInThreePartsSaysHowManyRanksShareIt) {
  const std::string text =
      "model_parallel_size: 4\npipe_parallel_size: 0\nnum_layers: 12\nhidden_size: 1024\n"
      "num_attention_heads: 16\nseq_length: 2048\npos_emb: rotary\ntrain_batch_size: 96\n"
      "train_micro_batch_size_per_gpu: 3\ngradient_accumulation_steps: 2\n";
  UserFacts given;
  given.cluster = "dgx-h100";
  const plan::PlannedJob made = import_text("", "neox.yml", text, given).planned;
  EXPECT_EQ(made.job.cluster.devices(), 64);
  EXPECT_EQ(made.plan.parallel, (plan::ParallelismDegrees{.tensor = 4, .data = 16}));
  EXPECT_THAT([&] { import_text("", "neox.yml", text + "tokenizer_type: SPMTokenizer\n", given); },
              testing::ThrowsMessage<Error>(
                  HasSubstr("does not state the vocabulary (--set vocab_size=N)")));
}

TEST(OtherPrograms, ConfigurationsOfProgramsThatAreNotReadAreNamed) {
  EXPECT_THAT(
      [] {
        import_text("", "lora.yaml",
                    "model:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM\nbatch: 4\n");
      },
      testing::ThrowsMessage<Error>(HasSubstr("a configuration of NeMo AutoModel")));
}

}  // namespace
}  // namespace stepwright::framework_files
