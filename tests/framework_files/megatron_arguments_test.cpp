#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/megatron/arguments.h"
#include "stepwright/framework_files/megatron/flags.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::framework_files {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

bool says(const KnownSetting& setting, std::string_view field) {
  if (!setting.name.ends_with('*')) return setting.name == field;
  return field.starts_with(setting.name.substr(0, setting.name.size() - 1));
}

TEST(MegatronArguments, AreThereOnceEach) {
  std::set<std::string_view> seen;
  for (const std::string_view name : megatron_arguments_with_prefix("")) {
    EXPECT_TRUE(name.starts_with("--") && name.size() > 2) << name;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
  EXPECT_GT(seen.size(), 850U);
}

TEST(MegatronArguments, SetFieldsWhoseMeaningIsKnown) {
  for (const MegatronArgument& argument : megatron_arguments()) {
    EXPECT_EQ(argument.arity == ArgumentValueCount::kNone, !argument.value.empty())
        << argument.flag;
    EXPECT_NE(find_known_setting(known_program_settings("megatron/settings"), argument.field),
              nullptr)
        << argument.flag << " sets " << argument.field;
  }
}

TEST(MegatronArguments, EachSettingHasOneMeaningAndAnArgument) {
  for (const KnownSetting& setting : known_program_settings("megatron/settings")) {
    EXPECT_NE(setting.matters, SettingImpact::kMaybe) << setting.name;
    EXPECT_TRUE(setting.field.empty() || setting.matters == SettingImpact::kNo) << setting.name;
    EXPECT_TRUE(std::ranges::any_of(megatron_arguments(), [&](const MegatronArgument& one) {
      return says(setting, one.field);
    })) << setting.name;
  }
}

/// Returns the arguments of a small model, and further ones.
std::string small_command(const std::string& more) {
  return "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
         "--num-attention-heads 16 --seq-length 2048 --micro-batch-size 2 --global-batch-size 64 "
         "--bf16 " +
         more + "\n";
}

ImportedPlan imported_script(const std::string& text, std::vector<std::string> settings = {}) {
  UserFacts given;
  given.cluster = "dgx-h100:1";
  given.settings = std::move(settings);
  const launch_scripts::SourceFile file{"train.sh", text};
  return import_plan_files("megatron", {&file, 1}, given);
}

std::string refusal_of(const std::string& text, std::vector<std::string> settings = {}) {
  try {
    imported_script(text, std::move(settings));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

auto unread(const std::string& name, SettingImpact matters) {
  return Contains(
      AllOf(Field(&SettingNotInPlan::name, name), Field(&SettingNotInPlan::matters, matters)));
}

TEST(MegatronImport, AVocabularyPaddedToABuiltInModelIsThatModel) {
  // The released weights of Qwen3-235B have 151936 tokens, its tokenizer 151669.
  const std::string model =
      "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 94 --hidden-size 4096 "
      "--ffn-hidden-size 12288 --num-attention-heads 64 --kv-channels 128 "
      "--group-query-attention --num-query-groups 4 --qk-layernorm --normalization RMSNorm "
      "--norm-epsilon 1e-6 --swiglu --position-embedding-type rope --rotary-base 1000000 "
      "--disable-bias-linear --untie-embeddings-and-output-weights --num-experts 128 "
      "--moe-ffn-hidden-size 1536 --moe-router-topk 8 --expert-model-parallel-size 8 "
      "--attention-dropout 0 --hidden-dropout 0 --max-position-embeddings 40960 "
      "--seq-length 4096 --micro-batch-size 1 --global-batch-size 64 --bf16 "
      "--tokenizer-type HuggingFaceTokenizer --tokenizer-model Qwen/Qwen3-235B-A22B ";
  EXPECT_EQ(imported_script(model + "--make-vocab-size-divisible-by 1187").planned.job.model_name,
            "qwen3-235b-a22b");
  EXPECT_EQ(imported_script(model).planned.job.model.vocabulary, 151669);
}

TEST(MegatronArguments, AreMatchedAsArgparseDoes) {
  const ImportedPlan plan = imported_script(
      small_command("--tensor-model-parallel-size 4 --tensor-model-parallel-size=2 "
                    "--pipeline-model-parallel-si 2 --iterations-to-skip -5 -7 "
                    "--sequence-parallel --rampup-batch-size 8 8 100 --no-rope-fusion"));
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.plan.parallel.pipeline, 2);
  EXPECT_TRUE(plan.planned.plan.sequence_parallel);
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&SettingNotInPlan::name, "--iterations-to-skip"),
                             Field(&SettingNotInPlan::value, "-5 -7"))));
  EXPECT_THAT(plan.report.not_read, unread("--no-rope-fusion", SettingImpact::kYes));
}

