#include "stepwright/tune/enumeration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "random_job.h"
#include "small_jobs.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::tune {
namespace {

/// The result of visiting every point of the product of dimensions.
struct Visit {
  RefusedByRule refused{};
  std::int64_t total = 0;
  std::int64_t points = 0;
  std::set<plan::Plan> plans;
};

/// Returns a kind of schedule with all listed chunks and strands, whether the kind allows a choice
/// or not.
std::vector<schedule::PipelineSchedule> all_schedules(schedule::PipelineScheduleKind kind,
                                                      const SearchSpaceDimensions& space) {
  std::vector<schedule::PipelineSchedule> all;
  for (const std::int64_t chunks : space.chunks) {
    for (const std::int64_t strands : space.strands) {
      all.push_back({.kind = kind, .chunks = chunks, .strands = strands});
    }
  }
  return all;
}

void take(const plan::Job& job, plan::Plan plan, Visit& visit) {
  ++visit.total;
  // Choices without meaning: chunks and strands of other schedules, groups of strategies without a
  // state I.
  plan.schedule.chunks =
      schedule::model_chunk_counts_to_try(plan.schedule.kind, {plan.schedule.chunks}).front();
  if (!schedule::traits_of(plan.schedule.kind).pairs) plan.schedule.strands = 1;
  if (!plan.sharding.uses(plan::StateShardingScope::kInner) &&
      plan::is_paro_strategy(plan.sharding)) {
    plan.sharding.group = plan.sharding.expert_group = 1;
  }
  if (!job.model.experts) plan.sharding.expert_group = 1;
  if (const auto rule = plan::first_broken_rule(job, plan)) {
    ++visit.refused[static_cast<std::size_t>(*rule)];
    return;
  }
  ++visit.points;
  visit.plans.insert(plan::canonical_plan(plan, job));
}

/// Calls `next` once for each value, with the value put into the plan.
template <class Values, class Put, class Next>
void each(const Values& values, plan::Plan& plan, Put put, Next next) {
  for (const auto& value : values) {
    put(plan, value);
    next();
  }
}

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void visit_states(const plan::Job& job, const SearchSpaceDimensions& space, plan::Plan plan,
                  Visit& visit) {
  const bool grid =
      plan.parallel.expert_data_degree() > 0 && plan.parallel.ranks() == job.cluster.devices();
  for (const plan::Sharding& states : space.sharding) {
    for (const std::int64_t group : space.sharding_group) {
      for (const std::int64_t expert_group : space.expert_group) {
        plan.sharding = states;
        plan.sharding.group = group > 0 ? group
                              : grid    ? plan::node_sharding_group_size(job.cluster, plan)
                                        : 1;
        plan.sharding.expert_group = expert_group > 0 ? expert_group
                                     : grid
                                         ? plan::node_expert_sharding_group_size(job.cluster, plan)
                                         : 1;
        for (const DType accumulate : space.accumulate) {
          for (const std::int64_t bucket : space.parameter_bucket) {
            for (const collective::CollectiveAlgorithm algorithm : space.collectives.data) {
              plan.accumulate = accumulate;
              plan.parameter_bucket = bucket;
              plan.collectives.data = algorithm;
              take(job, plan, visit);
            }
          }
        }
      }
    }
  }
}

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void visit_stages(const plan::Job& job, const SearchSpaceDimensions& space, plan::Plan plan,
                  Visit& visit) {
  for (const std::int64_t micro_batch : space.micro_batch) {
    for (const schedule::PipelineScheduleKind kind : space.schedule) {
      for (const schedule::PipelineSchedule& schedule : all_schedules(kind, space)) {
        for (const auto& layers : space.layers) {
          for (const plan::ActivationRecomputation& recompute : space.recompute) {
            plan.micro_batch = micro_batch;
            plan.schedule = schedule;
            plan.layers = layers;
            plan.recompute = recompute;
            visit_states(job, space, plan, visit);
          }
        }
      }
    }
  }
}

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void visit_blocks(const plan::Job& job, const SearchSpaceDimensions& space, plan::Plan plan,
                  Visit& visit) {
  for (const bool sequence_parallel : space.sequence_parallel) {
    for (const plan::GatheredInputPolicy input : space.tensor_input) {
      for (const plan::ContextKind kind : space.context_kind) {
        for (const plan::OverlapFlags& overlap : space.overlap) {
          plan.sequence_parallel = sequence_parallel;
          plan.tensor_input = input;
          plan.context_kind = kind;
          plan.overlap = overlap;
          for (const collective::CollectiveAlgorithm tensor : space.collectives.tensor) {
            for (const collective::CollectiveAlgorithm expert : space.collectives.expert) {
              plan.collectives.tensor = tensor;
              plan.collectives.expert = expert;
              visit_stages(job, space, plan, visit);
            }
          }
        }
      }
    }
  }
}

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
Visit visit_all(const plan::Job& job, const SearchSpaceDimensions& space) {
  Visit visit;
  plan::Plan plan;
  auto& degrees = plan.parallel;
  for (const std::int64_t tensor : space.tensor) {
    for (const std::int64_t context : space.context) {
      for (const std::int64_t pipeline : space.pipeline) {
        for (const std::int64_t expert : space.expert) {
          for (const std::int64_t expert_tensor : space.expert_tensor) {
            for (const plan::RankOrder& order : space.rank_order) {
              const std::int64_t data =
                  std::max<std::int64_t>(1, job.cluster.devices() / (tensor * context * pipeline));
              degrees = {tensor, pipeline, context, expert, expert_tensor, data};
              plan.rank_order = order;
              visit_blocks(job, space, plan, visit);
            }
          }
        }
      }
    }
  }
  return visit;
}

TEST(LegalPlanCounter, CountsWhatVisitingEveryPointFinds) {
  int visited = 0;
  int deferring = 0;
  for (std::uint64_t seed = 0; seed < 200 && visited < 12; ++seed) {
    plan::Job job = small_random_job(seed);
    job.model.layers = std::min<std::int64_t>(job.model.layers, 4);
    job.space.gradient_bucket = {40'000'000};
    // A deferred head, which is nothing without a pipeline, and which half of the losses forbid.
    if (seed % 2 == 1) {
      job.space.overlap = {plan::OverlapFlags{}, {.defer_embedding_gradient = true}};
      job.kernels.loss_chunks = ++deferring % 2 == 0 ? 1 : 4;
    }
    const SearchSpaceDimensions space = search_space_dimensions(job);
    if (space.combination_count() > 400'000) continue;
    SCOPED_TRACE(seed);
    ++visited;
    const LegalPlanCounter enumeration(job, space);
    const Visit visit = visit_all(job, space);
    EXPECT_EQ(enumeration.total(), visit.total);
    EXPECT_EQ(enumeration.legal(), std::ssize(visit.plans));
    EXPECT_EQ(enumeration.duplicates(), visit.points - std::ssize(visit.plans));
    for (std::size_t i = 0; i < plan::kRules; ++i) {
      EXPECT_EQ(enumeration.refused()[i], visit.refused[i])
          << plan::plan_rule_name(static_cast<plan::PlanLegalityRule>(i));
    }
  }
  EXPECT_GE(visited, 8);
  EXPECT_GE(deferring, 2);
}

TEST(LegalPlanCounter, GivesAnExampleOfEveryRefusal) {
  const plan::Job job = small_tune_job();
  const SearchSpaceDimensions space = search_space_dimensions(job);
  const LegalPlanCounter enumeration(job, space);
  for (std::size_t i = 0; i < plan::kRules; ++i) {
    EXPECT_EQ(enumeration.refused()[i] > 0, enumeration.example_plan_per_broken_rule().contains(
                                                static_cast<plan::PlanLegalityRule>(i)));
  }
}

/// Returns the block choices of a grid, listed for this grid alone.
std::vector<ModelBlockChoice> own_blocks(const plan::Job& job, const SearchSpaceDimensions& space,
                                         const RankGridChoice& grid) {
  const plan::Plan plan = default_plan_of_rank_grid(job, grid.parallel, grid.order);
  std::vector<ModelBlockChoice> blocks =
      block_table(job, space, plan, broken_block_rules(job, space, plan)).choices;
  const std::uint64_t holds = grid.joint.holds | grid.stages->holds | grid.data->holds;
  std::erase_if(blocks, [&](const ModelBlockChoice& block) {
    return block.gives_up_overlap_needlessly(holds | block.joint.holds);
  });
  mark_first_choices_without_parameters(blocks);
  return blocks;
}

// Grids that break the same rules share one list, whatever their degrees above 1 are.
TEST(LegalPlanCounter, SharesBlockChoicesOnlyAmongGridsThatHaveThem) {
  std::size_t compared = 0;
  for (const std::uint64_t seed : random_seeds(30)) {
    plan::Job job = random_job(seed);
    if (seed % 2 == 1) job.framework = {.name = "megatron-core"};
    if (seed % 5 == 0)
      job.space.collectives.tensor = {collective::CollectiveAlgorithm::kLibrary,
                                      collective::CollectiveAlgorithm::kRing};
    const SearchSpaceDimensions space = search_space_dimensions(job);
    const LegalPlanCounter enumeration(job, space);
    SCOPED_TRACE(seed);
    const std::size_t apart = std::max<std::size_t>(1, enumeration.grids().size() / 40);
    for (std::size_t i = 0; i < enumeration.grids().size(); i += apart) {
      const RankGridChoice& grid = enumeration.grids()[i];
      const std::vector<ModelBlockChoice> own = own_blocks(job, space, grid);
      EXPECT_TRUE(std::ranges::equal(grid.blocks, own)) << i;
      compared += own.size();
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, 1000U);
}

}  // namespace
}  // namespace stepwright::tune
