#include "stepwright/plan/legality.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "tests/plan/random_plans.h"

namespace stepwright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Legal on the sixteen devices of the small jobs: tensor 2, context 2, data 2, pipeline 2.
Plan legal_plan() {
  Plan plan;
  plan.parallel = {.tensor = 2, .pipeline = 2, .context = 2, .data = 2};
  return plan;
}

/// A legal plan of the job with experts, expert 4.
Plan legal_expert_plan() {
  Plan plan = legal_plan();
  plan.parallel.expert = 4;
  plan.sequence_parallel = true;
  return plan;
}

/// A way to break one rule, and what the refusal says after the name of the rule.
struct Break {
  Rule rule{};
  bool experts = false;
  std::function<void(Job&, Plan&)> change;
  std::string message;
};

std::vector<Break> grid_breaks() {
  return {
      {Rule::kPositive, false, [](Job&, Plan& plan) { plan.micro_batch = 0; },
       "micro_batch is 0, and sizes are at least 1; nearest legal: micro_batch 1"},
      {Rule::kPositive, false, [](Job&, Plan& plan) { plan.parallel.data = -2; },
       "parallel.data is -2, and sizes are at least 1; nearest legal: data 2"},
      {Rule::kWorldSize, false, [](Job&, Plan& plan) { plan.parallel.data = 3; },
       "tensor 2 x context 2 x data 3 x pipeline 2 are not the 16 devices; nearest legal: data 2"},
      {Rule::kWorldSize, false, [](Job&, Plan& plan) { plan.parallel.pipeline = 3; },
       "tensor 2 x context 2 x data 2 x pipeline 3 are not the 16 devices; nearest legal: "
       "pipeline 2, or pipeline 4 with data 1"},
      {Rule::kRankOrder, true,
       [](Job&, Plan& plan) {
         plan.parallel.expert = 2;
         plan.rank_order = *rank_order_of("tp-cp-ep-pp-dp");
       },
       "under tp-cp-ep-pp-dp the pipeline has stride 4 on the dense and 2 on the expert side; "
       "nearest legal: rank_order tp-cp-ep-dp-pp"},
      {Rule::kRankOrder, false, [](Job&, Plan& plan) { plan.rank_order.axes[0] = Axis::kPipeline; },
       "pp-cp-ep-dp-pp does not name each axis once; nearest legal: rank_order tp-cp-ep-dp-pp"}};
}

std::vector<Break> cut_breaks() {
  return {
      {Rule::kTensorDividesHeads, false,
       [](Job& job, Plan& plan) {
         job.model.heads = job.model.kv_heads = 40;
         job.model.ffn = 320;
         plan.parallel = {.tensor = 16};
       },
       "40 heads are not a multiple of tensor 16; nearest legal: tensor 8 with data 2"},
      {Rule::kTensorDividesHeads, false,
       [](Job&, Plan& plan) { plan.parallel = {.tensor = 8, .data = 2}; },
       "4 kv_heads are not a multiple of tensor 8; nearest legal: tensor 4 with data 4"},
      {Rule::kTensorDividesFfn, false,
       [](Job& job, Plan& plan) {
         job.model.ffn = 102;
         plan.parallel = {.tensor = 4, .data = 4};
       },
       "ffn 102 is not a multiple of tensor 4; nearest legal: tensor 2 with data 8"},
      {Rule::kTensorDividesFfn, true, [](Job& job, Plan&) { job.model.experts->shared_ffn = 33; },
       "shared_ffn 33 is not a multiple of tensor 2; nearest legal: tensor 1 with data 4, "
       "sequence_parallel false"},
      {Rule::kSequenceParallelNeedsTensor, false,
       [](Job&, Plan& plan) {
         plan.parallel = {.data = 16};
         plan.sequence_parallel = true;
       },
       "sequence_parallel cuts over the tensor ranks, and tensor is 1; nearest legal: "
       "sequence_parallel false"},
      {Rule::kContextDividesLength, false, [](Job& job, Plan&) { job.length = 62; },
       "length 62 is not a multiple of 2 x context 2; nearest legal: context 1 with data 4"},
      {Rule::kUlyssesDividesHeads, false,
       [](Job&, Plan& plan) {
         plan.parallel = {.tensor = 2, .context = 4, .data = 2};
         plan.context_kind = ContextKind::kUlysses;
       },
       "4 kv_heads / tensor 2 are not a multiple of context 4 (ulysses); nearest legal: context 2 "
       "with data 4"},
      {Rule::kLengthDividesTensor, false,
       [](Job& job, Plan& plan) {
         job.length = 4;
         plan.parallel = {.tensor = 4, .context = 2, .data = 2};
         plan.sequence_parallel = true;
       },
       "length 4 / context 2 is not a multiple of tensor 4 (sequence_parallel); nearest legal: "
       "sequence_parallel false"},
      {Rule::kLengthWithinPositions, false,
       [](Job& job, Plan&) {
         job.model.position = Position::kLearned;
         job.length = 128;
       },
       "length 128 is beyond the 64 learned positions of small; nearest legal: batch.length 64"}};
}

