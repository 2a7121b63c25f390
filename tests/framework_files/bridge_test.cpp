#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/targets/code.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

// The form of NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/recipes.
constexpr const char* kBridgeRecipes = R"(import torch
from megatron.bridge import AutoBridge
from megatron.bridge.recipes.common import _pretrain_common
from megatron.bridge.training.config import ConfigContainer


def qwen3_30b_pretrain_config() -> ConfigContainer:
    """Tensor 4, pipeline 2, experts 4."""
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-30B-A3B").to_megatron_provider(
        load_weights=False)
    cfg.tokenizer.tokenizer_type = "NullTokenizer"
    cfg.tokenizer.vocab_size = DEFAULT_NULL_TOKENIZER_VOCAB_SIZE
    cfg.model.tensor_model_parallel_size = 4
    cfg.model.pipeline_model_parallel_size = 2
    cfg.model.pipeline_model_parallel_layout = None
    cfg.model.pipeline_dtype = torch.bfloat16
    cfg.model.expert_model_parallel_size = 4
    cfg.model.expert_tensor_parallel_size = 1
    cfg.model.sequence_parallel = True
    cfg.model.seq_length = 4096
    cfg.train.global_batch_size = 512
    cfg.train.micro_batch_size = 1
    cfg.model.recompute_granularity = "full"
    cfg.model.recompute_method = "uniform"
    cfg.model.recompute_num_layers = 1
    cfg.mixed_precision = MixedPrecisionConfig(bf16=True, grad_reduce_in_fp32=False)
    cfg.optimizer.use_precision_aware_optimizer = True
    cfg.optimizer.exp_avg_dtype = torch.bfloat16
    cfg.optimizer.exp_avg_sq_dtype = torch.bfloat16
    cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=False)
    cfg.ddp.overlap_grad_reduce = True
    cfg.ddp.grad_reduce_in_fp32 = False
    set_layout(cfg.model)
    return cfg


def llama31_8b_sft_config() -> ConfigContainer:
    cfg = _peft_common()
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Llama-3.1-8B").to_megatron_provider()
    cfg.mixed_precision = "bf16_with_fp8_current_scaling_mixed"
    cfg.model.tensor_model_parallel_size = 2
    return cfg
)";

TEST(Bridge, FollowsTheAssignmentsOfARecipe) {
  const ImportedPlan read =
      import_text("", "recipes.py", kBridgeRecipes, {.function = "qwen3_30b_pretrain_config"});
  EXPECT_EQ(read.target, "bridge");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "qwen3-30b-a3b");
  EXPECT_EQ(plan.parallel.tensor, 4);
  EXPECT_EQ(plan.parallel.pipeline, 2);
  EXPECT_EQ(plan.parallel.expert, 4);
  EXPECT_EQ(plan.parallel.data, 2);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.micro_batch, 1);
  EXPECT_EQ(job.sequences, 512);
  EXPECT_EQ(job.length, 4096);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(job.optimizer, plan::Optimizer::kAdamNarrow);
  EXPECT_EQ(plan.accumulate, DType::kBf16);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(plan.sharding, plan::sharding_named_by_word("NNG").value());
  EXPECT_TRUE(plan.overlap.parameters);
  EXPECT_THAT(read.report.read, takes("tensor_model_parallel_size", "parallel.tensor"));
  EXPECT_THAT(read.report.not_read, lists("set_layout", SettingImpact::kYes));
}

TEST(Bridge, HasTheDefaultsOfTheCommonRecipe) {
  const ImportedPlan read =
      import_text("", "recipes.py", kBridgeRecipes, {.function = "llama31_8b_sft_config"});
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "llama-3.1-8b");
  EXPECT_EQ(job.sequences, 128);
  EXPECT_EQ(job.length, 2048);
  EXPECT_EQ(job.precision, DType::kFp8);
  EXPECT_EQ(plan.micro_batch, 1);
  EXPECT_EQ(plan.accumulate, DType::kFp32);
}

TEST(Bridge, AsksWhichRecipe) {
  EXPECT_THROW(import_text("", "recipes.py", kBridgeRecipes), Error);
}

TEST(Bridge, ClassesOfModelsAreTheBuiltInOnes) {
  const std::string text = R"(from megatron.bridge.training.config import ConfigContainer
def nano() -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = NemotronNanoModelProvider9Bv2(tensor_model_parallel_size=2, sequence_parallel=True)
    return cfg
)";
  const ImportedPlan read = import_text("", "recipe.py", text);
  EXPECT_EQ(read.planned.job.model_name, "nemotron-nano-9b-v2");
  EXPECT_EQ(read.planned.plan.parallel.tensor, 2);
}

