#include "stepwright/framework_files/megatron/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/draft/tables.h"

namespace stepwright::framework_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A file that a rule has read.
struct File {
  File(const SettingTranslationRule& rule, const std::string& text, const plan::Plan& before = {},
       bool routed = false)
      : document(YamlJsonDocument::parse(text, "job.yaml")),
        fields(document.root()),
        reading(read_settings_by_rule(rule, fields,
                                      {.framework = {.name = "megatron-core"}, .routed = routed},
                                      {.plan = before})) {}

  YamlJsonDocument document;
  FrameworkSettingsReader fields;
  SettingRuleReadResult reading;
};

std::string written(const SettingTranslationRule& rule, const plan::Plan& plan) {
  plan::PlannedJob planned;
  planned.plan = plan;
  DocumentTree fields = DocumentTree::make_empty_mapping();
  write_settings_by_rule(rule, planned, "", fields);
  return YamlJsonDocument::from_tree(fields, "job.yaml").to_yaml();
}

TEST(Places, AreSwitchesAndCountsOfAPlan) {
  plan::Plan plan;
  write_plan_switch_or_count(plan, "parallel.tensor", std::int64_t{4});
  write_plan_switch_or_count(plan, "overlap.expert", true);
  EXPECT_EQ(plan.parallel.tensor, 4);
  EXPECT_TRUE(plan.overlap.expert);
  EXPECT_EQ(read_plan_switch_or_count(plan, "parallel.tensor"), Plain(std::int64_t{4}));
  EXPECT_EQ(read_plan_switch_or_count(plan, "overlap.expert"), Plain(true));
  EXPECT_EQ(read_plan_switch_or_count(plan, "recompute"), std::nullopt);
}

TEST(Places, RefuseWhatARowMayNotSet) {
  plan::Plan plan;
  EXPECT_THROW(write_plan_switch_or_count(plan, "parallel.tensor", true), std::bad_variant_access);
  EXPECT_THROW(write_plan_switch_or_count(plan, "parallel.tensors", std::int64_t{4}),
               std::bad_optional_access);
}

TEST(Rows, OfMegatronHavePlacesAndUsualValues) {
  for (const SettingTranslationRule* rule :
       {&kDegrees, &kMicroBatch, &kPipeline, &kTensorOverlap, &kExpertOverlap}) {
    ASSERT_FALSE(rule->rows.empty());
    for (const std::string_view key : rule->rows) {
      const KnownSetting& row = find_setting_row(rule->table, key);
      EXPECT_TRUE(read_plan_switch_or_count(plan::Plan(), row.field)) << key;
      EXPECT_FALSE(row.usual.text_for_framework(kOtherFrameworksKey).empty()) << key;
      EXPECT_TRUE(row.when.empty() || read_plan_switch_or_count(plan::Plan(), row.when)) << key;
    }
  }
}

TEST(Rows, SayWhatOneFrameworkHasOtherwise) {
  EXPECT_EQ(megatron_default_value("kv_lora_rank", {.name = "nemo"}), "512");
  EXPECT_EQ(megatron_default_value("kv_lora_rank", {.name = "megatron-core"}), "32");
  EXPECT_EQ(megatron_default_value("wgrad_deferral_limit", {.name = "nemo"}), "");
  EXPECT_THROW(megatron_setting_row("no_such_setting"), Error);
}

TEST(Rows, TakeTheDefaultOfTheFrameworkWhereAFileIsSilent) {
  const plan::Plan before{.parallel = {.tensor = 8, .data = 2}};
  const plan::Plan plan = File(kDegrees, "pipeline_model_parallel_size: 4", before).reading.plan;
  EXPECT_EQ(plan.parallel.tensor, 1);
  EXPECT_EQ(plan.parallel.pipeline, 4);
  EXPECT_EQ(plan.parallel.data, 2);
}

TEST(Rows, LeaveOutADefaultUnlessItIsAlwaysWritten) {
  plan::Plan plan{.parallel = {.tensor = 2}};
  const std::string degrees =
      "tensor_model_parallel_size: 2\npipeline_model_parallel_size: 1\ncontext_parallel_size: 1\n";
  EXPECT_EQ(written(kDegrees, plan), degrees);
  plan.sequence_parallel = true;
  EXPECT_EQ(written(kDegrees, plan), degrees + "sequence_parallel: true\n");
}

TEST(Rows, LeaveOutWhatOtherPlansDoNotSay) {
  plan::Plan plan;
  plan.overlap.tensor = true;
  EXPECT_EQ(written(kTensorOverlap, plan), "{}\n");
  plan.sequence_parallel = true;
  EXPECT_EQ(written(kTensorOverlap, plan), "tp_comm_overlap: true\n");
}

