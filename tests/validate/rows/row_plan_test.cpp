#include "stepwright/validate/rows/row_plan.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/csv.h"
#include "stepwright/core/error.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/filled_buckets.h"
#include "stepwright/plan/frameworks/stage_split.h"
#include "stepwright/simulate/price/pricer.h"
#include "tests/validate/rows/table_rows.h"

namespace stepwright {
namespace {

PlannedJob planned(const RunRow& row) {
  auto made = row_plan(row);
  if (const auto* skipped = std::get_if<Skipped>(&made)) {
    ADD_FAILURE() << skipped->reason;
    return {};
  }
  return std::get<RowPlan>(made).planned;
}

std::string reason(const RunRow& row) {
  auto made = row_plan(row);
  const auto* skipped = std::get_if<Skipped>(&made);
  return skipped != nullptr ? skipped->reason : "used";
}

TEST(RowPlan, OfAMegatronRow) {
  const PlannedJob made = planned(small_row());
  EXPECT_EQ(made.plan.parallel.data, 2);
  EXPECT_EQ(made.plan.recompute.kind, RecomputeKind::kFull);
  EXPECT_EQ(sharding_word(made.plan.sharding), "NNN");
  EXPECT_EQ(made.job.kernels.attention, AttentionKernel::kUnfused);
  EXPECT_TRUE(made.job.kernels.scattered_pipeline);
  EXPECT_FALSE(made.plan.overlap.gradients);
  EXPECT_EQ(made.job.framework.name, "megatron-lm");
  EXPECT_FALSE(made.job.model.gated);
  EXPECT_TRUE(made.job.model.tied);
}

TEST(RowPlan, ReadsPrecisions) {
  RunRow row = small_row();
  row.gpu = "B200-SXM";
  for (const auto& [word, precision] :
       {std::pair{"amp_bf16", DType::kBf16}, std::pair{"MXFP8", DType::kMxfp8},
        std::pair{"fp8 current scaling", DType::kFp8},
        std::pair{"bf16 with float8 (tensorwise)", DType::kFp8}}) {
    row.precision = word;
    row.framework = "Megatron-Core";
    EXPECT_EQ(planned(row).job.precision, precision) << word;
  }
}

TEST(RowPlan, ReadsShardingGroups) {
  RunRow row = small_row();
  row.tensor = row.pipeline = 1;
  row.global_batch = 64;
  row.sharding = "ZeRO-1 over 4 ranks (Hybrid ZeRO)";
  EXPECT_EQ(sharding_word(planned(row).plan.sharding), "NNI");
  EXPECT_EQ(planned(row).plan.sharding.group, 4);
  row.sharding = "FSDP FULL_SHARD mixed_precision=PURE";
  EXPECT_EQ(sharding_word(planned(row).plan.sharding), "GGG");
  EXPECT_EQ(planned(row).plan.accumulate, DType::kFp16);
  row.sharding = "FSDP2 over 8";
  EXPECT_EQ(sharding_word(planned(row).plan.sharding), "GGG");
}

TEST(RowPlan, ReadsExperts) {
  RunRow row = small_row();
  row.model = "DeepSeekV3";
  row.framework = "Megatron-Bridge/Megatron-Core";
  row.moe = "256 routed experts, top-8, 1 shared, moe_ffn 512, first 2 layers dense, MLA";
  row.tensor = 1;
  row.expert = 4;
  const Architecture model = planned(row).job.model;
  ASSERT_TRUE(model.experts && model.latent);
  EXPECT_EQ(model.experts->count, 256);
  EXPECT_EQ(model.experts->top_k, 8);
  EXPECT_EQ(model.experts->ffn, 512);
  EXPECT_EQ(model.experts->shared_ffn, 512);
  EXPECT_EQ(model.experts->is_dense, (std::vector<std::uint8_t>{1, 1, 0, 0}));
  row.expert.reset();
  EXPECT_EQ(reason(row), "ep not stated");
}

TEST(RowPlan, BridgeKeepsNarrowMomentsForLatentAttention) {
  RunRow row = small_row();
  row.framework = "Megatron-Bridge/Megatron-Core";
  EXPECT_EQ(planned(row).job.optimizer, Optimizer::kAdam);
  row.model = "DeepSeekV3";
  row.moe = "256 routed experts, top-8, 1 shared, moe_ffn 512, first 2 layers dense, MLA";
  row.tensor = 1;
  row.expert = 4;
  EXPECT_EQ(planned(row).job.optimizer, Optimizer::kAdamNarrow);
}

// 40 layers, an embedding, a norm and a head on four stages: 11, 11, 11 and 10 modules.
TEST(RowPlan, SomeStacksDealOutModules) {
  EXPECT_EQ(layers_by_modules(40, 4), (std::vector<std::int64_t>{10, 11, 11, 8}));
  EXPECT_EQ(layers_by_modules(80, 2), (std::vector<std::int64_t>{41, 39}));
  EXPECT_TRUE(layers_by_modules(4, 4).empty());
  RunRow row = small_row();
  row.layers = 40;
  EXPECT_TRUE(planned(row).plan.layers.empty());
  row.framework = "Aleph Alpha scaling (Megatron-style 3D parallel)";
  EXPECT_EQ(planned(row).plan.layers, (std::vector<std::int64_t>{21, 19}));
  row.pipeline = 1;
  EXPECT_TRUE(planned(row).plan.layers.empty());
}

// Sixteen layers and a head of four on four stages: a stage is full above five.
TEST(RowPlan, SomeStacksFillStagesByCost) {
  EXPECT_EQ(layers_by_costs(16, 4, {.layer = 1, .head = 4}),
            (std::vector<std::int64_t>{6, 5, 4, 1}));
  EXPECT_EQ(layers_by_costs(8, 2, {.layer = 1, .head = 0}), (std::vector<std::int64_t>{5, 3}));
  RunRow row = small_row();
  row.framework = "nanotron";
  row.layers = 16;
  EXPECT_FALSE(planned(row).plan.layers.empty());
}

TEST(RowPlan, NanotronOverlapsGradientsOfUnshardedOptimizersAlone) {
  RunRow row = small_row();
  row.framework = "nanotron";
  EXPECT_TRUE(planned(row).plan.overlap.gradients);
  EXPECT_FALSE(planned(row).job.kernels.fused_accumulation);
  row.sharding = "ZeRO-1";
  EXPECT_FALSE(planned(row).plan.overlap.gradients);
}

// A layer of hidden 4, 2 heads of 2 and a gated MLP of 8 has weights of 32, 64, 16 and 48.
TEST(RowPlan, BucketsCloseWithTheWeightThatFillsThem) {
  Architecture model;
  model.layers = 2;
  model.hidden = 4;
  model.heads = model.kv_heads = model.head_dim = 2;
  model.ffn = 8;
  EXPECT_EQ(filled_bucket(model, 1, 60), (96 + 64 + 96 + 64) / 4);
  EXPECT_EQ(filled_bucket(model, 1, 33), (96 + 64 + 96 + 64) / 4);
  EXPECT_EQ(filled_bucket(model, 1, 1), 320 / 8);
  EXPECT_EQ(filled_bucket(model, 1, 1000), 1000) << "one that no layer fills";
  EXPECT_EQ(filled_bucket(model, 2, 30), (48 + 32 + 48 + 32) / 4);
  RunRow row = small_row();
  row.framework = "nanotron";
  const std::int64_t beside = planned(row).plan.gradient_bucket;
  EXPECT_GE(beside, 25 * 1024 * 1024 / 2);
  row.sharding = "ZeRO-1";
  EXPECT_GT(planned(row).plan.gradient_bucket, 1000 * beside) << "the whole buffer at once";
}

TEST(RowPlan, WhatSomeStacksSendBeyondTheirPlan) {
  RunRow row = small_row();
  row.framework = "Megatron-DeepSpeed";
  row.sharding = "ZeRO-1";
  EXPECT_TRUE(planned(row).job.kernels.scattered_gradients);
  row.framework = "nanotron";
  row.sharding = "ZeRO-1";
  EXPECT_FALSE(planned(row).job.kernels.scattered_gradients);
  EXPECT_TRUE(planned(row).job.kernels.fused_gate);
  row.framework = "InternEvo";
  EXPECT_FALSE(planned(row).job.kernels.fused_gate);
  EXPECT_FALSE(planned(row).job.kernels.wide_gradients);
  row.framework = "Aleph Alpha scaling (Megatron-style 3D parallel)";
  EXPECT_TRUE(planned(row).job.kernels.wide_gradients);
  EXPECT_FALSE(planned(row).job.kernels.scattered_gradients);
}

TEST(RowPlan, MegatronOfLateYearsIsMegatronCore) {
  RunRow row = small_row();
  row.framework = "Megatron-LM";
  row.year = 2021;
  EXPECT_EQ(planned(row).job.framework.name, "megatron-lm");
  row.year = 2025;
  const PlannedJob made = planned(row);
  EXPECT_EQ(made.job.framework.name, "megatron-core");
  EXPECT_NE(made.job.kernels.attention, AttentionKernel::kUnfused);
  EXPECT_EQ(made.plan.accumulate, DType::kFp16) << "widened in bf16 only";
  row.notes = "all overlap off by design (TP/PP/DP)";
  EXPECT_EQ(
      planned(row).plan.overlap,
      (Overlap{
          .gradients = false, .parameters = false, .tensor_gradients = false, .pipeline = false}));
}

TEST(RowPlan, AnUnknownFrameworkIsNone) {
  RunRow row = small_row();
  row.framework = "somebody's own";
  EXPECT_EQ(planned(row).job.framework.name, "");
}

/// The file of a plan that says what a row's plan says, and is silent where its framework does
/// that by default.
std::string silent_where_usual(const PlannedJob& made) {
  nlohmann::ordered_json file = plan_json(made);
  nlohmann::ordered_json& job = file["job"];
  job["model"] = inline_model(made.job.model);
  job["cluster"] = inline_cluster(made.job.cluster);
  const Kernels usual = default_kernels(made.job.framework, made.job.cluster.device);
  nlohmann::ordered_json& kernels = job["kernels"];
  for (const auto& [flag, name] : kKernelFlags) {
    if (made.job.kernels.*flag == usual.*flag) kernels.erase(std::string(name));
  }
  if (made.job.kernels.attention == usual.attention) kernels.erase("attention");
  if (made.job.optimizer == default_optimizer(made.job.framework, made.job.model))
    job.erase("optimizer");
  const Plan& plan = made.plan;
  const Overlap overlap = default_overlap(made.job, plan);
  for (const auto& [flag, name] : kOverlapNames) {
    if (plan.overlap.*flag == overlap.*flag) file["overlap"].erase(std::string(name));
  }
  const Buckets buckets = default_buckets(made.job, plan);
  if (plan.gradient_bucket == buckets.gradients && plan.parameter_bucket == buckets.parameters)
    file.erase("buckets");
  if (plan.layers == default_layers(made.job, plan)) file.erase("layers");
  if (plan.accumulate == default_gradients(made.job)) file.erase("accumulate");
  if (plan.tensor_input == default_tensor_input(made.job)) file.erase("tensor_input");
  return file.dump();
}

/// Rows of a table that a plan expresses, and how many of their files leave something to the
/// framework.
std::pair<int, int> compare_with_files(const std::filesystem::path& path) {
  const CsvTable table = load_csv(path);
  int rows = 0;
  int silent = 0;
  for (const CsvRow& cells : table.rows) {
    const auto row = read_run_row(table, cells);
    if (!std::holds_alternative<RunRow>(row)) continue;
    const auto made_row = row_plan(std::get<RunRow>(row));
    const auto* made = std::get_if<RowPlan>(&made_row);
    if (made == nullptr) continue;
    const PlannedJob& said = made->planned;
    const std::string text = silent_where_usual(said);
    const PlannedJob read = read_plan(Document::parse(text, "plan"), {});
    silent += text.find("\"accumulate\"") == std::string::npos ? 1 : 0;
    ++rows;
    const std::string id = std::get<RunRow>(row).id;
    EXPECT_EQ(read.plan, said.plan) << id << " " << text;
    EXPECT_EQ(plan_yaml(read, true), plan_yaml(said, true)) << id;
    try {
      EXPECT_EQ(Pricer(read.job, CostModel(read.job)).price(read.plan).seconds,
                Pricer(said.job, CostModel(said.job)).price(said.plan).seconds)
          << id;
    } catch (const Error&) {
      EXPECT_THROW(Pricer(said.job, CostModel(said.job)).price(said.plan), Error) << id;
    }
  }
  return {rows, silent};
}

// The defaults of a framework are those of its file for rows and jobs alike.
TEST(RowPlan, AJobThatSaysTheSameHasTheSamePriceForEveryRowOfTheTables) {
  for (const char* name : {"training_runs.csv", "training_runs_2.csv", "memory.csv"}) {
    const auto [rows, silent] = compare_with_files(std::filesystem::path("data") / name);
    EXPECT_GT(rows, 700) << name;
    EXPECT_GT(silent, rows / 4) << name;
  }
}

TEST(RowPlan, ReadsKernels) {
  RunRow row = small_row();
  row.framework = "Aleph Alpha scaling (Megatron-style 3D parallel)";
  row.notes = "attention/norm kernel=flash_attention2";
  EXPECT_EQ(planned(row).job.kernels.attention, AttentionKernel::kFlash2);
  EXPECT_FALSE(planned(row).job.kernels.fused_norm);
  EXPECT_TRUE(planned(row).job.kernels.gathered_logits);
  row.notes += " + RMS kernel";
  EXPECT_TRUE(planned(row).job.kernels.fused_norm);
  row.notes = "attention/norm kernel=torch";
  EXPECT_FALSE(planned(row).job.kernels.fused_softmax);
  row.framework = "FSDP";
  row.notes = "eager";
  EXPECT_FALSE(planned(row).job.kernels.fused_activation);
  row.notes = "torch.compile of layers and loss";
  EXPECT_TRUE(planned(row).job.kernels.fused_activation);
}

TEST(RowPlan, ReadsGraphs) {
  RunRow row = small_row();
  row.framework = "Megatron-Core";
  const auto graphs = [&row](const char* notes) {
    row.notes = notes;
    return planned(row).job.kernels.cuda_graphs;
  };
  EXPECT_EQ(graphs("recipe"), CudaGraphs{});
  EXPECT_EQ(graphs("cuda_graph_impl=full_iteration; a2a"), (CudaGraphs{.step = true}));
  EXPECT_EQ(graphs("cuda_graph_impl=transformer_engine; cuda_graph_scope=['attn', 'moe_router', "
                   "'moe_preprocess']; mlp"),
            (CudaGraphs{.attention = true, .router = true}));
  EXPECT_EQ(graphs("cuda_graph_impl=transformer_engine; cuda_graph_scope=mlp; attn"),
            (CudaGraphs{.mlp = true}));
  EXPECT_EQ(graphs("cuda_graph_impl=none; cuda_graph_scope=['attn']"), CudaGraphs{});
}

struct Change {
  const char* what;
  void (*change)(RunRow& row);
  const char* reason;
};

class RowPlanSkips : public ::testing::TestWithParam<Change> {};

TEST_P(RowPlanSkips, WithAReason) {
  RunRow row = small_row();
  GetParam().change(row);
  EXPECT_EQ(reason(row), GetParam().reason) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RowPlanSkips,
    ::testing::Values(
        Change{"adapter", [](RunRow& r) { r.model = "Llama2-70B [LoRA]"; }, "LoRA: frozen weights"},
        Change{"hybrid", [](RunRow& r) { r.moe = "hybrid Mamba2/attention"; },
               "hybrid of other layers than attention and MLP"},
        Change{"no layers", [](RunRow& r) { r.layers.reset(); }, "layers not stated"},
        Change{"no vpp", [](RunRow& r) { r.chunks.reset(); }, "vpp not stated"},
        Change{"no batch", [](RunRow& r) { r.micro_batch.reset(); }, "micro_batch not stated"},
        Change{"degrees", [](RunRow& r) { r.tensor = 3; }, "degrees do not divide the GPUs"},
        Change{"illegal", [](RunRow& r) { r.global_batch = 15; }, "no legal plan: batch-per-data"},
        Change{"DualPipe", [](RunRow& r) { r.notes = "DualPipe"; }, "DualPipe: no such schedule"},
        Change{"offload", [](RunRow& r) { r.notes = "cpu_offloading_num_layers=4"; },
               "activations or states off the GPU"}));

}  // namespace
}  // namespace stepwright