TEST(MegatronArguments, SayWhoseLayersRunAndWithWhichWorkspaces) {
  const plan::FrameworkKernels usual = imported_script(small_command("--bf16")).planned.job.kernels;
  EXPECT_TRUE(usual.transformer_engine);
  EXPECT_FALSE(usual.grouped_experts);
  EXPECT_FALSE(usual.deterministic);
  const ImportedPlan local = imported_script(
      "export CUBLAS_WORKSPACE_CONFIG=:4096:8\n" +
      small_command("--transformer-impl local --attention-backend flash --moe-grouped-gemm"));
  EXPECT_FALSE(local.planned.job.kernels.transformer_engine);
  EXPECT_EQ(local.planned.job.kernels.attention, cluster::AttentionKernel::kUnfused);
  EXPECT_TRUE(local.planned.job.kernels.grouped_experts);
  EXPECT_TRUE(local.planned.job.kernels.deterministic);
  EXPECT_THAT(imported_script(small_command("--deterministic-mode")).report.not_read,
              unread("--deterministic-mode", SettingImpact::kYes));
}

// Transformer Engine prefers cuDNN from Hopper on, but not for deterministic runs on Blackwell.
TEST(MegatronArguments, DeterministicRunsOnBlackwellHaveFlashAttention) {
  const auto attention = [](const std::string& profile, const std::string& words) {
    const launch_scripts::SourceFile file{"train.sh", small_command(words)};
    const UserFacts given{.cluster = profile};
    return import_plan_files("megatron", {&file, 1}, given).planned.job.kernels.attention;
  };
  using enum cluster::AttentionKernel;
  EXPECT_EQ(attention("dgx-b200", ""), kCudnn);
  EXPECT_EQ(attention("dgx-b200", "--deterministic-mode"), kFlash2);
  EXPECT_EQ(attention("dgx-h100", "--deterministic-mode"), kCudnn);
  EXPECT_EQ(attention("dgx-b200", "--deterministic-mode --attention-backend fused"), kCudnn);
}

TEST(MegatronArguments, SayTheKernelOfTheLoss) {
  const auto loss = [](const std::string& words) {
    return imported_script(small_command(words)).planned.job.kernels.cross_entropy;
  };
  EXPECT_EQ(loss(""), plan::CrossEntropyKernel::kUnfused);
  EXPECT_EQ(loss("--cross-entropy-fusion-impl te"), plan::CrossEntropyKernel::kUnfused);
  EXPECT_EQ(loss("--cross-entropy-loss-fusion"), plan::CrossEntropyKernel::kNative);
  EXPECT_EQ(loss("--cross-entropy-loss-fusion --cross-entropy-fusion-impl te"),
            plan::CrossEntropyKernel::kTe);
}

TEST(MegatronArguments, BoundTheRowsOfExperts) {
  const auto job = [](const std::string& words) {
    return imported_script(small_command("--num-experts 8 --moe-router-topk 2 " + words))
        .planned.job;
  };
  EXPECT_EQ(job("").capacity_factor, 0);
  EXPECT_EQ(job("--moe-expert-capacity-factor 1.5").capacity_factor, 1.5);
  EXPECT_FALSE(job("--moe-expert-capacity-factor 1.5").pad_to_capacity);
  EXPECT_TRUE(
      job("--moe-expert-capacity-factor 1.5 --moe-pad-expert-input-to-capacity").pad_to_capacity);
}

TEST(MegatronArguments, UnknownOnesAreListedWithTheNearest) {
  const ImportedPlan plan =
      imported_script(small_command("--tensor_model_parallel_size 2 --inference 3"));
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 1);
  EXPECT_THAT(
      plan.report.not_read,
      Contains(AllOf(Field(&SettingNotInPlan::name, "--tensor_model_parallel_size"),
                     Field(&SettingNotInPlan::matters, SettingImpact::kYes),
                     Field(&SettingNotInPlan::why, HasSubstr("--tensor-model-parallel-size")))));
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&SettingNotInPlan::name, "--inference"),
                             Field(&SettingNotInPlan::why, HasSubstr("could be --inference-")))));
}