// The form of NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/recipes/qwen_vl/qwen3_vl.py.
TEST(Bridge, ARecipeMergesWhatItsCallerGives) {
  const std::string text = R"(from megatron.bridge.training.config import ConfigContainer
def _common(hf_path: str, tensor_model_parallel_size: int = 1, **rest: object) -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained(hf_path).to_megatron_provider()
    cfg.model.tensor_model_parallel_size = tensor_model_parallel_size
    return cfg
def small_config(**user_kwargs: Unpack[CommonKwargs]) -> ConfigContainer:
    peft = user_kwargs.get("peft", None)
    recommended: CommonKwargs = {
        "hf_path": "Qwen/Qwen3-8B",
        "tensor_model_parallel_size": 4 if peft is None else 1,
        "peft": peft,
    }
    combined: CommonKwargs = {**recommended, **user_kwargs}
    return _common(**combined)
)";
  const auto tensor = [&](const std::string& function) {
    return import_text("", "recipe.py", text, {.cluster = "dgx-h100", .function = function})
        .planned.plan.parallel.tensor;
  };
  EXPECT_EQ(tensor("small_config"), 4);
  EXPECT_EQ(tensor("small_config(tensor_model_parallel_size=2)"), 2);
  EXPECT_EQ(tensor("small_config(peft='lora')"), 1);
}

// src/megatron/bridge/training/flex_dispatcher_backend.py: apply_flex_dispatcher_backend.
TEST(Bridge, TheDispatcherIsTheDevices) {
  const auto dispatcher = [](const std::string& cluster, const std::string& backend) {
    const std::string text = R"(from megatron.bridge.training.config import ConfigContainer
def small_config() -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-30B-A3B").to_megatron_provider()
    cfg.model.moe_token_dispatcher_type = "alltoall"
    cfg.model.moe_flex_dispatcher_backend = ")" +
                             backend + R"("
    cfg.train.global_batch_size = 144
    cfg.train.micro_batch_size = 1
    apply_flex_dispatcher_backend(cfg.model, cfg.model.moe_flex_dispatcher_backend)
    return cfg
)";
    return import_text("", "recipe.py", text, {.cluster = cluster}).planned.job.dispatcher;
  };
  EXPECT_EQ(dispatcher("dgx-h100:2", "deepep"), plan::TokenDispatcher::kOncePerNode);
  EXPECT_EQ(dispatcher("dgx-b200:2", "deepep"), plan::TokenDispatcher::kOncePerNode);
  EXPECT_EQ(dispatcher("gb200-nvl72:1", "deepep"), plan::TokenDispatcher::kAllToAll);
  EXPECT_EQ(dispatcher("gb200-nvl72:1", "hybridep"), plan::TokenDispatcher::kOncePerNode);
}

// The forms of NVIDIA-NeMo/Megatron-Bridge scripts/performance/configs.
constexpr const char* kByDevice = R"(from utils.utils import get_workload_base_config
from megatron.bridge.training.config import ConfigContainer


def small_pretrain_config_h100(precision: str = "bf16", config_variant: str = "v1") -> ConfigContainer:
    base = get_workload_base_config(
        model_family_name="llama",
        model_recipe_name="small",
        gpu="h100",
        compute_dtype=precision.upper(),
        task="pretrain",
        config_variant=config_variant,
    )
    cfg = small_pretrain_config()
    cfg.mixed_precision = get_precision_config(precision)
    cfg.mixed_precision.grad_reduce_in_fp32 = False
    set_workload_base_configs(cfg, base)
    cfg.comm_overlap = CommOverlapConfig(
        tp_comm_overlap=bool(cfg.model.tensor_model_parallel_size > 1))
    cfg.model.seq_length = 8192 if precision == "bf16" else 4096
    return cfg
)";
constexpr const char* kWorkloads = R"(from dataclasses import replace
BASE_SMALL = WorkloadBaseConfig(num_gpus=16, global_batch_size=64)
SMALL_PRETRAIN_CONFIG_H100_BF16_V1 = replace(
    BASE_SMALL, tensor_model_parallel_size=2, recompute_modules=["core_attn"])
