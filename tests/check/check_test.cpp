#include "stepwright/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/plan/files.h"
#include "tests/core/refusal.h"

namespace stepwright::check {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Checks a job with so many layers and further arguments.
JobCheckResult checked(int layers, const std::string& more,
                       const std::string& cluster = "dgx-h100") {
  const launch_scripts::SourceFile file{
      "train.sh", "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers " +
                      std::to_string(layers) +
                      " --hidden-size 4096 --num-attention-heads 32 --vocab-size 32000 "
                      "--seq-length 4096 --max-position-embeddings 4096 --bf16 "
                      "--micro-batch-size 1 --global-batch-size 64 " +
                      more};
  framework_files::UserFacts given;
  given.cluster = cluster;
  return check_job(framework_files::import_plan_files("megatron", {&file, 1}, given, true));
}

TEST(Check, AGoodJobHasNoFault) {
  const JobCheckResult check = checked(8, "--use-distributed-optimizer");
  EXPECT_EQ(check.starts(), JobStartVerdict::kYes);
  EXPECT_TRUE(check.fits());
  EXPECT_EQ(reason_not_to_submit_job(check, std::nullopt), "");
  EXPECT_GT(check.prediction->step_time_s(), 0);
}

TEST(Check, SaysWhereMemoryRunsOut) {
  const JobCheckResult check = checked(80, "--pipeline-model-parallel-size 2", "dgx-a100-40g");
  ASSERT_EQ(check.starts(), JobStartVerdict::kYes);
  EXPECT_FALSE(check.fits());
  const auto& stages = check.prediction->memory.stages;
  for (const memory::StageMemory& stage : stages) {
    EXPECT_LE(stage.peak_bytes, stages[static_cast<std::size_t>(check.fullest.stage)].peak_bytes);
  }
  EXPECT_EQ(
      plan::RankGrid(check.prediction->planned.plan).coordinates(check.fullest.first_rank).pipeline,
      check.fullest.stage);
  EXPECT_THAT(reason_not_to_submit_job(check, std::nullopt), HasSubstr("does not fit: stage"));
}

TEST(Check, WhatIsTightIsNoFault) {
  JobCheckResult check = checked(8, "--use-distributed-optimizer");
  memory::MemoryReport& memory = check.prediction->memory;
  memory.reserve_bytes = memory.capacity_bytes;
  memory.p_fits = 0.83;
  EXPECT_EQ(memory.memory_fit_verdict_of_job(), memory::MemoryFitVerdict::kTight);
  EXPECT_EQ(reason_not_to_submit_job(check, std::nullopt), "");
  EXPECT_EQ(job_check_json(check, "")["verdict"], "tight");
  memory.p_fits = 0.05;
  EXPECT_THAT(reason_not_to_submit_job(check, std::nullopt),
              HasSubstr("probability that it fits: 5.0%"));
}

TEST(Check, SaysWhyItDoesNotStart) {
  const JobCheckResult check = checked(2, "--pipeline-model-parallel-size 4");
  EXPECT_EQ(check.starts(), JobStartVerdict::kNo);
  EXPECT_FALSE(check.prediction);
  EXPECT_THAT(reason_not_to_submit_job(check, std::nullopt), HasSubstr("stages-within-layers"));
  const JobCheckResult uneven = checked(30, "--pipeline-model-parallel-size 4");
  EXPECT_EQ(uneven.starts(), JobStartVerdict::kNo);
  EXPECT_THAT(reason_not_to_submit_job(uneven, std::nullopt),
              HasSubstr("30 layers are not a multiple of 4 stages"));
}

TEST(Check, AnArgumentThatTheParserRejectsDoesNotStart) {
  const JobCheckResult bogus = checked(8, "--bogus-flag 3");
  EXPECT_EQ(bogus.starts(), JobStartVerdict::kNo);
  EXPECT_THAT(
      reason_not_to_submit_job(bogus, std::nullopt),
      AllOf(
          HasSubstr("does not start: train.sh:1: --bogus-flag is not a known setting of megatron"),
          Not(HasSubstr("more"))));
  EXPECT_TRUE(bogus.prediction);
  const JobCheckResult typed = checked(8, "--use-distrbuted-optimizer --bogus-flag 3");
  EXPECT_THAT(typed.reason_job_may_not_start(),
              AllOf(HasSubstr("did you mean --use-distributed-optimizer?"),
                    HasSubstr("(and 1 setting more)")));
}

TEST(Check, AnArgumentBesideThoseOfAForkMayStart) {
  const JobCheckResult check = checked(8, "--use-fused-rmsnorm --bogus-flag 3");
  EXPECT_EQ(check.starts(), JobStartVerdict::kUnknown);
  EXPECT_THAT(check.reason_job_may_not_start(),
              HasSubstr("train.sh:1: --bogus-flag is not a known setting of megatron"));
  EXPECT_THAT(reason_not_to_submit_job(check, std::nullopt),
              HasSubstr("may not start: train.sh:1: --bogus-flag"));
  EXPECT_EQ(checked(8, "--use-fused-rmsnorm").starts(), JobStartVerdict::kYes);
}

TEST(Check, ASettingThatNobodyHasHeardOfMayStart) {
  const launch_scripts::SourceFile file{
      "train.yaml",
      "base_model: Qwen/Qwen3-0.6B\nmicro_batch_size: 1\nsequence_len: 2048\nbf16: true\n"
      "gradient_accumulation_steps: 1\nsample_paking: true\n"};
  framework_files::UserFacts given;
  given.cluster = "dgx-h100:1";
  const JobCheckResult check =
      check_job(framework_files::import_plan_files("axolotl", {&file, 1}, given, true));
  EXPECT_EQ(check.starts(), JobStartVerdict::kUnknown);
  EXPECT_THAT(check.reason_job_may_not_start(),
              HasSubstr("sample_paking is not a known setting of axolotl"));
}

TEST(Check, ChangesAreSaidInWordsOfTheFile) {
  const JobCheckResult check = checked(
      8, "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
  ASSERT_FALSE(check.better->changes.empty());
  ASSERT_EQ(check.in_files.size(), check.better->changes.size());
  std::vector<std::string> all;
  for (const auto& words : check.in_files) all.insert(all.end(), words.begin(), words.end());
  EXPECT_THAT(all, Contains("without --recompute-granularity full"));
}

TEST(Check, TheChangesLeadToAPlanThatIsAsFastAsTheyGain) {
  const JobCheckResult check =
      checked(32,
              "--tensor-model-parallel-size 8 --recompute-granularity full "
              "--recompute-method uniform --recompute-num-layers 1");
  ASSERT_FALSE(check.better->changes.empty());
  const double own = check.better->own.step_time_s;
  const double best = check.better->changes.back().reached.step_time_s;
  EXPECT_NEAR(check.step_time_saving_share(), 1 - best / own, 1e-9);
  EXPECT_GT(check.step_time_saving_share(), 0.1);
  EXPECT_THAT(reason_not_to_submit_job(check, 0.1), HasSubstr("wastes "));
  EXPECT_EQ(reason_not_to_submit_job(check, check.step_time_saving_share() + 0.01), "");
}

TEST(Check, WhatDoesNotFitNamesWhatWasNotRead) {
  const JobCheckResult check =
      checked(80,
              "--pipeline-model-parallel-size 2 --moe-permute-fusion --use-tp-pp-dp-mapping "
              "--empty-unused-memory-level 2",
              "dgx-a100-40g");
  EXPECT_THAT(reason_not_to_submit_job(check, std::nullopt),
              HasSubstr("not counted are settings that were not read ("));
  const JobCheckResult plain = checked(80, "--pipeline-model-parallel-size 2", "dgx-a100-40g");
  EXPECT_THAT(reason_not_to_submit_job(plain, std::nullopt), Not(HasSubstr("not read")));
}

TEST(Check, AnswersWhereTheTableOfTheFrameworkHasNoPlan) {
  // LLaMA-Factory's second trainer: Ulysses makes two ranks of four sequences on eight devices.
  const launch_scripts::SourceFile file{
      "train.yaml",
      "model: Qwen/Qwen3-0.6B\ntrain_dataset: data.yaml\noutput_dir: out\n"
      "micro_batch_size: 1\nglobal_batch_size: 4\ncutoff_len: 2048\n"
      "bf16: true\ndist_config:\n  name: fsdp2\n  dcp_path: null\n"
      "  cp_mode: ulysses\n  cp_size: 2\n"};
  framework_files::UserFacts given;
  given.cluster = "dgx-h100:1";
  const JobCheckResult check =
      check_job(framework_files::import_plan_files("llama-factory", {&file, 1}, given, true));
  EXPECT_EQ(check.starts(), JobStartVerdict::kYes);
  EXPECT_TRUE(check.fits());
  EXPECT_FALSE(check.better);
  EXPECT_EQ(check.step_time_saving_share(), 0);
  EXPECT_EQ(reason_not_to_submit_job(check, 0.01), "");
}

TEST(Check, WhatNoSearchCanTakeIsAnErrorOfItsOwn) {
  const launch_scripts::SourceFile file{
      "train.sh",
      "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 8 "
      "--hidden-size 4096 --num-attention-heads 32 --vocab-size 32000 "
      "--seq-length 4096 --max-position-embeddings 4096 --bf16 "
      "--micro-batch-size 1 --global-batch-size 64"};
  framework_files::UserFacts given;
  given.cluster = "dgx-h100";
  framework_files::ImportedPlan imported =
      framework_files::import_plan_files("megatron", {&file, 1}, given, true);
  imported.planned.job.space.tensor = {0};
  EXPECT_THAT(refusal([&] { check_job(imported); }), HasSubstr("search.tensor lists 0"));
}

TEST(Check, WhatChangesSetIsAPlanOfThatTime) {
  const JobCheckResult check = checked(32, "--tensor-model-parallel-size 4 --sequence-parallel");
  ASSERT_FALSE(check.better->changes.empty());
  std::vector<std::string> sets;
  for (const tune::PlanChange& change : check.better->changes) {
    sets.insert(sets.end(), change.set.begin(), change.set.end());
  }
  const plan::PlannedJob changed = plan::plan_with_fields(check.prediction->planned, sets);
  EXPECT_NEAR(simulate::predict_plan(changed).step_time_s(),
              check.better->changes.back().reached.step_time_s, 1e-9);
}

}  // namespace
}  // namespace stepwright::check