TEST(MegatronArguments, NeedTheirValues) {
  EXPECT_THAT(refusal_of(small_command("--context-parallel-size --use-distributed-optimizer")),
              HasSubstr("--context-parallel-size needs a value"));
  EXPECT_THAT(refusal_of(small_command("--rampup-batch-size 8 8")),
              HasSubstr("needs three values"));
  EXPECT_THAT(refusal_of(small_command("--use-distributed-optimizer=1")),
              HasSubstr("takes no value"));
}

TEST(MegatronArguments, SettingsStandInThePlaceOfTheirs) {
  const std::vector<std::string> settings = {"vocab-size=50000", "--tensor_model_parallel_size=4",
                                             "fp16=true", "sequence-parallel=false"};
  const ImportedPlan plan = imported_script(
      small_command("--sequence-parallel --tensor-model-parallel-size 2"), settings);
  EXPECT_EQ(plan.planned.job.model.vocabulary, 50'000);
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 4);
  EXPECT_EQ(plan.planned.job.precision, DType::kFp16);
  EXPECT_FALSE(plan.planned.plan.sequence_parallel);
  EXPECT_THAT(refusal_of(small_command(""), {"bf16=maybe"}), HasSubstr("must be true or false"));
}

TEST(MegatronArguments, WhatLacksIsAskedForByName) {
  const std::string text =
      "torchrun train.py --num-layers 8 --hidden-size 1024 --seq-length 64 --micro-batch-size 1\n";
  EXPECT_THAT(refusal_of(text),
              AllOf(HasSubstr("the number of heads (--set num-attention-heads=N)"),
                    HasSubstr("the vocabulary (--set vocab-size=N)")));
  EXPECT_THAT(refusal_of(small_command("--hybrid-layer-pattern M-GM*-M-")),
              AllOf(HasSubstr("a hybrid of other layers"), HasSubstr("--model")));
}

