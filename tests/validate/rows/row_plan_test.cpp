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

namespace stepwright::validate {
namespace {

plan::PlannedJob planned(const PublishedRunRow& row, const plan::Job* of = nullptr) {
  auto made = job_and_plan_of_row(row, of);
  if (const auto* skipped = std::get_if<SkippedRowReason>(&made)) {
    ADD_FAILURE() << skipped->reason;
    return {};
  }
  return std::get<TableRowPlan>(made).planned;
}

std::string reason(const PublishedRunRow& row) {
  auto made = job_and_plan_of_row(row);
  const auto* skipped = std::get_if<SkippedRowReason>(&made);
  return skipped != nullptr ? skipped->reason : "used";
}

TEST(TableRowPlan, OfAMegatronRow) {
  const plan::PlannedJob made = planned(small_row());
  EXPECT_EQ(made.plan.parallel.data, 2);
  EXPECT_EQ(made.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(plan::sharding_letters(made.plan.sharding), "NNN");
  EXPECT_EQ(made.job.kernels.attention, cluster::AttentionKernel::kUnfused);
  EXPECT_TRUE(made.job.kernels.scattered_pipeline);
  EXPECT_FALSE(made.plan.overlap.gradients);
  EXPECT_EQ(made.job.framework.name, "megatron-lm");
  EXPECT_FALSE(made.job.model.gated);
  EXPECT_TRUE(made.job.model.tied);
}

/// Returns the small row with another job and plan.
PublishedRunRow row_of(const std::string& job, const std::string& plan = "{sharding: NNN}") {
  PublishedRunRow row = small_row();
  row.job = job;
  row.plan = plan;
  return row;
}

TEST(TableRowPlan, LaysJobAndPlanOverTheColumns) {
  PublishedRunRow row = row_of(
      "{framework: {name: fsdp, variant: automodel}, precision: fp8, model: {latent: {}, experts: "
      "{count: 16, top_k: 2, ffn: 512}}, cluster: {profile: dgx-h100, nic: 400 Gbit/s}}",
      "{sharding: {states: NNI, group: 4, expert_group: 2}, micro_batch: 4, overlap: {tensor: "
      "true}}");
  row.tensor = row.pipeline = 1;
  row.global_batch = 64;
  row.expert = 2;
  row.cluster = "dgx-h200";
  EXPECT_EQ(planned(row).job.cluster.name, "dgx-h200") << "the column cluster goes first";
  row.cluster = "";
  const auto [job, plan] = planned(row);
  EXPECT_EQ(job.framework.variant, "automodel");
  EXPECT_EQ(job.precision, DType::kFp8);
  EXPECT_EQ(job.cluster.name, "dgx-h100");
  EXPECT_DOUBLE_EQ(job.cluster.nic_bytes_per_s, 50e9);
  EXPECT_EQ(job.model.layers, 4);
  EXPECT_TRUE(job.model.latent.has_value());
  EXPECT_EQ(job.model.experts->count, 16);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "NNI");
  EXPECT_EQ(plan.sharding.group, 4);
  EXPECT_EQ(plan.micro_batch, 4);
  EXPECT_TRUE(plan.overlap.tensor);
  EXPECT_EQ(plan.parallel.data, 8);
  row.expert.reset();
  EXPECT_EQ(reason(row), "ep not stated");
}

TEST(TableRowPlan, AJobMayNameItsModel) {
  PublishedRunRow row = row_of("{framework: nanotron, model: llama-2-7b}");
  row.layers = row.hidden = row.heads = row.vocabulary = row.ffn = std::nullopt;
  EXPECT_EQ(planned(row).job.model.layers, 32);
  row.job = "{framework: nanotron}";
  EXPECT_EQ(reason(row), "layers not stated");
}

TEST(TableRowPlan, ARecipeIsWhatARowLeavesUnsaid) {
  PublishedRunRow row = row_of("{framework: megatron-core}", "");
  EXPECT_EQ(plan::sharding_letters(planned(row).plan.sharding), "NNG");
  EXPECT_TRUE(planned(row).plan.sequence_parallel);
  row.plan = "{sharding: NNN, sequence_parallel: false}";
  EXPECT_EQ(plan::sharding_letters(planned(row).plan.sharding), "NNN");
  EXPECT_FALSE(planned(row).plan.sequence_parallel);
  row.tensor = 1;
  row.plan = "";
  EXPECT_FALSE(planned(row).plan.sequence_parallel);
}

TEST(TableRowPlan, SaysWhatItAssumed) {
  const auto made =
      std::get<TableRowPlan>(job_and_plan_of_row(row_of("{framework: nanotron}", "")));
  EXPECT_EQ(made.notes, (std::vector<std::string>{"precision not stated: bf16 assumed",
                                                  "recompute not stated: none assumed"}));
  EXPECT_TRUE(std::get<TableRowPlan>(job_and_plan_of_row(small_row())).notes.empty());
}

TEST(TableRowPlan, WhatARowLeavesOutIsItsJobs) {
  plan::Job job = planned(small_row()).job;
  job.kernels.attention = cluster::AttentionKernel::kFlash1;
  PublishedRunRow row = row_of("", "{sharding: NNG}");
  row.model = "";
  row.layers.reset();
  row.cluster = "";
  const plan::PlannedJob made = planned(row, &job);
  EXPECT_EQ(made.job.model, job.model);
  EXPECT_EQ(made.job.cluster, job.cluster);
  EXPECT_EQ(made.job.framework.name, job.framework.name);
  EXPECT_EQ(made.job.kernels.attention, cluster::AttentionKernel::kFlash1);
  row.job = "{framework: nanotron}";
  EXPECT_EQ(planned(row, &job).job.kernels.attention, cluster::AttentionKernel::kFlash2);
}

TEST(TableRowPlan, BridgeKeepsNarrowMomentsForLatentAttention) {
  const std::string bridge = "{framework: {name: megatron-core, variant: bridge}";
  EXPECT_EQ(planned(row_of(bridge + "}")).job.optimizer, plan::Optimizer::kAdam);
  const PublishedRunRow row =
      row_of(bridge + ", model: {latent: {}, experts: {count: 8, top_k: 2, ffn: 64}}}");
  EXPECT_EQ(planned(row).job.optimizer, plan::Optimizer::kAdamNarrow);
}

// 40 layers, an embedding, a norm and a head on four stages: 11, 11, 11 and 10 modules.
TEST(TableRowPlan, SomeStacksDealOutModules) {
  EXPECT_EQ(plan::stage_layers_by_modules(40, 4), (std::vector<std::int64_t>{10, 11, 11, 8}));
  EXPECT_EQ(plan::stage_layers_by_modules(80, 2), (std::vector<std::int64_t>{41, 39}));
  EXPECT_TRUE(plan::stage_layers_by_modules(4, 4).empty());
  PublishedRunRow row = row_of("{framework: megatron-lm}");
  row.layers = 40;
  EXPECT_TRUE(planned(row).plan.layers.empty());
  row.job = "{framework: {name: megatron-lm, variant: aleph-alpha}}";
  EXPECT_EQ(planned(row).plan.layers, (std::vector<std::int64_t>{21, 19}));
  row.pipeline = 1;
  EXPECT_TRUE(planned(row).plan.layers.empty());
}

// Sixteen layers and a head of four on four stages: a stage is full above five.
TEST(TableRowPlan, SomeStacksFillStagesByCost) {
  EXPECT_EQ(plan::stage_layers_by_costs(16, 4, {.layer = 1, .head = 4}),
            (std::vector<std::int64_t>{6, 5, 4, 1}));
  EXPECT_EQ(plan::stage_layers_by_costs(8, 2, {.layer = 1, .head = 0}),
            (std::vector<std::int64_t>{5, 3}));
  PublishedRunRow row = row_of("{framework: nanotron}");
  row.layers = 16;
  EXPECT_FALSE(planned(row).plan.layers.empty());
}

TEST(TableRowPlan, NanotronOverlapsGradientsOfUnshardedOptimizersAlone) {
  const plan::PlannedJob made = planned(row_of("{framework: nanotron}"));
  EXPECT_TRUE(made.plan.overlap.gradients);
  EXPECT_FALSE(made.job.kernels.fused_accumulation);
  EXPECT_FALSE(planned(row_of("{framework: nanotron}", "{sharding: NNG}")).plan.overlap.gradients);
}

// A layer of hidden 4, 2 heads of 2 and a gated MLP of 8 has weights of 32, 64, 16 and 48.
TEST(TableRowPlan, BucketsCloseWithTheWeightThatFillsThem) {
  model::ModelArchitecture model;
  model.layers = 2;
  model.hidden = 4;
  model.heads = model.kv_heads = model.head_dim = 2;
  model.ffn = 8;
  EXPECT_EQ(plan::mean_filled_bucket_elements(model, 1, 60), (96 + 64 + 96 + 64) / 4);
  EXPECT_EQ(plan::mean_filled_bucket_elements(model, 1, 33), (96 + 64 + 96 + 64) / 4);
  EXPECT_EQ(plan::mean_filled_bucket_elements(model, 1, 1), 320 / 8);
  EXPECT_EQ(plan::mean_filled_bucket_elements(model, 1, 1000), 1000) << "one that no layer fills";
  EXPECT_EQ(plan::mean_filled_bucket_elements(model, 2, 30), (48 + 32 + 48 + 32) / 4);
  const auto bucket = [](const char* plan) {
    return planned(row_of("{framework: nanotron}", plan)).plan.gradient_bucket;
  };
  const std::int64_t beside = bucket("{sharding: NNN}");
  EXPECT_GE(beside, 25 * 1024 * 1024 / 2);
  EXPECT_GT(bucket("{sharding: NNG}"), 1000 * beside) << "the whole buffer at once";
}

TEST(TableRowPlan, WhatSomeStacksSendBeyondTheirPlan) {
  const auto kernels = [](const std::string& framework) {
    return planned(row_of("{framework: " + framework + "}", "{sharding: NNG}")).job.kernels;
  };
  EXPECT_TRUE(kernels("megatron-deepspeed").scattered_gradients);
  EXPECT_FALSE(kernels("nanotron").scattered_gradients);
  EXPECT_TRUE(kernels("nanotron").fused_gate);
  EXPECT_FALSE(kernels("internevo").fused_gate);
  EXPECT_FALSE(kernels("internevo").wide_gradients);
  const plan::FrameworkKernels aleph = kernels("{name: megatron-lm, variant: aleph-alpha}");
  EXPECT_TRUE(aleph.wide_gradients);
  EXPECT_TRUE(aleph.gathered_logits);
  EXPECT_FALSE(aleph.scattered_gradients);
}

/// Returns a plan file for a row's plan that leaves out everything that is the framework's default.
std::string silent_where_usual(const plan::PlannedJob& made) {
  nlohmann::ordered_json file = plan::plan_json(made);
  nlohmann::ordered_json& job = file["job"];
  job["model"] = model::inline_model_mapping(made.job.model);
  job["cluster"] = cluster::inline_cluster_mapping(made.job.cluster);
  const plan::FrameworkKernels usual =
      plan::default_kernels(made.job.framework, made.job.cluster.device);
  nlohmann::ordered_json& kernels = job["kernels"];
  for (const auto& [flag, name] : plan::kKernelFlagNames) {
    if (made.job.kernels.*flag == usual.*flag) kernels.erase(std::string(name));
  }
  if (made.job.kernels.attention == usual.attention) kernels.erase("attention");
  if (made.job.optimizer == plan::default_optimizer(made.job.framework, made.job.model))
    job.erase("optimizer");
  const plan::Plan& plan = made.plan;
  const plan::OverlapFlags overlap = plan::default_overlap(made.job, plan);
  for (const auto& [flag, name] : plan::kOverlapFlagNames) {
    if (plan.overlap.*flag == overlap.*flag) file["overlap"].erase(std::string(name));
  }
  const plan::BucketSizes buckets = plan::default_bucket_sizes(made.job, plan);
  if (plan.gradient_bucket == buckets.gradients && plan.parameter_bucket == buckets.parameters)
    file.erase("buckets");
  if (plan.layers == plan::default_stage_layers(made.job, plan)) file.erase("layers");
  if (plan.accumulate == plan::default_gradient_type(made.job)) file.erase("accumulate");
  if (plan.tensor_input == plan::default_gathered_input_policy(made.job))
    file.erase("tensor_input");
  return file.dump();
}

/// Returns the number of a table's rows that a plan can express, and of those whose files leave
/// something to the framework.
std::pair<int, int> compare_with_files(const std::filesystem::path& path) {
  const CsvTable table = load_csv(path);
  int rows = 0;
  int silent = 0;
  for (const CsvRow& cells : table.rows) {
    const auto row = read_measured_run_row(table, cells);
    if (!std::holds_alternative<PublishedRunRow>(row)) continue;
    const auto made_row = job_and_plan_of_row(std::get<PublishedRunRow>(row));
    const auto* made = std::get_if<TableRowPlan>(&made_row);
    if (made == nullptr) continue;
    const plan::PlannedJob& said = made->planned;
    const std::string text = silent_where_usual(said);
    const plan::PlannedJob read = plan::read_plan(YamlJsonDocument::parse(text, "plan"), {});
    silent += text.find("\"accumulate\"") == std::string::npos ? 1 : 0;
    ++rows;
    const std::string id = std::get<PublishedRunRow>(row).id;
    EXPECT_EQ(read.plan, said.plan) << id << " " << text;
    EXPECT_EQ(plan::plan_yaml(read, true), plan::plan_yaml(said, true)) << id;
    try {
      EXPECT_EQ(simulate::PlanPricer(read.job, cost::CostModel(read.job)).price(read.plan).seconds,
                simulate::PlanPricer(said.job, cost::CostModel(said.job)).price(said.plan).seconds)
          << id;
    } catch (const Error&) {
      EXPECT_THROW(simulate::PlanPricer(said.job, cost::CostModel(said.job)).price(said.plan),
                   Error)
          << id;
    }
  }
  return {rows, silent};
}

// The defaults of a framework are the same for rows and jobs: those of its file.
TEST(TableRowPlan, AJobThatSaysTheSameHasTheSamePriceForEveryRowOfTheTables) {
  for (const char* name : {"training_runs.csv", "training_runs_2.csv", "memory.csv"}) {
    const auto [rows, silent] = compare_with_files(std::filesystem::path("data") / name);
    EXPECT_GT(rows, 700) << name;
    EXPECT_GT(silent, rows / 4) << name;
  }
}

struct Change {
  const char* what;
  void (*change)(PublishedRunRow& row);
  const char* reason;
};

class RowPlanSkips : public ::testing::TestWithParam<Change> {};

TEST_P(RowPlanSkips, WithAReason) {
  PublishedRunRow row = small_row();
  GetParam().change(row);
  EXPECT_EQ(reason(row), GetParam().reason) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RowPlanSkips,
    ::testing::Values(
        Change{"adapter", [](PublishedRunRow& r) { r.no_plan = "LoRA: frozen weights"; },
               "LoRA: frozen weights"},
        Change{"no layers", [](PublishedRunRow& r) { r.layers.reset(); }, "layers not stated"},
        Change{"no width", [](PublishedRunRow& r) { r.ffn.reset(); }, "ffn_hidden not stated"},
        Change{"no vpp", [](PublishedRunRow& r) { r.chunks.reset(); }, "vpp not stated"},
        Change{"no batch", [](PublishedRunRow& r) { r.micro_batch.reset(); },
               "micro_batch not stated"},
        Change{"degrees", [](PublishedRunRow& r) { r.tensor = 3; },
               "degrees do not divide the GPUs"},
        Change{"illegal", [](PublishedRunRow& r) { r.global_batch = 15; },
               "no legal plan: batch-per-data"},
        Change{"no such profile", [](PublishedRunRow& r) { r.cluster = "deep-thought"; },
               "no job with a plan"},
        Change{"part of a node", [](PublishedRunRow& r) { r.gpus = 12; }, "no job with a plan"},
        Change{"unknown key", [](PublishedRunRow& r) { r.plan = "{zero: 1}"; },
               "no job with a plan"},
        Change{"no mapping", [](PublishedRunRow& r) { r.job = "bf16"; }, "no job with a plan"}));

}  // namespace
}  // namespace stepwright::validate
