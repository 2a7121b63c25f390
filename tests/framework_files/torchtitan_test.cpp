#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/targets/code.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

// The form of torchtitan/models/llama3/config_registry.py.
constexpr const char* kTitanRegistry = R"(from torchtitan.trainer import Trainer
from . import model_registry

def llama3_8b() -> Trainer.Config:
    return Trainer.Config(
        hf_assets_path="./assets/hf/Llama-3.1-8B",
        model_spec=model_registry("8B"),
        optimizer=OptimizersContainer.Config(lr=3e-4),
        training=TrainingConfig(local_batch_size=1, seq_len=8192, steps=1000),
        activation_checkpoint=ActivationCheckpointConfig(mode="selective"),
    )

def llama3_8b_tensor() -> Trainer.Config:
    config = llama3_8b()
    config.parallelism = ParallelismConfig(tensor_parallel_degree=2)
    config.parallelism.pipeline_parallel_degree = 2
    config.training.local_batch_size = 8
    config.training.dtype = "bfloat16"
    config.model_converters = ModelConvertersContainer.Config(
        converters=[Float8LinearConverter.Config(filter_fqns=["output"])])
    config.activation_checkpoint = FullAC.Config()
    config.parallelism.data_parallel_replicate_degree = count_nodes()
    return config
)";

TEST(Torchtitan, ReadsAFunctionOfTheRegistry) {
  const ImportedPlan read =
      import_text("", "config_registry.py", kTitanRegistry, {.function = "llama3_8b"});
  EXPECT_EQ(read.target, "torchtitan");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "llama-3.1-8b");
  EXPECT_EQ(plan.parallel.data, 16);
  EXPECT_EQ(plan.micro_batch, 1);
  EXPECT_EQ(job.sequences, 16);
  EXPECT_EQ(job.length, 8192);
  EXPECT_EQ(plan.recompute.modules, plan::kPerOperator);
  EXPECT_FALSE(job.kernels.cuda_graphs.step) << "ActivationCheckpointConfig is older";
}

TEST(Torchtitan, FollowsWhatAnotherFunctionChanges) {
  const ImportedPlan read =
      import_text("", "config_registry.py", kTitanRegistry, {.function = "llama3_8b_tensor"});
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(plan.parallel.tensor, 2);
  EXPECT_EQ(plan.parallel.pipeline, 2);
  EXPECT_EQ(plan.parallel.data, 4);
  EXPECT_EQ(job.sequences, 32);
  EXPECT_EQ(job.precision, DType::kFp8);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(job.kernels.masters, plan::MasterWeights::kNone) << "training.dtype";
  EXPECT_EQ(plan.accumulate, DType::kFp32) << "as they are reduced";
  EXPECT_THAT(read.report.not_read, Not(lists("training.dtype", SettingImpact::kYes)));
  EXPECT_THAT(read.report.not_read,
              lists("parallelism.data_parallel_replicate_degree", SettingImpact::kYes));
}

// pytorch/torchtitan run_train.sh.
TEST(Torchtitan, AScriptNamesAFunctionOfARegistry) {
  const auto started = [](const std::string& script, bool with_registry = true) {
    const launch_scripts::SourceFile files[] = {{"start.sh", script},
                                                {"config_registry.py", kTitanRegistry}};
    return import_plan_files("", std::span(files).first(with_registry ? 2 : 1),
                             {.cluster = "dgx-h100"})
        .planned;
  };
  const plan::PlannedJob by_name = started(
      "NGPU=8 MODULE=llama3 CONFIG=llama3_8b ./run_train.sh "
      "--parallelism.tensor_parallel_degree 4 --training.local-batch-size 2\n");
  EXPECT_EQ(by_name.job.model_name, "llama-3.1-8b");
  EXPECT_EQ(by_name.plan.parallel, (plan::ParallelismDegrees{.tensor = 4, .data = 2}));
  EXPECT_EQ(by_name.plan.micro_batch, 2);
  const std::string direct =
      "torchrun --nproc_per_node=4 -m torchtitan.train --module llama3 --config llama3_8b\n";
  EXPECT_EQ(started(direct).plan.parallel.data, 4);
  EXPECT_THAT([&] { started(direct, false); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("names the function llama3_8b()")));
}

TEST(Torchtitan, RefusesAttentionOfVariableLengthBesideContext) {
  std::string registry = kTitanRegistry;
  registry.replace(registry.find("\"8B\")"), 5, "\"8B\", attn_backend=\"varlen\")");
  const auto read = [&] {
    return import_text("", "config_registry.py", registry, {.function = "llama3_8b"});
  };
  EXPECT_NO_THROW(read());
  registry.replace(registry.find("seq_len=8192"), 0,
                   "seq_len=8192), parallelism=ParallelismConfig("
                   "context_parallel_degree=2), other=Other(");
  EXPECT_THAT(read, testing::ThrowsMessage<Error>(
                        testing::HasSubstr("context parallelism with attn_backend varlen")));
}