TEST(Rows, FailWithThePlaceOfAWrongValue) {
  try {
    const File file(kDegrees, "tensor_model_parallel_size: two");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("job.yaml:1:29: tensor_model_parallel_size"));
  }
}

TEST(MegatronDegrees, HaveNoSequenceParallelismOfOneTensorRank) {
  EXPECT_FALSE(File(kDegrees, "sequence_parallel: true").reading.plan.sequence_parallel);
}

TEST(MegatronDegrees, OfExpertsAreNotReadWithoutExperts) {
  const std::string text = "expert_model_parallel_size: 8";
  EXPECT_EQ(File(kExpertDegrees, text, {}, true).reading.plan.parallel.expert, 8);
  const File dense(kExpertDegrees, text);
  EXPECT_EQ(dense.reading.plan.parallel.expert, 1);
  EXPECT_FALSE(dense.fields.was_setting_read("expert_model_parallel_size"));
}

TEST(MegatronRecompute, LeavesOutModulesThatNoPlanHas) {
  const File file(kRecompute,
                  "recompute_granularity: selective\nrecompute_modules: [layernorm, mhc, mlp]\n");
  ASSERT_EQ(file.reading.left_out.size(), 1U);
  EXPECT_EQ(file.reading.left_out.front().first.dotted_path(), "recompute_modules");
  EXPECT_EQ(file.reading.left_out.front().second, "recomputation of the module mhc");
  EXPECT_EQ(written(kRecompute, file.reading.plan),
            "recompute_granularity: selective\nrecompute_modules: [mlp, layernorm]\n");
}

TEST(MegatronRecompute, ReadsCountsOfLayersOnlyWhereItIsFull) {
  const std::string count = "recompute_num_layers: 2\nnum_layers: 8\n";
  EXPECT_FALSE(File(kRecompute, count).fields.was_setting_read("recompute_num_layers"));
  const File full(kRecompute, count + "recompute_granularity: full\n");
  EXPECT_TRUE(full.fields.was_setting_read("recompute_num_layers"));
  ASSERT_EQ(full.reading.left_out.size(), 1U);
  EXPECT_THAT(full.reading.left_out.front().second, HasSubstr("one input of 2 layers"));
}

TEST(MegatronOffload, ReadsWhatItWrites) {
  plan::Plan plan;
  plan.offload = {.optimizer = 0.5, .masters = true};
  EXPECT_EQ(File(kOffload, written(kOffload, plan)).reading.plan, plan);
}

TEST(MegatronSharding, ReadsWhatItWrites) {
  for (const char* word : {"NNN", "NNG", "NNI", "NGG", "GGG", "III", "IIG"}) {
    plan::Plan plan{.parallel = {.data = 8}};
    plan.sharding = plan::sharding_named_by_word(word).value();
    if (plan.sharding.uses(plan::StateShardingScope::kInner)) plan.sharding.group = 4;
    plan.overlap.parameters = false;
    EXPECT_EQ(File(kSharding, written(kSharding, plan), plan).reading.plan, plan) << word;
  }
}

TEST(MegatronSharding, SaysWhichBucketsItAssumes) {
  const SettingRuleReadResult reading = File(kSharding, "{}", {.parallel = {.data = 64}}).reading;
  EXPECT_EQ(reading.plan.gradient_bucket, 64'000'000);
  EXPECT_THAT(reading.notes, ElementsAre(HasSubstr("64000000 elements")));
}

TEST(MegatronPipeline, TakesALayoutInPlaceOfCounts) {
  const File file(kPipeline,
                  "pipeline_model_parallel_layout: Et|tt|tt|tL\nnum_layers: 6\n"
                  "num_layers_in_first_pipeline_stage: 2\n",
                  {.parallel = {.pipeline = 2}});
  EXPECT_THAT(file.reading.plan.layers, ElementsAre(1, 2, 2, 1));
  EXPECT_EQ(file.reading.plan.schedule.chunks, 2);
  EXPECT_FALSE(file.fields.was_setting_read("num_layers_in_first_pipeline_stage"));
}

TEST(MegatronPipeline, RefusesLayersThatStagesDoNotShareEvenly) {
  const plan::Plan plan{.parallel = {.pipeline = 4}};
  const SettingRuleReadResult even = File(kPipeline, "num_layers: 8", plan).reading;
  EXPECT_FALSE(even.refused);
  EXPECT_THAT(even.plan.layers, IsEmpty());
  const SettingRuleReadResult uneven = File(kPipeline, "num_layers: 9", plan).reading;
  ASSERT_TRUE(uneven.refused);
  EXPECT_EQ(uneven.refused->rule, plan::PlanLegalityRule::kLayerSplit);
}

}  // namespace
}  // namespace stepwright::framework_files
