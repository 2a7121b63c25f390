#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/legality.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/shown.h"

namespace stepwright::plan {
namespace {

/// Returns a plan with sixteen data-parallel ranks.
Plan data_plan() {
  Plan plan;
  plan.parallel.data = 16;
  return plan;
}

TEST(Canonical, KeepsAPlanOfDefaults) {
  EXPECT_EQ(canonical_plan(data_plan(), small_job()), data_plan());
}

TEST(Canonical, ForgetsChoicesOfDimensionsOfOneRank) {
  Plan plan = data_plan();
  plan.tensor_input = GatheredInputPolicy::kKeep;
  plan.context_kind = ContextKind::kUlysses;
  plan.overlap.tensor = plan.overlap.expert = true;
  plan.overlap.context = plan.overlap.pipeline = false;
  plan.recompute.every = 3;
  plan.collectives.tensor = collective::CollectiveAlgorithm::kNvls;
  plan.collectives.context = plan.collectives.expert = collective::CollectiveAlgorithm::kDirect;
  EXPECT_EQ(canonical_plan(plan, small_job()), data_plan());
}

TEST(Canonical, MessagesRunBesideSharedExpertsThatThereAre) {
  Job job = small_expert_job();
  Plan plan = data_plan();
  plan.parallel.expert = 4;
  plan.overlap.shared_experts = true;
  EXPECT_EQ(canonical_plan(plan, job), plan);
  plan.overlap.expert = true;
  EXPECT_FALSE(canonical_plan(plan, job).overlap.shared_experts);
  plan.overlap.expert = false;
  job.model.experts->shared_ffn = 0;
  EXPECT_FALSE(canonical_plan(plan, job).overlap.shared_experts);
}

TEST(Canonical, ForgetsMessagesThatNobodySends) {
  Plan plan;
  plan.parallel.pipeline = 8;
  plan.parallel.tensor = 2;
  const Plan plain = plan;
  plan.overlap.gradients = plan.overlap.parameters = false;
  plan.gradient_bucket = plan.parameter_bucket = 7;
  plan.collectives.data = collective::CollectiveAlgorithm::kTwoLevel;
  plan.sharding = *sharding_named_by_word("GGG");
  EXPECT_EQ(canonical_plan(plan, small_job()), plain);
}

TEST(Canonical, AGroupOfOneIsNAndAGroupOfAllIsG) {
  Plan plan = data_plan();
  plan.sharding = *sharding_named_by_word("IIG");
  EXPECT_EQ(sharding_letters(canonical_plan(plan, small_job()).sharding), "NNG");
  plan.sharding.group = 16;
  EXPECT_EQ(canonical_plan(plan, small_job()).sharding, *sharding_named_by_word("GGG"));
  plan.sharding.group = 4;
  EXPECT_EQ(canonical_plan(plan, small_job()), plan);
}

TEST(Canonical, KeepsGroupsThatTheExpertsUseDifferently) {
  Plan plan = data_plan();
  plan.parallel.expert = 4;
  plan.sharding = *sharding_named_by_word("III");
  plan.sharding.expert_group = 2;
  EXPECT_EQ(canonical_plan(plan, small_expert_job()), plan);
  plan.sharding.group = 16;
  EXPECT_EQ(canonical_plan(plan, small_expert_job()), plan);
  plan.sharding.expert_group = 4;
  EXPECT_EQ(canonical_plan(plan, small_expert_job()).sharding, *sharding_named_by_word("GGG"));
}

TEST(Canonical, AnExplicitEvenSplitIsEven) {
  Plan plan;
  plan.parallel = {.tensor = 4, .pipeline = 4};
  plan.layers = {2, 2, 2, 2};
  EXPECT_TRUE(canonical_plan(plan, small_job()).layers.empty());
  plan.layers = {1, 3, 2, 2};
  EXPECT_EQ(canonical_plan(plan, small_job()).layers, plan.layers);
}

TEST(Canonical, RecomputingEveryLayerIsFull) {
  Plan plan = data_plan();
  plan.recompute = {.kind = RecomputeKind::kEvery, .every = 1};
  EXPECT_EQ(canonical_plan(plan, small_job()).recompute,
            (ActivationRecomputation{.kind = RecomputeKind::kFull, .every = 1}));
  plan.recompute = {.kind = RecomputeKind::kEvery, .every = 100};
  EXPECT_EQ(canonical_plan(plan, small_job()).recompute,
            (ActivationRecomputation{.kind = RecomputeKind::kEvery, .every = 8}));
}

TEST(Canonical, RecomputingAsManyFirstLayersAsThereAreIsFull) {
  Plan plan = data_plan();
  const ActivationRecomputation few{.kind = RecomputeKind::kEvery, .first = 7};
  plan.recompute = few;
  EXPECT_EQ(canonical_plan(plan, small_job()).recompute, few);
  plan.recompute.first = 8;
  EXPECT_EQ(canonical_plan(plan, small_job()).recompute,
            (ActivationRecomputation{.kind = RecomputeKind::kFull}));
}

TEST(Canonical, OnlyWhatALayerKeepsLiesOnTheHost) {
  const OffloadModuleSet inside{OffloadModule::kQkv};
  const OffloadModuleSet input{OffloadModule::kLayerInput};
  const OffloadModuleSet both{OffloadModule::kQkv, OffloadModule::kLayerInput};
  const auto kept = [&](const ActivationRecomputation& recompute) {
    Plan plan = data_plan();
    plan.offload.activations = both;
    plan.recompute = recompute;
    return canonical_plan(plan, small_job()).offload.activations;
  };
  EXPECT_EQ(kept({}), inside);
  EXPECT_EQ(kept({.kind = RecomputeKind::kSelective}), inside);
  EXPECT_EQ(kept({.kind = RecomputeKind::kFull}), input);
  EXPECT_EQ(kept({.kind = RecomputeKind::kEvery, .every = 2}), both);
}

TEST(Canonical, PositionsThatRecomputeAlikeAreNotNamed) {
  Plan plan;
  plan.parallel = {.pipeline = 4, .data = 4};
  const StageRecompute full{.position = 0, .kind = RecomputeKind::kFull};
  const auto settled = [&](RecomputeKind kind, std::vector<StageRecompute> stages) {
    plan.recompute = {.kind = kind, .stages = std::move(stages)};
    return canonical_plan(plan, small_job()).recompute;
  };
  const auto at = [&](std::int64_t position) {
    StageRecompute stage = full;
    stage.position = position;
    return stage;
  };
  EXPECT_EQ(settled(RecomputeKind::kNone, {at(0), at(1), at(2), at(3)}),
            ActivationRecomputation{.kind = RecomputeKind::kFull});
  EXPECT_EQ(settled(RecomputeKind::kFull, {at(2)}),
            ActivationRecomputation{.kind = RecomputeKind::kFull});
  EXPECT_EQ(settled(RecomputeKind::kNone, {at(1)}), (ActivationRecomputation{.stages = {at(1)}}));
  EXPECT_EQ(settled(RecomputeKind::kNone, {at(1), at(2), at(3)}),
            (ActivationRecomputation{.kind = RecomputeKind::kFull, .stages = {{.position = 0}}}));
  // Two layers on each: of every second one, or of every hundredth, the first.
  EXPECT_EQ(
      settled(RecomputeKind::kNone, {{.position = 3, .kind = RecomputeKind::kEvery, .every = 100}}),
      (ActivationRecomputation{
          .stages = {{.position = 3, .kind = RecomputeKind::kEvery, .every = 2}}}));
}

TEST(Canonical, GpipeOfOneMicroBatchIsOneForwardOneBackward) {
  Plan plan = data_plan();
  plan.schedule.kind = schedule::PipelineScheduleKind::kGpipe;
  EXPECT_EQ(canonical_plan(plan, small_job()), plan);
  plan.micro_batch = 2;
  EXPECT_EQ(canonical_plan(plan, small_job()).schedule.kind,
            schedule::PipelineScheduleKind::kOneForwardOneBackward);
}

TEST(Canonical, RankOrdersThatLayTheSameGridAreOne) {
  Plan plan;
  plan.parallel = {.tensor = 2, .pipeline = 2, .context = 1, .data = 4};
  plan.rank_order = *parse_rank_order("cp-tp-dp-ep-pp");
  EXPECT_EQ(canonical_plan(plan, small_job()).rank_order, RankOrder{});
  plan.rank_order = *parse_rank_order("dp-cp-tp-ep-pp");
  EXPECT_EQ(rank_order_text(canonical_plan(plan, small_job()).rank_order), "cp-ep-dp-tp-pp");
}

TEST(Canonical, IsLegalSettledAndLaysTheSameGroups) {
  Dice dice(7);
  for (int i = 0; i < 2000; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const Plan settled = canonical_plan(plan, job);
    EXPECT_FALSE(first_broken_rule(job, settled)) << shown(plan) << " -> " << shown(settled);
    EXPECT_EQ(canonical_plan(settled, job), settled) << shown(plan);
    const RankGrid before(plan);
    const RankGrid after(settled);
    for (const CommunicatorKind kind :
         {CommunicatorKind::kTensor, CommunicatorKind::kContext, CommunicatorKind::kDataContext,
          CommunicatorKind::kExpertModel, CommunicatorKind::kExpert, CommunicatorKind::kExpertData,
          CommunicatorKind::kPipeline}) {
      EXPECT_EQ(before.communicator_shape(kind).extents, after.communicator_shape(kind).extents)
          << shown(plan);
    }
  }
}

TEST(Canonical, ChoicesOnWhichNothingDependsHaveTheirDefaults) {
  Dice dice(28);
  const Plan usual;
  for (int i = 0; i < 500; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const Plan settled = canonical_plan(plan, job);
    each_choice([&](const auto& choice) {
      const auto matters = choice.traits.matters;
      if (matters == nullptr) return;
      const Plan& same = matters(job, settled) ? plan : usual;
      EXPECT_EQ(choice.of(settled), choice.of(same)) << choice.place;
    });
  }
}

}  // namespace
}  // namespace stepwright::plan
