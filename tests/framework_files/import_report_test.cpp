#include "stepwright/framework_files/draft/import_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

constexpr const char* kOddScript = R"(torchrun --nproc_per_node 8 pretrain_gpt.py \
  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 \
  --max-position-embeddings 4096 --vocab-size 32000 --micro-batch-size 2 \
  --global-batch-size 64 --bf16 --lr 1e-4 --cpu-offloading-num-layers 4 \
  --tensor-model-parallel-size 2 --sequence-paralel --our-own 3
)";

ImportedPlan imported(const std::string& text, UserFacts given = {}) {
  if (given.cluster.empty()) given.cluster = "dgx-h100";
  const launch_scripts::SourceFile file{"train.sh", text};
  return import_plan_files("", {&file, 1}, given);
}

auto unread(const std::string& name, SettingImpact matters, const std::string& why) {
  return Contains(AllOf(Field(&SettingNotInPlan::name, name),
                        Field(&SettingNotInPlan::matters, matters),
                        Field(&SettingNotInPlan::why, HasSubstr(why))));
}

TEST(ImportReport, SaysWhatWasReadWhereAndWhatFor) {
  const ImportReport report = imported(kOddScript).report;
  const ImportedSetting& first = report.read.front();
  EXPECT_EQ(first.name, "--tensor-model-parallel-size");
  EXPECT_EQ(first.value, "2");
  EXPECT_EQ(first.field, "parallel.tensor");
  EXPECT_EQ(first.line, 5U);
  for (const ImportedSetting& one : report.read) EXPECT_NE(one.field, "") << one.name;
}

TEST(ImportReport, SaysWhatWasNotReadAndWhetherItMatters) {
  const ImportReport report = imported(kOddScript).report;
  EXPECT_THAT(report.not_read, unread("--lr", SettingImpact::kNo, ""));
  EXPECT_THAT(report.not_read, unread("--our-own", SettingImpact::kMaybe, ""));
  EXPECT_THAT(report.not_read, unread("--sequence-paralel", SettingImpact::kMaybe,
                                      "did you mean --sequence-parallel?"));
  EXPECT_THAT(report.not_read,
              unread("--cpu-offloading-num-layers", SettingImpact::kYes, "offload"));
  EXPECT_EQ(report.not_read.front().matters, SettingImpact::kYes);
  EXPECT_EQ(report.not_read.back().matters, SettingImpact::kNo);
}

TEST(ImportReport, GuessesAtTheFirstUnknownNamesAlone) {
  std::string text(kOddScript);
  text.pop_back();
  for (int i = 0; i < 200; ++i) text += " --num-layerz" + std::to_string(i % 10) + " 1";
  const ImportReport report = imported(text + "\n").report;
  const auto guessed = std::ranges::count_if(report.not_read, [](const SettingNotInPlan& one) {
    return one.why.starts_with("did you mean");
  });
  EXPECT_GT(guessed, 50);
  EXPECT_LE(guessed, 100);
  EXPECT_GE(report.not_read.size(), 200);
}

TEST(ImportReport, EachFieldOfThePlanIsReadOrAssumed) {
  const ImportReport report = imported(kOddScript).report;
  const auto assumed = [](const std::string& field, const std::string& why) {
    return Contains(AllOf(Field(&AssumedPlanField::field, field),
                          Field(&AssumedPlanField::why, HasSubstr(why))));
  };
  EXPECT_THAT(report.assumed, assumed("parallel.pipeline", "default of megatron-core"));
  EXPECT_THAT(report.assumed, assumed("parallel.data", "8 devices divided by"));
  EXPECT_THAT(report.assumed, assumed("job.cluster", "--cluster"));
  for (const AssumedPlanField& one : report.assumed) {
    EXPECT_THAT(report.read, Not(Contains(Field(&ImportedSetting::field, one.field))));
    EXPECT_NE(one.value, "") << one.field;
  }
}

TEST(ImportReport, StrictNamesWhatMayChangeThePrediction) {
  try {
    check_all_settings_read(imported(kOddScript).report);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("--our-own (train.sh:5)"), HasSubstr("--cpu-offloading-num-layers"),
                      Not(HasSubstr("--lr"))));
  }
}

TEST(ImportReport, NodesAndGpusStandInThePlaceOfTheScripts) {
  UserFacts given;
  given.nodes = 2;
  EXPECT_EQ(imported(kOddScript, given).planned.job.cluster.devices(), 16);
  given = {};
  given.devices = 4;
  EXPECT_EQ(imported(kOddScript, given).planned.job.cluster.devices(), 4);
}

TEST(ImportReport, SettingsStandInThePlaceOfAConfigurations) {
  UserFacts given;
  given.cluster = "dgx-h100";
  given.model = "llama-3-8b";
  given.settings = {"zero_optimization.stage=2"};
  given.batch = "64x4096";
  const launch_scripts::SourceFile file{
      "ds.json", R"({"zero_optimization": {"stage": 3}, "bf16": {"enabled": true},
      "train_micro_batch_size_per_gpu": 1})"};
  const ImportedPlan plan = import_plan_files("", {&file, 1}, given);
  EXPECT_EQ(plan.target, "deepspeed");
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NGG");
  given.settings = {"zero_optimization"};
  EXPECT_THROW(import_plan_files("", {&file, 1}, given), Error);
}

TEST(ImportReport, TheContentSaysWhoseAFileIs) {
  const launch_scripts::SourceFile file{"notes.txt", "a text of nobody's"};
  try {
    import_plan_files("", {&file, 1}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("notes.txt: its content does not show the framework"));
  }
}

TEST(ImportReport, EchoesNoControlCharacters) {
  const ImportReport report =
      imported(std::string(kOddScript) + "--own-\x1b[31m \"\xe2\x80\xae\"\n").report;
  for (const SettingNotInPlan& one : report.not_read) {
    EXPECT_EQ((one.name + one.value).find('\x1b'), std::string::npos);
    EXPECT_EQ((one.name + one.value).find("\xe2\x80\xae"), std::string::npos);
  }
}

}  // namespace
}  // namespace stepwright::framework_files