TEST(Torchtitan, AsksWhichFunction) {
  EXPECT_THROW(import_text("", "config_registry.py", kTitanRegistry), Error);
  EXPECT_THROW(import_text("", "config_registry.py", kTitanRegistry, {.function = "other"}), Error);
}

TEST(Torchtitan, FamiliesWithEqualFlavorsAreApart) {
  std::string text = kTitanRegistry;
  for (std::size_t at = text.find("llama3_8b()"); at != std::string::npos;
       at = text.find("llama3_8b()")) {
    text.replace(at, 11, "qwen3_8b()");
  }
  EXPECT_EQ(import_text("", "r.py", text, {.function = "qwen3_8b"}).planned.job.model_name,
            "qwen3-8b");
}

TEST(Torchtitan, TheFamilyIsThatOfTheRegistry) {
  const auto model = [](const std::string& name, const std::string& import) {
    const std::string text = import + R"(
def sft() -> Trainer.Config:
    return Trainer.Config(model_spec=model_registry("4B"), training=TrainingConfig(seq_len=512))
)";
    return import_text("torchtitan", name, text, {.function = "sft"}).planned.job.model_name;
  };
  EXPECT_EQ(model("r.py", "from torchtitan.models.qwen3 import model_registry"), "qwen3-4b");
  EXPECT_EQ(model("models/qwen3/config_registry.py", "from . import model_registry"), "qwen3-4b");
  // A family that no file names, and one that has another model with that name.
  EXPECT_THROW(model("r.py", "from . import model_registry"), Error);
  EXPECT_THROW(model("r.py", "from torchtitan.models.qwen3_5 import model_registry"), Error);
  EXPECT_THROW(model("models/qwen3_5/config_registry.py", "from . import model_registry"), Error);
}

TEST(Torchtitan, SmallFlavorsHaveTheirSizes) {
  const auto model = [](const std::string& flavor) {
    const std::string text = R"(from torchtitan.models.qwen3 import model_registry
def small() -> Trainer.Config:
    return Trainer.Config(model_spec=model_registry(")" +
                             flavor + "\"))\n";
    return import_text("torchtitan", "r.py", text).planned.job.model;
  };
  EXPECT_EQ(model("debugmodel").ffn, 3072);
  EXPECT_FALSE(model("debugmodel").experts);
  EXPECT_EQ(model("debugmodel_moe").experts->count, 64);
}

TEST(Torchtitan, AFlavorThatWasReplacedIsNotTheFirst) {
  const std::string text = R"(from torchtitan.models.llama3 import model_registry
def own() -> Trainer.Config:
    spec = model_registry("debugmodel")
    return Trainer.Config(model_spec=replace(spec, flavor="mine", model=mine))
)";
  EXPECT_THROW(import_text("torchtitan", "r.py", text), Error);
}

/// A recipe that changes the result of a registry function in another file, partly in a helper.
constexpr const char* kTitanRecipe = R"(
from torchtitan.models.llama3.config_registry import llama3_8b

def _split(config, *, ranks):
    config.parallelism.tensor_parallel_degree = ranks

def recipe() -> Trainer.Config:
    config = llama3_8b()
    config.training.local_batch_size = 4
    _split(config, ranks=4)
    return config
)";

TEST(Torchtitan, FollowsFunctionsIntoTheFilesBesideIt) {
  const std::vector<launch_scripts::SourceFile> files = {
      {"recipe.py", kTitanRecipe}, {"models/llama3/config_registry.py", kTitanRegistry}};
  const UserFacts given{.cluster = "dgx-h100:2", .function = "recipe"};
  const ImportedPlan read = import_plan_files("torchtitan", files, given);
  EXPECT_EQ(read.planned.job.model_name, "llama-3.1-8b");
  EXPECT_EQ(read.planned.job.length, 8192);
  EXPECT_EQ(read.planned.plan.micro_batch, 4);
  EXPECT_EQ(read.planned.plan.parallel.tensor, 4);
  try {
    import_plan_files("torchtitan", std::span(files).first(1), given);
    FAIL() << "read without the file of llama3_8b";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("llama3_8b(), which stands in none of the files"));
  }
}

