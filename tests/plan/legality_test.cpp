#include "stepwright/plan/laws/legality.h"

#include <gmock/gmock.h>

#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "stepwright/plan/laws/laws.h"
#include "tests/plan/breaks.h"
#include "tests/plan/random_plans.h"

namespace stepwright::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Legality, AcceptsTheExamples) {
  EXPECT_FALSE(find_plan_rejection(small_job(), legal_plan()));
  EXPECT_FALSE(find_plan_rejection(small_expert_job(), legal_expert_plan()));
}

TEST(Legality, NamesTheRuleTheValuesAndTheNearestLegalPlans) {
  for (const Break& way : all_breaks()) {
    Job job = way.experts ? small_expert_job() : small_job();
    Plan plan = way.experts ? legal_expert_plan() : legal_plan();
    way.change(job, plan);
    const std::optional<PlanRejection> rejected = find_plan_rejection(job, plan);
    ASSERT_TRUE(rejected) << way.message;
    EXPECT_EQ(plan_rule_name(rejected->rule), plan_rule_name(way.rule)) << rejected->message;
    EXPECT_THAT(rejected->message, HasSubstr(way.message));
    EXPECT_THAT(rejected->message,
                testing::StartsWith(std::string(plan_rule_name(way.rule)) + ": "));
    EXPECT_LE(rejected->nearest.size(), 2);
    for (const Plan& near : rejected->nearest) EXPECT_FALSE(first_broken_rule(job, near));
    const bool of_job = rejected->rule == PlanLegalityRule::kPrecision ||
                        rejected->rule == PlanLegalityRule::kLengthWithinPositions ||
                        rejected->rule == PlanLegalityRule::kMultiTokenStep;
    EXPECT_EQ(rejected->nearest.empty(), of_job) << rejected->message;
  }
}

std::vector<PlanLegalityRule> all_rules() {
  std::vector<PlanLegalityRule> rules;
  for (std::size_t i = 0; i < kRules; ++i) rules.push_back(static_cast<PlanLegalityRule>(i));
  return rules;
}

TEST(Legality, EveryRuleIsBrokenOnce) {
  std::set<PlanLegalityRule> broken;
  for (const Break& way : all_breaks()) broken.insert(way.rule);
  for (const PlanLegalityRule rule : all_rules())
    EXPECT_TRUE(broken.contains(rule)) << plan_rule_name(rule);
}

TEST(Legality, EveryRuleHasANameAndSaysWhatItDemands) {
  std::set<std::string_view> names;
  std::set<std::string_view> sentences;
  for (const PlanLegalityRule rule : all_rules()) {
    EXPECT_TRUE(names.insert(plan_rule_name(rule)).second) << plan_rule_name(rule);
    EXPECT_THAT(std::string(plan_rule_sentence(rule)), HasSubstr(" ")) << plan_rule_name(rule);
    EXPECT_TRUE(sentences.insert(plan_rule_sentence(rule)).second) << plan_rule_name(rule);
  }
}

TEST(Legality, LawsStandInTheOrderOfRules) {
  std::vector<PlanLegalityRule> rules;
  for (const std::span<const PlanRuleDefinition> laws :
       {rank_grid_rules(), tensor_and_context_rules(), expert_parallelism_rules(),
        model_block_collective_rules(), not_implemented_plan_rules(), pipeline_schedule_rules(),
        state_sharding_rules(), data_collective_rules(), recompute_and_type_rules(),
        host_offload_rules()}) {
    for (const PlanRuleDefinition& law : laws) rules.push_back(law.rule);
  }
  EXPECT_EQ(rules, all_rules());
}

TEST(Legality, PackedDocumentsCountPositionsOfTheirOwn) {
  Job job = small_job();
  job.model.position = model::PositionEncoding::kLearned;
  job.length = 128;
  const auto refused = [&](std::int64_t longest, const packing::Packing& packing) {
    job.documents = PackedDocumentBatch{.lengths = {{5, 9}, {longest, 1}}, .packing = packing};
    job.documents->packs =
        packing::packed_sequence_statistics(job.documents->lengths, packing, job.length);
    return first_broken_rule(job, legal_plan()) == PlanLegalityRule::kLengthWithinPositions;
  };
  EXPECT_FALSE(refused(64, {.kind = packing::PackingKind::kGreedy}));
  EXPECT_TRUE(refused(65, {.kind = packing::PackingKind::kGreedy}));
  EXPECT_TRUE(refused(64, {.kind = packing::PackingKind::kGreedy, .masks = false}));
  EXPECT_TRUE(refused(64, {.kind = packing::PackingKind::kNone}));
}

TEST(Legality, TheAdviceForTheJobIsLegal) {
  Job job = small_job();
  job.model.position = model::PositionEncoding::kLearned;
  job.length = 128;
  ASSERT_TRUE(first_broken_rule(job, legal_plan()));
  job.length = 64;
  EXPECT_FALSE(first_broken_rule(job, legal_plan()));
  job.precision = DType::kFp8;
  ASSERT_TRUE(first_broken_rule(job, legal_plan()));
  job.precision = DType::kBf16;
  EXPECT_FALSE(first_broken_rule(job, legal_plan()));
}

TEST(Legality, SaysWhatTheRuleAloneWouldAllow) {
  Job job = small_job();
  job.model.heads = job.model.kv_heads = 6;
  job.cluster = small_cluster(1, 4);
  job.sequences = 1;
  Plan plan;
  plan.parallel.tensor = 4;
  const auto rejected = find_plan_rejection(job, plan);
  ASSERT_TRUE(rejected);
  EXPECT_THAT(rejected->message, HasSubstr("nearest legal: tensor 2 with pipeline 2"));
  job.model.layers = job.length = 1;
  EXPECT_THAT(find_plan_rejection(job, plan)->message,
              HasSubstr("no similar plan is legal; this rule alone would allow tensor 2"));
}