std::vector<Break> expert_breaks() {
  return {
      {Rule::kExpertNeedsExperts, false, [](Job&, Plan& plan) { plan.parallel.expert = 2; },
       "expert 2 and expert_tensor 1, and small has no experts; nearest legal: expert 1"},
      {Rule::kExpertDividesExperts, true, [](Job&, Plan& plan) { plan.parallel.expert = 3; },
       "8 experts are not a multiple of expert 3; nearest legal: expert 2, or expert 4"},
      {Rule::kExpertTensorDividesFfn, true,
       [](Job& job, Plan& plan) {
         job.model.experts->ffn = 50;
         plan.parallel.expert = 1;
         plan.parallel.expert_tensor = 4;
       },
       "expert ffn 50 is not a multiple of expert_tensor 4; nearest legal: expert_tensor 2"},
      {Rule::kExpertGridDivides, true, [](Job&, Plan& plan) { plan.parallel.expert_tensor = 4; },
       "expert 4 x expert_tensor 4 do not divide tensor 2 x context 2 x data 2 = 8; nearest legal: "
       "expert 2"},
      {Rule::kExpertNeedsSequenceParallel, true,
       [](Job&, Plan& plan) { plan.sequence_parallel = false; },
       "expert 4 and expert_tensor 1 with tensor 2 need sequence_parallel: without it the tensor "
       "ranks route the same tokens; nearest legal: sequence_parallel true"}};
}

std::vector<Break> schedule_breaks() {
  const auto interleave = [](Plan& plan, std::int64_t chunks) {
    plan.schedule = {ScheduleKind::kInterleaved, chunks};
  };
  return {
      {Rule::kStagesWithinLayers, false, [=](Job&, Plan& plan) { interleave(plan, 5); },
       "pipeline 2 x chunks 5 are more than the 8 layers; nearest legal: chunks 4"},
      {Rule::kLayerSplit, false, [](Job&, Plan& plan) { plan.layers = {4, 5}; },
       "layers [4, 5] do not split 8 layers into 2 chunks (pipeline 2 x chunks 1) of 1 or more; "
       "nearest legal: layers even"},
      {Rule::kChunksNeedInterleaving, false, [](Job&, Plan& plan) { plan.schedule.chunks = 2; },
       "2 chunks need the interleaved schedule, and it is 1f1b; nearest legal: chunks 1, or "
       "schedule interleaved"},
      {Rule::kInterleavingNeedsChunks, false, [=](Job&, Plan& plan) { interleave(plan, 1); },
       "an interleaved schedule has at least 2 chunks, and chunks is 1; nearest legal: schedule "
       "1f1b, or chunks 2"},
      {Rule::kInterleavingNeedsPipeline, false,
       [=](Job&, Plan& plan) {
         plan.parallel = {.data = 16};
         interleave(plan, 2);
       },
       "an interleaved schedule needs a pipeline, and pipeline is 1; nearest legal: schedule 1f1b "
       "with chunks 1"},
      {Rule::kBatchDivides, false, [](Job&, Plan& plan) { plan.micro_batch = 3; },
       "32 sequences are not a multiple of data 2 x micro_batch 3; nearest legal: micro_batch 2, "
       "or micro_batch 4"},
      {Rule::kBatchDivides, false, [](Job& job, Plan&) { job.sequences = 7; },
       "7 sequences are not a multiple of data 2 x micro_batch 1; nearest legal: pipeline 4 with "
       "data 1"},
      {Rule::kInterleavingNeedsGroups, false,
       [=](Job&, Plan& plan) {
         plan.micro_batch = 16;
         interleave(plan, 2);
       },
       "1 micro-batches are not a multiple of pipeline 2 (interleaved); nearest legal: "
       "micro_batch 8"}};
}