SMALL_PRETRAIN_CONFIG_H100_BF16_V2 = replace(
    SMALL_PRETRAIN_CONFIG_H100_BF16_V1, global_batch_size=128)
SMALL_PRETRAIN_CONFIG_H100_FP8_CS_V1 = replace(
    BASE_SMALL, use_megatron_fsdp=True, recompute_num_layers=32)
)";
constexpr const char* kSmallRecipe = R"(
def small_pretrain_config() -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Llama-3.1-8B").to_megatron_provider()
    cfg.model.tensor_model_parallel_size = 1
    cfg.ddp.use_megatron_fsdp = False
    return cfg
)";

plan::PlannedJob by_device(const std::string& function) {
  const std::vector<launch_scripts::SourceFile> files = {
      {"llama.py", kByDevice}, {"workloads.py", kWorkloads}, {"recipe.py", kSmallRecipe}};
  return import_plan_files("", files, {.cluster = "dgx-h100", .function = function}).planned;
}

TEST(Bridge, RecipesByDeviceTakeTheirWorkload) {
  const auto [job, plan] = by_device("small_pretrain_config_h100");
  EXPECT_EQ(job.cluster.devices(), 16);
  EXPECT_EQ(job.sequences, 64);
  EXPECT_EQ(job.length, 8192);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(plan.accumulate, DType::kBf16);
  EXPECT_EQ(plan.parallel.tensor, 2);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_TRUE(plan.overlap.tensor);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kSelective);
  EXPECT_EQ(by_device("small_pretrain_config_h100(config_variant='v2')").job.sequences, 128);
}

TEST(Bridge, AFunctionIsCalledWithArguments) {
  const auto [job, plan] = by_device("small_pretrain_config_h100(precision='fp8_cs')");
  EXPECT_EQ(job.precision, DType::kFp8);
  EXPECT_EQ(job.length, 4096);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "GGG");
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT([] { by_device("small_pretrain_config_h100(config_variant='v3')"); },
              testing::ThrowsMessage<Error>(
                  testing::HasSubstr("SMALL_PRETRAIN_CONFIG_H100_BF16_V3 or "
                                     "SMALL_PRETRAIN_CONFIG_H100_BF16: give the file")));
}

TEST(Bridge, ADegreeThatIsNoLiteralIsRefused) {
  const std::string text = R"(from megatron.bridge.training.config import ConfigContainer
def nano() -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = NemotronNanoModelProvider9Bv2()
    cfg.model.tensor_model_parallel_size = best_degree()
    cfg.ddp.overlap_grad_reduce = wanted()
    return cfg
)";
  EXPECT_THAT([&] { import_text("", "recipe.py", text); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "recipe.py:5: model.tensor_model_parallel_size is 'best_degree()'")));
  const ImportedPlan read =
      import_text("", "recipe.py", text, {.settings = {"model.tensor_model_parallel_size=2"}});
  EXPECT_EQ(read.planned.plan.parallel.tensor, 2);
  EXPECT_THAT(read.report.not_read, lists("ddp.overlap_grad_reduce", SettingImpact::kYes));
}

TEST(Bridge, TablesOfTheFirstPerformanceScriptsAreRead) {
  const launch_scripts::SourceFile files[] = {
      {"small.py", R"(from utils.helpers import (
    get_precision_config,
    set_megatron_fsdp_overrides,
    set_parallelism_and_batch_configs,
)
from megatron.bridge.recipes.qwen.qwen3 import small_pretrain_config as pretrain_config
from megatron.bridge.training.config import ConfigContainer
from . import parallelism_configs as tables


def small_h100_config(whole: bool = False) -> ConfigContainer:
    chosen = tables.SMALL_H100_PARALLEL_CONFIG
    cfg = pretrain_config(mock=True, pipeline=chosen.pipeline_model_parallel_size)
    set_parallelism_and_batch_configs(cfg, chosen)
    if whole:
        set_megatron_fsdp_overrides(cfg)
    return cfg
)"},
      {"parallelism_configs.py",
       "from utils.utils import ParallelismAndBatchConfig\n\n"
       "SMALL_H100_PARALLEL_CONFIG = ParallelismAndBatchConfig(\n"
       "    tensor_model_parallel_size=2,\n    micro_batch_size=2,\n"
       "    global_batch_size=64,\n)\n"},
      {"qwen3.py", R"(def small_pretrain_config(**kwargs) -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-8B").to_megatron_provider()
    return cfg
)"}};
  const plan::PlannedJob made = import_plan_files("", files, {.cluster = "dgx-h100"}).planned;
  EXPECT_EQ(made.job.model_name, "qwen3-8b");
  EXPECT_EQ(made.job.sequences, 64);
  EXPECT_EQ(made.plan.parallel.tensor, 2);
  EXPECT_TRUE(made.plan.sequence_parallel);
  EXPECT_EQ(made.plan.micro_batch, 2);
  const UserFacts whole{.cluster = "dgx-h100", .function = "small_h100_config(whole=True)"};
  EXPECT_EQ(import_plan_files("", files, whole).planned.plan.sharding.parameters,
            plan::StateShardingScope::kGlobal);
}