TEST(MegatronArguments, TheVocabularyFollowsFromTheTokenizer) {
  const auto tokens = [](const std::string& more) {
    return imported_script(small_command(more)).planned.job.model.vocabulary;
  };
  EXPECT_EQ(tokens(""), 50'257);
  EXPECT_EQ(tokens("--tokenizer-type Llama2Tokenizer --tokenizer-model /data/tokenizer.model"),
            32'000);
  EXPECT_EQ(tokens("--tokenizer-type HuggingFaceTokenizer --tokenizer-model "
                   "meta-llama/Meta-Llama-3.1-8B"),
            128'256);
  EXPECT_EQ(tokens("--tokenizer-type NullTokenizer --vocab-size 31999"), 32'000);
  // Only releases that count the end of a document have the argument for its number.
  EXPECT_EQ(tokens("--tokenizer-type NullTokenizer --vocab-size 32000 "
                   "--null-tokenizer-eod-id 31999"),
            32'000);
  EXPECT_THAT(
      refusal_of(small_command("--tokenizer-type HuggingFaceTokenizer --tokenizer-model ours")),
      HasSubstr("the vocabulary"));
}

TEST(MegatronArguments, ALatentAttentionHasTheRanksOfTheCommandLine) {
  const ImportedPlan plan = imported_script(small_command("--multi-latent-attention"));
  const model::LatentAttention latent = plan.planned.job.model.latent.value();
  EXPECT_EQ(latent.query_rank, 0);
  EXPECT_EQ(latent.kv_rank, 32);
  EXPECT_EQ(latent.nope_head_dim, 128);
  EXPECT_EQ(latent.rope_head_dim, 64);
}

TEST(MegatronArguments, ReadsTheBiasOfPositions) {
  const ImportedPlan plan =
      imported_script(small_command("--position-embedding-type alibi --pad-vocab-size-to 51200"));
  EXPECT_EQ(plan.planned.job.model.position, model::PositionEncoding::kAlibi);
  EXPECT_EQ(plan.planned.job.model.vocabulary, 51'200);
}

TEST(MegatronArguments, GroupsOfQueriesNeedTheirSwitch) {
  const ImportedPlan plan = imported_script(small_command("--num-query-groups 4"));
  EXPECT_EQ(plan.planned.job.model.kv_heads, 16);
  EXPECT_THAT(plan.report.not_read, unread("--num-query-groups", SettingImpact::kNo));
  const std::string grouped = "--group-query-attention --num-query-groups 4";
  EXPECT_EQ(imported_script(small_command(grouped)).planned.job.model.kv_heads, 4);
}

TEST(MegatronArguments, LeavesOutWhatNoPlanSays) {
  const ImportedPlan plan = imported_script(
      small_command("--optimizer lion --recompute-granularity full --recompute-method uniform "
                    "--recompute-num-layers 5 --context-parallel-size 4 --cp-comm-type a2a+p2p "
                    "--hierarchical-context-parallel-sizes 2 2 --recompute-modules mlp"));
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  for (const char* name : {"--optimizer", "--recompute-num-layers", "--cp-comm-type",
                           "--hierarchical-context-parallel-sizes"}) {
    EXPECT_THAT(plan.report.not_read, unread(name, SettingImpact::kYes)) << name;
    EXPECT_THAT(plan.report.read, testing::Not(Contains(Field(&ImportedSetting::name, name))))
        << name;
  }
}

TEST(MegatronArguments, ReadsHowManyLayersOfAChunkAreRecomputed) {
  const auto recompute = [](const std::string& layers) {
    const std::string block = "--recompute-granularity full --recompute-method block ";
    return imported_script(small_command(block + "--recompute-num-layers " + layers))
        .planned.plan.recompute;
  };
  EXPECT_EQ(recompute("0"), plan::ActivationRecomputation());
  EXPECT_EQ(recompute("3"),
            (plan::ActivationRecomputation{.kind = plan::RecomputeKind::kEvery, .first = 3}));
  EXPECT_EQ(recompute("8"), (plan::ActivationRecomputation{.kind = plan::RecomputeKind::kFull}));
}

TEST(MegatronArguments, NarrowGradientsOfTheOptimizerAddUpNarrow) {
  const auto accumulate = [](const std::string& more) {
    return imported_script(small_command(more)).planned.plan.accumulate;
  };
  EXPECT_EQ(accumulate(""), DType::kFp32);
  EXPECT_EQ(accumulate("--main-grads-dtype fp32"), DType::kFp32);
  EXPECT_EQ(accumulate("--use-precision-aware-optimizer --main-grads-dtype bf16"), DType::kBf16);
}

TEST(MegatronArguments, ReadsMuonAndWhatLiesOnTheHost) {
  const ImportedPlan muon = imported_script(small_command(
      "--optimizer dist_muon --muon-tp-mode distributed --no-use-layer-wise-param-layout"));
  EXPECT_EQ(muon.planned.job.optimizer, plan::Optimizer::kMuon);
  EXPECT_EQ(muon.planned.job.muon, plan::MuonTensorSplit::kDistributed);
  EXPECT_EQ(plan::sharding_letters(muon.planned.plan.sharding), "NNG");
  EXPECT_FALSE(muon.planned.job.kernels.scattered_gradients);
  EXPECT_EQ(imported_script(small_command("--optimizer muon")).planned.job.muon,
            plan::MuonTensorSplit::kBlockwise);
  const plan::HostOffload host =
      imported_script(small_command("--optimizer-cpu-offload --optimizer-offload-fraction 0.5 "
                                    "--fine-grained-activation-offloading "
                                    "--offload-modules core_attn attn_proj"))
          .planned.plan.offload;
  EXPECT_EQ(host.optimizer, 0.5);
  EXPECT_FALSE(host.masters) << "without --use-precision-aware-optimizer";
  EXPECT_EQ(host.activations, (plan::OffloadModuleSet{plan::OffloadModule::kCoreAttention,
                                                      plan::OffloadModule::kAttentionProjection}));
}

// megatron/training/arguments.py, "Legacy RoPE arguments"; --use-flash-attn is for legacy models.
TEST(MegatronArguments, AnArgumentThatYieldsIsNoContradiction) {
  const auto job = [](const std::string& more) {
    return imported_script(small_command(more)).planned.job;
  };
  for (const std::string more : {"--attention-backend fused --use-flash-attn",
                                 "--use-flash-attn --attention-backend fused"}) {
    EXPECT_EQ(job(more).kernels.attention, cluster::AttentionKernel::kCudnn) << more;
  }
  for (const std::string word : {"learned_absolute", "mrope"}) {
    EXPECT_EQ(
        job("--use-rotary-position-embeddings --position-embedding-type " + word).model.position,
        model::PositionEncoding::kRope);
  }
}

TEST(MegatronArguments, ReadsWindowsScheduleAndGraphs) {
  const ImportedPlan plan = imported_script(small_command(
      "--window-size 128,0 --window-attn-skip-freq 4 --cuda-graph-impl transformer_engine "
      "--cuda-graph-modules attn moe_router --no-gradient-accumulation-fusion"));
  EXPECT_EQ(model::attention_windows_of_layers(plan.planned.job.model),
            (std::vector<std::int64_t>{128, 128, 128, 0, 128, 128, 128, 0}));
  EXPECT_TRUE(plan.planned.job.kernels.cuda_graphs.attention);
  EXPECT_FALSE(plan.planned.job.kernels.cuda_graphs.mlp);
  EXPECT_FALSE(plan.planned.job.kernels.fused_accumulation);
  std::string text = small_command("--step-batch-size-schedule '0:32 2B:128'");
  text.erase(text.find("--global-batch-size 64"), 23);
  EXPECT_EQ(imported_script(text).planned.job.sequences, 128);
}

TEST(MegatronArguments, ReadsWhatForksSayInWordsOfTheirOwn) {
  const ImportedPlan plan = imported_script(small_command(
      "--num-experts 8 --moe-router-topk 2 --moe-intermediate-size 512 --n-shared-experts 2 "
      "--first-k-dense-replace 1 --context-parallel-algo ulysses_cp_algo --context-parallel-size 2 "
      "--use-fused-rmsnorm "
      "--swap-attention"));
  EXPECT_EQ(plan.planned.plan.context_kind, plan::ContextKind::kUlysses);
  const model::MixtureOfExperts& experts = plan.planned.job.model.experts.value();
  EXPECT_EQ(experts.ffn, 512);
  EXPECT_EQ(experts.shared_ffn, 1024);
  EXPECT_THAT(plan.report.read, Contains(Field(&ImportedSetting::name, "--n-shared-experts")));
  const auto listed = [&](const std::string& name, SettingImpact matters) {
    return std::ranges::any_of(plan.report.not_read, [&](const SettingNotInPlan& one) {
      return one.name == name && one.matters == matters;
    });
  };
  const ImportedPlan all = imported_script(
      small_command("--num-experts 8 --moe-router-topk 2 --moe-intermediate-size 512 "
                    "--moe-layer-freq -1 --first-k-dense-replace -1"));
  EXPECT_TRUE(all.planned.job.model.experts.has_value());
  EXPECT_TRUE(listed("--use-fused-rmsnorm", SettingImpact::kNo));
  EXPECT_TRUE(listed("--swap-attention", SettingImpact::kYes));
}

TEST(MegatronForks, ReadTheLayersOfEachStage) {
  for (const std::string flag : {"--num-layer-list", "--custom-pipeline-layers"}) {
    const ImportedPlan read =
        imported_script(small_command("--pipeline-model-parallel-size 2 " + flag + " 5,3"));
    EXPECT_EQ(read.planned.plan.layers, (std::vector<std::int64_t>{5, 3}));
    EXPECT_THAT(read.report.read, takes(flag, "layers"));
  }
}

TEST(MegatronForks, TheFusedKernelOfMindSpeedStandsInMegatronsOwnLayers) {
  const std::string text =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 1024 "
      "--num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 "
      "--vocab-size 32000 --micro-batch-size 1 --global-batch-size 16 --bf16 "
      "--transformer-impl local --use-flash-attn ";
  const auto attention = [&](const std::string& more) {
    return import_text("megatron", "run.sh", text + more + "\n", {.cluster = "dgx-h100"})
        .planned.job.kernels.attention;
  };
  EXPECT_EQ(attention(""), cluster::AttentionKernel::kUnfused);
  EXPECT_EQ(attention("--use-fused-rmsnorm --normalization RMSNorm"),
            cluster::AttentionKernel::kFlash2);
}

TEST(MegatronForks, ATowerOfImagesIsSaid) {
  const ImportedPlan made = import_text(
      "megatron", "run.sh",
      "torchrun --nproc_per_node 8 pretrain_vl.py --num-layers 16 --hidden-size 1024 "
      "--num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 "
      "--vocab-size 32000 --micro-batch-size 1 --global-batch-size 16 --bf16 --patch-size 14 "
      "--freeze-ViT\n",
      {.cluster = "dgx-h100"});
  EXPECT_THAT(made.report.not_read, lists("--patch-size", SettingImpact::kYes));
  EXPECT_THAT(made.report.not_read, lists("--freeze-ViT", SettingImpact::kYes));
}

}  // namespace
}  // namespace stepwright::framework_files