std::vector<Break> state_breaks() {
  return {
      {Rule::kShardingStrategy, false,
       [](Job&, Plan& plan) { plan.sharding.parameters = Spread::kGlobal; },
       "sharding GNN splits the optimizer states less finely than parameters or gradients; nearest "
       "legal: sharding GNG, or sharding NNN"},
      {Rule::kShardingGroup, false,
       [](Job&, Plan& plan) {
         plan.sharding = *sharding_of("IIG");
         plan.sharding.group = 3;
       },
       "group 3 does not cut context 2 x data 2 into equal runs of ranks; nearest legal: sharding "
       "group 2, or sharding group 4"},
      {Rule::kShardingGroup, false, [](Job&, Plan& plan) { plan.sharding.group = 2; },
       "group 2 has no use in NNN, which splits nothing inside groups; nearest legal: sharding "
       "group 1"},
      {Rule::kShardingGroup, false,
       [](Job& job, Plan& plan) {
         job.cluster = small_cluster(3, 8);
         plan.parallel = {.tensor = 2, .context = 4, .data = 3};
         plan.rank_order = *rank_order_of("cp-tp-ep-dp-pp");
         job.sequences = 24;
         plan.sharding = *sharding_of("III");
         plan.sharding.group = 6;
       },
       "group 6 does not cut context 4 x data 3 into equal runs of ranks; nearest legal: sharding "
       "group 4, or sharding group 12"},
      {Rule::kExpertShardingGroup, true,
       [](Job&, Plan& plan) {
         plan.sharding = *sharding_of("III");
         plan.sharding.expert_group = 4;
       },
       "expert_group 4 does not divide the 2 ranks that hold the same experts; nearest legal: "
       "expert group 2"},
      {Rule::kExpertShardingGroup, true, [](Job&, Plan& plan) { plan.sharding.expert_group = 2; },
       "expert_group 2 has no use in NNN, which splits nothing inside groups; nearest legal: "
       "expert "
       "group 1"},
      {Rule::kExpertShardingGroup, false,
       [](Job&, Plan& plan) {
         plan.sharding = *sharding_of("III");
         plan.sharding.expert_group = 2;
       },
       "expert_group 2, and small has no experts; nearest legal: expert group 1"},
      {Rule::kRecomputeEvery, false,
       [](Job&, Plan& plan) { plan.recompute = {RecomputeKind::kEvery, 0}; },
       "recompute every 0 layers; it is at least 1; nearest legal: recompute every 1"},
      {Rule::kPrecision, false, [](Job& job, Plan&) { job.precision = DType::kFp8; },
       "toy has no rate for fp8; nearest legal: precision fp32 or bf16"},
      {Rule::kAccumulate, false, [](Job&, Plan& plan) { plan.accumulate = DType::kFp16; },
       "gradients stored as bf16 are not accumulated in fp16; nearest legal: accumulate fp32"}};
}

std::vector<Break> all_breaks() {
  std::vector<Break> breaks;
  for (const auto& some :
       {grid_breaks(), cut_breaks(), expert_breaks(), schedule_breaks(), state_breaks()}) {
    breaks.insert(breaks.end(), some.begin(), some.end());
  }
  return breaks;
}

TEST(Legality, AcceptsTheExamples) {
  EXPECT_FALSE(illegal(small_job(), legal_plan()));
  EXPECT_FALSE(illegal(small_expert_job(), legal_expert_plan()));
}

TEST(Legality, NamesTheRuleTheValuesAndTheNearestLegalPlans) {
  for (const Break& way : all_breaks()) {
    Job job = way.experts ? small_expert_job() : small_job();
    Plan plan = way.experts ? legal_expert_plan() : legal_plan();
    way.change(job, plan);
    const std::optional<Rejected> rejected = illegal(job, plan);
    ASSERT_TRUE(rejected) << way.message;
    EXPECT_EQ(rule_name(rejected->rule), rule_name(way.rule)) << rejected->message;
    EXPECT_THAT(rejected->message, HasSubstr(way.message));
    EXPECT_THAT(rejected->message, testing::StartsWith(std::string(rule_name(way.rule)) + ": "));
    EXPECT_LE(rejected->nearest.size(), 2);
    for (const Plan& near : rejected->nearest) EXPECT_FALSE(broken_rule(job, near));
    const bool of_job =
        rejected->rule == Rule::kPrecision || rejected->rule == Rule::kLengthWithinPositions;
    EXPECT_EQ(rejected->nearest.empty(), of_job) << rejected->message;
  }
}

TEST(Legality, EveryRuleIsBrokenOnce) {
  std::set<Rule> broken;
  for (const Break& way : all_breaks()) broken.insert(way.rule);
  for (const auto& [rule, name] : kRuleNames) EXPECT_TRUE(broken.contains(rule)) << name;
}