/// A container that a recipe fills in itself, for a hybrid model with its own sizes.
constexpr const char* kOwnContainer = R"(
from megatron.core.activations import squared_relu
from megatron.bridge.models.mamba.mamba_provider import MambaModelProvider
from megatron.bridge.recipes.utils.optimizer_utils import distributed_fused_adam_with_cosine_annealing
from megatron.bridge.training.config import ConfigContainer


def sizes(tensor=2) -> MambaModelProvider:
    """Words of others, as --tensor-model-parallel-size (pretrain_gpt.py), stand in comments."""
    return MambaModelProvider(
        hybrid_layer_pattern="M-M*-M-M", num_layers=8, hidden_size=1024, num_attention_heads=8,
        ffn_hidden_size=4096, mamba_num_heads=32, activation_func=squared_relu,
        tensor_model_parallel_size=tensor,
    )


def small_pretrain_config(steps=3) -> ConfigContainer:
    optimizer, scheduler = distributed_fused_adam_with_cosine_annealing(max_lr=3e-4)
    cfg = ConfigContainer(
        model=sizes(),
        train=TrainingConfig(global_batch_size=16, micro_batch_size=1),
        optimizer=optimizer,
        scheduler=scheduler,
        ddp=DistributedDataParallelConfig(use_distributed_optimizer=False),
        dataset=GPTDatasetConfig(sequence_length=2048),
        tokenizer=TokenizerConfig(tokenizer_type="NullTokenizer", vocab_size=32000),
    )
    for name in ["tokens", "labels"]:
        cfg.train.micro_batch_size *= 2
        if name == "tokens":
            break
    cfg.train.global_batch_size += 16
    return cfg
)";