TEST(Torchtitan, ReadsKernelsOptimizersAndWhatIsCompiled) {
  const auto read = [](const std::string& spec, const std::string& more = "") {
    const std::string text =
        "def llama3_8b() -> Trainer.Config:\n    return Trainer.Config("
        "model_spec=model_registry(\"8B\"" +
        spec + ")" + more + ")\n";
    return import_text("torchtitan", "r.py", text).planned.job;
  };
  EXPECT_EQ(read("").kernels.attention, cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(read(", attn_backend=\"varlen\"").kernels.attention, cluster::AttentionKernel::kFlash3);
  EXPECT_FALSE(read("").kernels.fused_activation);
  EXPECT_TRUE(read("", ", compile=CompileConfig(enable=True)").kernels.fused_activation);
  const std::string muon =
      ", optimizer=OptimizersContainer.Config(param_groups=["
      "ParamGroupConfig(optimizer_name=\"Muon\"), "
      "ParamGroupConfig(optimizer_name=\"AdamW\")])";
  EXPECT_EQ(read("", muon).optimizer, plan::Optimizer::kMuon);
}

TEST(Torchtitan, RefusesWhatIsNoPretrainingOfALanguageModel) {
  const auto kind = [](const std::string& text) {
    try {
      import_text("torchtitan", "r.py", text, {.function = "f"});
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kRuntime;
  };
  EXPECT_EQ(kind("def f():\n    return Controller.Config(model_spec=model_registry(\"8B\"))\n"),
            ErrorKind::kUnsupported);
  EXPECT_EQ(kind("from torchtitan.models.flux import model_registry\n"
                 "def f() -> Trainer.Config:\n"
                 "    return Trainer.Config(model_spec=model_registry(\"flux-dev\"))\n"),
            ErrorKind::kUnsupported);
}

constexpr const char* kTitanToml = R"([model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 8
seq_len = 4096
mixed_precision_reduce = "bfloat16"
dtype = "float32"
[parallelism]
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "Interleaved1F1B"
[activation_checkpoint]
mode = "none"
)";

TEST(Torchtitan, SplitsLayersAsItDoes) {
  // 32 layers and two that embedding and output count for, over eight parts: 5, 5, 4, ..., of
  // which the first and the last lose one.
  const ImportedPlan read = import_text("", "job.toml", kTitanToml);
  EXPECT_EQ(read.planned.plan.layers, (std::vector<std::int64_t>{4, 5, 4, 4, 4, 4, 4, 3}));
  EXPECT_EQ(read.planned.plan.schedule.chunks, 2);
  EXPECT_EQ(read.planned.plan.accumulate, DType::kBf16);
  EXPECT_THAT(read.report.not_read, testing::Not(lists("training.dtype", SettingImpact::kYes)));
}

TEST(Torchtitan, OptimizersBesideThatOfMatricesMatter) {
  const std::string fork =
      "\n[optimizer]\nname = \"Muon\"\nhead_optimizer = \"lion\"\n"
      "embedding_optimizer = \"adamw\"\n";
  const ImportedPlan read = import_text("", "job.toml", kTitanToml + fork);
  EXPECT_EQ(read.planned.job.optimizer, plan::Optimizer::kMuon);
  EXPECT_THAT(read.report.not_read, lists("optimizer.head_optimizer", SettingImpact::kYes));
  EXPECT_THAT(read.report.not_read,
              testing::Not(lists("optimizer.embedding_optimizer", SettingImpact::kYes)));
}

TEST(Torchtitan, ReadsWhatItPrints) {
  const std::string log = R"([rank0]: Running with configs: {
  "model": {"name": "llama3", "flavor": "70B"},
  "training": {"local_batch_size": 2, "global_batch_size": 64, "seq_len": 8192},
  "parallelism": {"data_parallel_shard_degree": -1, "tensor_parallel_degree": 8},
  "activation_checkpoint": {"mode": "full"}
}
[rank0]: step: 1)";
  const ImportedPlan read = import_text("", "run.log", log);
  EXPECT_EQ(read.target, "torchtitan");
  EXPECT_EQ(read.planned.plan.parallel.tensor, 8);
  EXPECT_EQ(read.planned.plan.micro_batch, 2);
  EXPECT_EQ(read.planned.job.sequences, 64);
  EXPECT_THROW(import_text("torchtitan", "run.log", "Running with configs: {\"a\": {"), Error);
}

TEST(Torchtitan, ReadsTheJsonOfATrainerConfig) {
  const auto read =
      [](const std::string& recompute) {
        return import_text("", "run.log", R"([rank0]: Running with configs: {
  "model_spec": {"name": "llama3", "flavor": "8B", "model": {"dim": 1, "layers": [{"a": 1}]}},
  "training": {"local_batch_size": 1, "seq_len": 8192},
  "parallelism": {"data_parallel_shard_degree": -1, "tensor_parallel_degree": 8},
  "loss": {"num_chunks": 4},
  "activation_checkpoint": )" + recompute + "\n}\n");
      };
  const ImportedPlan full = read(R"({"preserve_rng_state": false})");
  EXPECT_EQ(full.planned.job.model_name, "llama-3-8b");
  EXPECT_EQ(full.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(full.planned.job.kernels.loss_chunks, 4);
  EXPECT_NE(full.planned.job.framework.version, "0.2.2");
  const ImportedPlan some = read(R"({"force_recompute_mm_shapes_by_fqns": []})");
  EXPECT_EQ(some.planned.plan.recompute.kind, plan::RecomputeKind::kModules);
  EXPECT_EQ(read("null").planned.plan.recompute.kind, plan::RecomputeKind::kNone);
}

}  // namespace
}  // namespace stepwright::framework_files