TEST(Legality, TheAdviceForTheJobIsLegal) {
  Job job = small_job();
  job.model.position = Position::kLearned;
  job.length = 128;
  ASSERT_TRUE(broken_rule(job, legal_plan()));
  job.length = 64;
  EXPECT_FALSE(broken_rule(job, legal_plan()));
  job.precision = DType::kFp8;
  ASSERT_TRUE(broken_rule(job, legal_plan()));
  job.precision = DType::kBf16;
  EXPECT_FALSE(broken_rule(job, legal_plan()));
}

TEST(Legality, SaysWhatTheRuleAloneWouldAllow) {
  Job job = small_job();
  job.model.heads = job.model.kv_heads = 6;
  job.cluster = small_cluster(1, 4);
  job.sequences = 1;
  Plan plan;
  plan.parallel.tensor = 4;
  const auto rejected = illegal(job, plan);
  ASSERT_TRUE(rejected);
  EXPECT_THAT(rejected->message, HasSubstr("nearest legal: tensor 2 with pipeline 2"));
  job.model.layers = job.length = 1;
  EXPECT_THAT(illegal(job, plan)->message,
              HasSubstr("no plan near it is legal; this rule alone would allow tensor 2"));
}

TEST(Legality, RefusesNothingThatIsOnlyUnwise) {
  const Job job = small_job();
  Plan plan;
  plan.parallel = {.tensor = 4, .context = 4};
  EXPECT_FALSE(illegal(job, plan)) << "context beyond a node";
  plan.parallel = {.data = 16};
  plan.sharding = *sharding_of("III");
  EXPECT_FALSE(illegal(job, plan)) << "a group of one";
  plan.sharding.group = 16;
  EXPECT_FALSE(illegal(job, plan)) << "a group of all";
  plan.parallel = {.tensor = 2, .pipeline = 8};
  plan.sharding = *sharding_of("GGG");
  EXPECT_FALSE(illegal(job, plan)) << "sharded parameters of one rank under a pipeline";
  plan.recompute = {RecomputeKind::kEvery, 1000};
  EXPECT_FALSE(illegal(job, plan)) << "n beyond the layers";
}

TEST(Legality, LatentAttentionIsCutByHeads) {
  Job job = small_job();
  job.model.kv_heads = 8;
  job.model.latent = LatentAttention{};
  job.model.kv_heads = 1;
  EXPECT_FALSE(illegal(job, legal_plan()));
}

TEST(Legality, AnyValuesMayBeGiven) {
  constexpr std::int64_t kExtremes[] = {INT64_MIN, -1, 0, 1, std::int64_t{1} << 40, INT64_MAX};
  for (const std::int64_t a : kExtremes) {
    for (const std::int64_t b : kExtremes) {
      Plan plan = legal_expert_plan();
      plan.parallel.tensor = a;
      plan.parallel.data = b;
      static_cast<void>(illegal(small_expert_job(), plan));
      plan = legal_expert_plan();
      plan.parallel.expert = a;
      plan.parallel.expert_tensor = b;
      EXPECT_EQ(illegal(small_expert_job(), plan).has_value(), a != 1 || b != 1);
      plan = legal_expert_plan();
      plan.sharding = *sharding_of("III");
      plan.sharding.group = a;
      plan.sharding.expert_group = b;
      EXPECT_EQ(illegal(small_expert_job(), plan).has_value(), a != 1 || b != 1);
      plan = legal_plan();
      plan.micro_batch = a;
      plan.schedule.chunks = b;
      EXPECT_EQ(illegal(small_job(), plan).has_value(), a != 1 || b != 1);
      plan = legal_plan();
      plan.layers = {a, b};
      EXPECT_TRUE(illegal(small_job(), plan));
    }
  }
}

TEST(LegalSizes, AreWhatSomeLegalPlanHas) {
  const Job job = small_expert_job();
  EXPECT_THAT(legal_tensor_sizes(job), ElementsAre(1, 2, 4));
  EXPECT_THAT(legal_context_sizes(job), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(legal_pipeline_sizes(job), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(legal_expert_sizes(job), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(legal_expert_sizes(small_job()), ElementsAre(1));
  EXPECT_THAT(legal_expert_tensor_sizes(job), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(legal_micro_batches(job, 4), ElementsAre(1, 2, 4, 8));
  EXPECT_TRUE(legal_micro_batches(job, 3).empty());
  EXPECT_THAT(legal_sharding_groups(legal_plan()), ElementsAre(1, 2, 4));
  EXPECT_THAT(legal_expert_groups(legal_expert_plan()), ElementsAre(1, 2));
}

TEST(LegalSizes, DivisorsAreAscending) {
  EXPECT_THAT(divisors(1), ElementsAre(1));
  EXPECT_THAT(divisors(36), ElementsAre(1, 2, 3, 4, 6, 9, 12, 18, 36));
}

}  // namespace
}  // namespace stepwright