TEST(Bridge, AContainerOfOwnSizesIsRead) {
  const UserFacts given{.function = "small_pretrain_config"};
  const plan::PlannedJob made = import_text("", "small.py", kOwnContainer, given).planned;
  EXPECT_EQ(made.job.length, 2048);
  EXPECT_EQ(made.job.sequences, 32);
  EXPECT_EQ(made.plan.micro_batch, 2);
  EXPECT_EQ(made.plan.parallel.tensor, 2);
  EXPECT_EQ(made.plan.sharding.optimizer,
            plan::StateShardingScope::kGlobal);  // The optimizer's own switch counts.
  EXPECT_EQ(made.job.model.vocabulary, 32'001);
  EXPECT_EQ(made.job.model.activation, model::ActivationFunction::kSquaredRelu);
  EXPECT_EQ(made.job.model.norm, model::Norm::kRms);
  EXPECT_FALSE(made.job.model.tied);
}

TEST(Bridge, ThePrecisionStandsOverTheWrapper) {
  const auto sums = [](const std::string& precision) {
    const std::string text =
        "from megatron.bridge.training.config import ConfigContainer\n"
        "def f() -> ConfigContainer:\n    cfg = _sft_common()\n"
        "    cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-8B\")\n"
        "    cfg.mixed_precision = " +
        precision + "\n    cfg.ddp.grad_reduce_in_fp32 = False\n    return cfg\n";
    return import_text("", "f.py", text).planned.plan.accumulate;
  };
  EXPECT_EQ(sums("bf16_mixed()"), DType::kFp32);
  EXPECT_EQ(sums("MixedPrecisionConfig(bf16=True)"), DType::kFp32);
  EXPECT_EQ(sums("MixedPrecisionConfig(bf16=True, grad_reduce_in_fp32=False)"), DType::kBf16);
}

// NVIDIA-NeMo/Megatron-Bridge perf_recipes/deepseek/h100/deepseek_v3.py.
TEST(Bridge, GathersAloneMayOverlap) {
  const std::string text =
      "from megatron.bridge.training.config import ConfigContainer\n"
      "def f() -> ConfigContainer:\n    cfg = _pretrain_common()\n"
      "    cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-8B\")\n"
      "    cfg.ddp.overlap_grad_reduce = False\n    cfg.ddp.overlap_param_gather = True\n"
      "    return cfg\n";
  const plan::OverlapFlags overlap = import_text("", "f.py", text).planned.plan.overlap;
  EXPECT_TRUE(overlap.parameters);
  EXPECT_FALSE(overlap.gradients);
}

// NVIDIA-NeMo/Megatron-Bridge recipes/deepseek/h100/deepseek_v3.py.
TEST(Bridge, LayoutsOfStagesAreListsOfNames) {
  const std::string text =
      "from megatron.bridge.training.config import ConfigContainer\n"
      "def f() -> ConfigContainer:\n    cfg = _pretrain_common()\n"
      "    cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-8B\")\n"
      "    cfg.model.pipeline_model_parallel_size = 2\n"
      "    last = [\"mtp\"] * how_many() + [\"loss\"]\n"
      "    layouts = {(2, 1): [[\"embedding\"] + [\"decoder\"] * 19, [\"decoder\"] * 17 + last]}\n"
      "    cfg.model.pipeline_model_parallel_layout = layouts[(2, 1)]\n    return cfg\n";
  EXPECT_EQ(import_text("", "f.py", text).planned.plan.layers, (std::vector<std::int64_t>{19, 17}));
}

TEST(Bridge, AdaptersByNameAreFollowed) {
  const std::string text = R"(from megatron.bridge.recipes.common import _peft_common
from megatron.bridge.training.config import ConfigContainer


def tuned(peft_scheme: str | PEFT = "lora") -> ConfigContainer:
    cfg = _peft_common()
    cfg.model = AutoBridge.from_hf_pretrained("Qwen/Qwen3-8B").to_megatron_provider()
    cfg.peft = default_peft_config(peft_scheme)
    if isinstance(peft_scheme, str) and peft_scheme.lower() in ["lora", "dora"]:
        cfg.peft.dim = 16
        cfg.peft.target_modules = ["linear_qkv"]
    return cfg
)";
  const ImportedPlan made = import_text("", "tuned.py", text);
  ASSERT_TRUE(made.planned.job.model.adapters.has_value());
  EXPECT_EQ(made.planned.job.model.adapters->rank, 16);
}

TEST(Bridge, ARecipeOverOneThatWasNotGivenNamesIt) {
  const std::string text =
      "from megatron.bridge.recipes.llama.llama3 import (\n    llama3_8b_pretrain_config,\n)\n"
      "from megatron.bridge.training.config import ConfigContainer\n\n"
      "def tuned_config() -> ConfigContainer:\n    cfg = llama3_8b_pretrain_config()\n"
      "    cfg.model.tensor_model_parallel_size = 4\n    return cfg\n";
  EXPECT_THAT([&] { import_text("", "tuned.py", text); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "comes from llama3_8b_pretrain_config(), which is in none of the files: also "
                  "give the file of megatron.bridge.recipes.llama.llama3")));
  const launch_scripts::SourceFile through[] = {
      {"tuned.py", text},
      {"llama3.py",
       "from megatron.bridge.recipes.llama.h100.llama3 import (\n"
       "    llama3_8b_pretrain_8gpu_config as llama3_8b_pretrain_config,\n)\n"}};
  EXPECT_THAT([&] { import_plan_files("", through, {.cluster = "dgx-h100"}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "also give the file of megatron.bridge.recipes.llama.h100.llama3")));
  const launch_scripts::SourceFile files[] = {
      {"tuned.py", text},
      {"llama3.py",
       "def llama3_8b_pretrain_config() -> ConfigContainer:\n    cfg = _pretrain_common()\n"
       "    cfg.model = AutoBridge.from_hf_pretrained(\"meta-llama/Meta-Llama-3-8B\")\n"
       "    return cfg\n"}};
  const ImportedPlan made = import_plan_files("", files, {.cluster = "dgx-h100"});
  EXPECT_EQ(made.planned.job.model_name, "llama-3-8b");
  EXPECT_EQ(made.planned.plan.parallel.tensor, 4);
}

}  // namespace
}  // namespace stepwright::framework_files