TEST(Legality, RefusesNothingThatIsOnlyUnwise) {
  const Job job = small_job();
  Plan plan;
  plan.parallel = {.tensor = 4, .context = 4};
  EXPECT_FALSE(find_plan_rejection(job, plan)) << "context beyond a node";
  plan.parallel = {.data = 16};
  plan.sharding = *sharding_named_by_word("III");
  EXPECT_FALSE(find_plan_rejection(job, plan)) << "a group of one";
  plan.sharding.group = 16;
  EXPECT_FALSE(find_plan_rejection(job, plan)) << "a group of all";
  plan.parallel = {.tensor = 2, .pipeline = 8};
  plan.sharding = *sharding_named_by_word("GGG");
  EXPECT_FALSE(find_plan_rejection(job, plan)) << "sharded parameters of one rank under a pipeline";
  plan.recompute = {.kind = RecomputeKind::kEvery, .every = 1000};
  EXPECT_FALSE(find_plan_rejection(job, plan)) << "n beyond the layers";
}

TEST(Legality, LatentAttentionIsCutByHeads) {
  Job job = small_job();
  job.model.kv_heads = 8;
  job.model.latent = model::LatentAttention{};
  job.model.kv_heads = 1;
  EXPECT_FALSE(find_plan_rejection(job, legal_plan()));
}

TEST(Legality, AnyValuesMayBeGiven) {
  constexpr std::int64_t kExtremes[] = {INT64_MIN, -1, 0, 1, std::int64_t{1} << 40, INT64_MAX};
  for (const std::int64_t a : kExtremes) {
    for (const std::int64_t b : kExtremes) {
      Plan plan = legal_expert_plan();
      plan.parallel.tensor = a;
      plan.parallel.data = b;
      static_cast<void>(find_plan_rejection(small_expert_job(), plan));
      plan = legal_expert_plan();
      plan.parallel.expert = a;
      plan.parallel.expert_tensor = b;
      EXPECT_EQ(find_plan_rejection(small_expert_job(), plan).has_value(), a != 1 || b != 1);
      plan = legal_expert_plan();
      plan.sharding = *sharding_named_by_word("III");
      plan.sharding.group = a;
      plan.sharding.expert_group = b;
      EXPECT_EQ(find_plan_rejection(small_expert_job(), plan).has_value(), a != 1 || b != 1);
      plan = legal_plan();
      plan.micro_batch = a;
      plan.schedule.chunks = b;
      EXPECT_EQ(find_plan_rejection(small_job(), plan).has_value(), a != 1 || b != 1);
      plan = legal_plan();
      plan.layers = {a, b};
      EXPECT_TRUE(find_plan_rejection(small_job(), plan));
    }
  }
}

TEST(Legality, NoNearestBatchIsNamedBeyondWhatCounts) {
  Plan plan = legal_plan();
  plan.micro_batch = INT64_MAX;
  const std::optional<PlanRejection> rejection = find_plan_rejection(small_job(), plan);
  ASSERT_TRUE(rejection);
  EXPECT_THAT(rejection->message, HasSubstr("cannot be shared by"));
  EXPECT_THAT(rejection->message, ::testing::Not(HasSubstr("nearest batches")));
}

TEST(LegalSizes, AreWhatSomeLegalPlanHas) {
  const Job job = small_expert_job();
  EXPECT_THAT(legal_tensor_degrees(job), ElementsAre(1, 2, 4));
  EXPECT_THAT(legal_context_degrees(job), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(legal_pipeline_degrees(job), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(legal_expert_degrees(job), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(legal_expert_degrees(small_job()), ElementsAre(1));
  EXPECT_THAT(legal_expert_tensor_degrees(job), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(legal_micro_batch_sizes(job, 4), ElementsAre(1, 2, 4, 8));
  EXPECT_TRUE(legal_micro_batch_sizes(job, 3).empty());
  EXPECT_THAT(legal_sharding_group_sizes(legal_plan()), ElementsAre(1, 2, 4));
  EXPECT_THAT(legal_expert_sharding_group_sizes(legal_expert_plan()), ElementsAre(1, 2));
}

// The model has 8 heads and 4 key-value heads.
TEST(LegalSizes, TensorRanksMayOutnumberKeyValueHeadsThatTheyGather) {
  Job job = small_job();
  EXPECT_THAT(legal_tensor_degrees(job), ElementsAre(1, 2, 4));
  job.kernels.gathered_heads = true;
  EXPECT_THAT(legal_tensor_degrees(job), ElementsAre(1, 2, 4, 8));
  Plan plan = legal_plan();
  plan.parallel = {.tensor = 8, .data = 2};
  EXPECT_FALSE(find_plan_rejection(job, plan));
  job.model.attention_gate = true;
  EXPECT_TRUE(find_plan_rejection(job, plan)) << "gates are not sliced";
  job.model.attention_gate = false;
  plan.parallel = {.tensor = 8, .context = 2};
  plan.context_kind = ContextKind::kUlysses;
  EXPECT_THAT(find_plan_rejection(job, plan)->message, HasSubstr("ulysses"));
}

TEST(LegalSizes, DivisorsAreAscending) {
  EXPECT_THAT(divisors(1), ElementsAre(1));
  EXPECT_THAT(divisors(36), ElementsAre(1, 2, 3, 4, 6, 9, 12, 18, 36));
}

}  // namespace
}  // namespace stepwright::plan
