#include "stepwright/tune/work_lower_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "random_job.h"
#include "small_jobs.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/tune/enumeration.h"
#include "stepwright/tune/subspace_search.h"
#include "tests/step/jobs.h"

namespace stepwright::tune {
namespace {

/// Sums may add the same terms in different orders.
constexpr double kRounding = 1 + 1e-9;

/// The most grids of a job, and settings of a grid, that are compared.
constexpr std::size_t kGrids = 24;
constexpr std::size_t kSettings = 3;

/// Returns one choice for each recomputation of a micro-batch, with whole backward passes and one
/// strand.
std::vector<PipelineStageChoice> recomputations(std::span<const PipelineStageChoice> choices) {
  std::vector<PipelineStageChoice> different;
  for (const PipelineStageChoice& choice : choices) {
    const bool plain = choice.schedule.strands == 1 && schedule::backward_form(choice.schedule) ==
                                                           schedule::BackwardSplitting::kWhole;
    const bool seen = std::ranges::find(different, choice.recompute,
                                        &PipelineStageChoice::recompute) != different.end();
    if (plain && !seen) different.push_back(choice);
    if (different.size() == kSettings) break;
  }
  return different;
}

/// Compares the floors of a plan's blocks with the pricer's times; returns how many layers were
/// compared.
int compare(WorkLowerBounds& floors, simulate::PlanPricer& pricer, const plan::Plan& plan,
            const ModelBlockChoice& block) {
  const LeastPlanWork work = floors.add_context_parallel_message_time(
      floors.work_lower_bound_of_plan(plan, overlap_in_lower_bounds(block)), plan);
  const simulate::ModelBlockCosts& costs = pricer.blocks(plan);
  int compared = 0;
  plan::each_setting(plan.recompute, [&](const plan::ActivationRecomputation& setting) {
    const plan::LayerRecompute recompute = plan::parts_recomputed_in_layers(setting);
    const std::vector<double>& layer_seconds_by_layer_class =
        work.layer_seconds_by_layer_class(plan::common_layer_recompute(setting));
    const std::size_t place = costs.cost_index_of_recomputation(recompute);
    const std::size_t least_place =
        costs.cost_index_of_recomputation(plan::common_layer_recompute(setting));
    for (std::size_t k = 0; k < costs.layers.size(); ++k) {
      const simulate::BlockPairCost& cost = costs.layers[k].cost_at_place(least_place).cost;
      EXPECT_LE(layer_seconds_by_layer_class[k],
                (cost.forward.seconds + cost.backward.seconds) * kRounding);
      EXPECT_LE(work.min_retained_activation_bytes(recompute),
                costs.layers[k].cost_at_place(place).cost.forward.retained_bytes);
      ++compared;
    }
  });
  return compared;
}

// A host that needs a tenth of a second for each kernel keeps devices waiting: no layer has fewer
// than twenty kernels, forward and backward.
TEST(WorkLowerBounds, CountsWhatTheHostIssues) {
  cost::TrainingConditions conditions;
  conditions.frameworks = {{.framework = "", .host_us = 1e5}};
  const plan::Job job = small_tune_job();
  const cost::CostModel cost(job, conditions);
  plan::Plan plan;
  plan.parallel.data = job.cluster.devices();
  const std::vector<double> layer_seconds_by_layer_class =
      WorkLowerBounds(job, cost).work_lower_bound_of_plan(plan).layer_seconds_by_layer_class(
          plan::kNoRecompute);
  EXPECT_GT(std::ranges::min(layer_seconds_by_layer_class), 2.0);
  const std::vector<double> host_free_s = WorkLowerBounds(job, cost::CostModel(job))
                                              .work_lower_bound_of_plan(plan)
                                              .layer_seconds_by_layer_class(plan::kNoRecompute);
  EXPECT_LT(std::ranges::max(host_free_s), 0.1);
}

TEST(WorkLowerBounds, IsNeverAboveTheBlocksOfAnyChoice) {
  int compared = 0;
  for (const std::uint64_t seed : random_seeds(40)) {
    const plan::Job job = random_job(seed);
    const SearchSpaceDimensions space = search_space_dimensions(job);
    const LegalPlanCounter enumeration(job, space);
    const cost::CostModel cost(job);
    WorkLowerBounds floors(job, cost);
    simulate::PlanPricer pricer(job, cost);
    const std::vector<RankGridChoice>& grids = enumeration.grids();
    const std::size_t apart = std::max<std::size_t>(1, grids.size() / kGrids);
    for (std::size_t i = seed % apart; i < grids.size(); i += apart) {
      const RankGridChoice& grid = grids[i];
      const auto& [micro_batch, choices] = *grid.stages->by_micro_batch.rbegin();
      for (const PipelineStageChoice& choice : recomputations(choices)) {
        for (const ModelBlockChoice& block : grid.blocks) {
          if (!grid.framework_allows_choices(block, choice)) continue;
          plan::Plan plan = default_plan_of_rank_grid(job, grid.parallel, grid.order);
          plan.micro_batch = micro_batch;
          write_choice_into_plan(block, plan);
          write_choice_into_plan(choice, plan);
          SCOPED_TRACE(testing::Message() << "seed " << seed << ", grid " << i);
          compared += compare(floors, pricer, plan, block);
        }
      }
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(compared, 1000);
}

/// Expects two works of a plan to be equal.
void expect_equal(const LeastPlanWork& a, const LeastPlanWork& b) {
  EXPECT_EQ(a.head_s, b.head_s);
  EXPECT_EQ(a.least_retained_bytes, b.least_retained_bytes);
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].seconds, b.layers[i].seconds);
    EXPECT_EQ(a.layers[i].stream_s, b.layers[i].stream_s);
    EXPECT_EQ(a.layers[i].chain_s, b.layers[i].chain_s);
    EXPECT_EQ(a.layers[i].least_retained_bytes, b.layers[i].least_retained_bytes);
  }
}

// Layers without experts are bounded once for all expert degrees: an answer does not depend on what
// was asked before.
TEST(WorkLowerBounds, DoesNotDependOnTheOrderOfQuestions) {
  const plan::Job job = step::job_of("deepseek-v2-lite", 2, 64, 1024);
  const cost::CostModel cost(job);
  WorkLowerBounds floors(job, cost);
  plan::Plan plan;
  plan.parallel.data = job.cluster.devices();
  floors.work_lower_bound_over_expert_degrees(plan);
  for (const std::int64_t tensor : {1, 2}) {
    for (const std::int64_t expert : {1, 4, 8}) {
      for (const bool beside : {false, true}) {
        plan.parallel.tensor = tensor;
        plan.parallel.data = job.cluster.devices() / tensor;
        plan.parallel.expert = expert;
        const plan::OverlapFlags overlap{.expert = beside};
        SCOPED_TRACE(testing::Message() << tensor << " " << expert << " " << beside);
        expect_equal(floors.work_lower_bound_of_plan(plan, overlap),
                     WorkLowerBounds(job, cost).work_lower_bound_of_plan(plan, overlap));
        expect_equal(floors.work_lower_bound_over_expert_degrees(plan),
                     WorkLowerBounds(job, cost).work_lower_bound_over_expert_degrees(plan));
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::tune
