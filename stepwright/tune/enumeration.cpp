#include "stepwright/tune/enumeration.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::tune {
namespace {

constexpr plan::FrameworkProperty kOfGrid[] = {plan::FrameworkProperty::kParallel,
                                               plan::FrameworkProperty::kRankOrder};

std::int64_t product(std::initializer_list<std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) result = overflow_capped_product(result, factor);
  return result;
}

DType narrowest(const std::vector<DType>& types) {
  return *std::ranges::min_element(types, {},
                                   [](DType type) { return bytes_of_elements(type, 1); });
}

}  // namespace

plan::Plan default_plan_of_rank_grid(const plan::Job& job, const plan::ParallelismDegrees& parallel,
                                     const plan::RankOrder& order) {
  plan::Plan plan;
  plan.parallel = parallel;
  plan.rank_order = order;
  plan.accumulate = plan::default_gradient_type(job);
  return plan;
}

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
LegalPlanCounter::LegalPlanCounter(const plan::Job& job, const SearchSpaceDimensions& space)
    : job_(job),
      space_(space),
      model_words_(plan::property_values_of_plan(plan::FrameworkProperty::kModel, job, {})),
      total_(space.combination_count()) {
  block_points_ =
      product({std::ssize(space.sequence_parallel), std::ssize(space.tensor_input),
               std::ssize(space.context_kind), std::ssize(space.overlap),
               std::ssize(space.collectives.tensor), std::ssize(space.collectives.context),
               std::ssize(space.collectives.expert), std::ssize(space.offload.activations)});
  stage_points_ =
      product({std::ssize(space.micro_batch), std::ssize(space.schedule), std::ssize(space.chunks),
               std::ssize(space.strands), std::ssize(space.layers)});
  recomputes_ = std::ssize(space.recompute);
  group_points_ = product({std::ssize(space.sharding), std::ssize(space.sharding_group),
                           std::ssize(space.expert_group), std::ssize(space.collectives.data)});
  types_ = std::ssize(space.accumulate);
  buckets_ = product({std::ssize(space.gradient_bucket), std::ssize(space.parameter_bucket)});
  offloads_ = product({std::ssize(space.offload.optimizer), std::ssize(space.offload.masters),
                       std::ssize(space.offload.parameters)});
  groups_ask_degrees_ = space.framework && (plan::degree_dependent_group_words() &
                                            ~space.framework->supported_property_words(
                                                plan::FrameworkProperty::kGroups, 0))
                                               .any();
  for (const std::int64_t tensor : space.tensor) {
    for (const std::int64_t context : space.context) {
      for (const std::int64_t pipeline : space.pipeline) {
        plan::ParallelismDegrees parallel{
            .tensor = tensor, .pipeline = pipeline, .context = context};
        if (space.data.empty()) {
          parallel.data = std::max<std::int64_t>(
              1, job.cluster.devices() /
                     std::max<std::int64_t>(
                         1, overflow_capped_product(overflow_capped_product(tensor, context),
                                                    pipeline)));
          add_degrees(parallel);
        }
        for (const std::int64_t data : space.data) {
          parallel.data = data;
          add_degrees(parallel);
        }
      }
    }
  }
}

void LegalPlanCounter::count_refused_search_points(plan::PlanLegalityRule rule, std::int64_t points,
                                                   const plan::Plan& example) {
  if (points == 0) return;
  std::int64_t& counted = refused_[static_cast<std::size_t>(rule)];
  counted = plus(counted, points);
  examples_.try_emplace(rule, example);
}

void LegalPlanCounter::count_refused_search_points(const RefusedByRule& counts, std::int64_t each,
                                                   const plan::Plan& example) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    count_refused_search_points(static_cast<plan::PlanLegalityRule>(i),
                                overflow_capped_product(counts[i], each), example);
  }
}

void LegalPlanCounter::count_refused_search_points(const RecomputationsByLegality& recomputations,
                                                   std::int64_t each, plan::Plan example) {
  for (const auto& [rule, recompute] : recomputations.refused) {
    example.recompute = recompute;
    count_refused_search_points(rule, each, example);
  }
}

void LegalPlanCounter::leave(plan::FrameworkProperty ability, std::int64_t points) {
  std::int64_t& counted = not_run_[static_cast<std::size_t>(ability)];
  counted = plus(counted, points);
}

void LegalPlanCounter::leave(const NotRunByAbility& counts, std::int64_t each) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    leave(static_cast<plan::FrameworkProperty>(i), overflow_capped_product(counts[i], each));
  }
}

std::optional<plan::FrameworkProperty> LegalPlanCounter::unsupported_grid_property(
    const plan::Plan& plan) const {
  if (!space_.framework || plan.parallel.expert_data_degree() == 0) return std::nullopt;
  for (const plan::FrameworkProperty ability : kOfGrid) {
    if (!space_.framework->supports_property_value_alone(ability, job_, plan)) return ability;
  }
  const plan::WordSet& models = space_.framework->supported_property_words(
      plan::FrameworkProperty::kModel, degree_set_above_one(plan));
  if ((model_words_ & ~models).any()) return plan::FrameworkProperty::kModel;
  return std::nullopt;
}

plan::DegreeSet LegalPlanCounter::degree_set_above_one(const plan::Plan& plan) const {
  return space_.framework ? plan::degrees_above_one(plan.parallel) : 0;
}

void LegalPlanCounter::add_degrees(const plan::ParallelismDegrees& parallel) {
  const plan::Plan plan = default_plan_of_rank_grid(job_, parallel, plan::RankOrder{});
  const auto rule = plan::first_broken_rule(job_, plan);
  if (rule && *rule <= plan::PlanLegalityRule::kWorldSize) {
    const std::int64_t points = product(
        {std::ssize(space_.expert), std::ssize(space_.expert_tensor), std::ssize(space_.rank_order),
         block_points_, stage_points_, recomputes_, group_points_, types_, buckets_, offloads_});
    return count_refused_search_points(*rule, points, plan);
  }
  for (const std::int64_t expert : space_.expert) {
    for (const std::int64_t expert_tensor : space_.expert_tensor) {
      plan::ParallelismDegrees routed = parallel;
      routed.expert = expert;
      routed.expert_tensor = expert_tensor;
      add_experts(routed);
    }
  }
}

void LegalPlanCounter::add_experts(const plan::ParallelismDegrees& parallel) {
  std::vector<plan::RankOrder> seen;
  for (const plan::RankOrder& order : space_.rank_order) {
    plan::Plan plan = default_plan_of_rank_grid(job_, parallel, order);
    // Rank orders that place the ranks alike give the same plans.
    if (parallel.expert_data_degree() > 0) plan = plan::canonical_plan(plan, job_);
    const plan::RankOrder usual = plan.rank_order;
    const bool repeated = std::ranges::find(seen, usual) != seen.end();
    seen.push_back(usual);
    add_grid(default_plan_of_rank_grid(job_, parallel,
                                       parallel.expert_data_degree() > 0 ? usual : order),
             repeated);
  }
}

void LegalPlanCounter::add_grid(const plan::Plan& plan, bool repeated) {
  const std::int64_t states = product({recomputes_, group_points_, types_, buckets_, offloads_});
  if (const auto ability = unsupported_grid_property(plan)) {
    return leave(*ability, product({block_points_, stage_points_, states}));
  }
  const BlockChoiceTable& blocks = this->blocks(plan);
  count_refused_search_points(blocks.refused, overflow_capped_product(stage_points_, states), plan);
  leave(blocks.not_run, overflow_capped_product(stage_points_, states));
  if (blocks.points == 0) return;
  plan::Plan legal = plan;
  write_choice_into_plan(blocks.choices.front(), legal);
  const StageChoiceTable& stages = this->stages(legal);
  count_refused_search_points(stages.refused, overflow_capped_product(blocks.points, states),
                              legal);
  leave(stages.not_run, overflow_capped_product(blocks.points, states));
  if (stages.points == 0) return;
  const RecomputationsByLegality& recomputations = stages.recomputations;
  const std::int64_t recomputes = recomputes_ - recomputations.not_run;
  const std::int64_t inner = product({group_points_, types_, buckets_, offloads_});
  leave(plan::FrameworkProperty::kRecompute,
        product({blocks.points, stages.points, recomputations.not_run, inner}));
  if (stages.choices == 0) {
    return count_refused_search_points(recomputations,
                                       product({blocks.points, stages.points, inner}), legal);
  }
  legal.micro_batch = stages.by_micro_batch.begin()->first;
  write_choice_into_plan(stages.by_micro_batch.begin()->second.front(), legal);
  const DataParallelChoiceTable& data = this->data(legal);
  const std::int64_t outer = product({blocks.points, stages.points, recomputes});
  count_refused_search_points(data.refused, product({outer, types_, buckets_, offloads_}), legal);
  leave(data.not_run, product({outer, types_, buckets_, offloads_}));
  std::int64_t points = product({outer, data.points, types_, buckets_, offloads_});
  if (points == 0) return;
  count_refused_search_points(recomputations, points / recomputes, legal);
  points = points / recomputes * std::ssize(recomputations.legal);
  const auto rule = plan::first_broken_rule(job_, legal);
  if (rule == plan::PlanLegalityRule::kPrecision)
    return count_refused_search_points(*rule, points, legal);
  std::int64_t narrow = 0;
  for (const DType type : space_.accumulate) {
    plan::Plan typed = legal;
    typed.accumulate = type;
    narrow += plan::first_broken_rule(job_, typed) == plan::PlanLegalityRule::kAccumulate ? 1 : 0;
  }
  const std::int64_t refused = overflow_capped_product(points / types_, narrow);
  count_refused_search_points(plan::PlanLegalityRule::kAccumulate, refused, legal);
  points_ = plus(points_, points - refused);
  refuse_offloads(data, (points - refused) / product({data.points, offloads_}), legal);
  if (repeated || data.choices.empty()) return;
  RankGridChoice& grid = grids_.emplace_back(
      RankGridChoice{plan.parallel, plan.rank_order, blocks.choices, blocks.without_parameters,
                     &stages, &data, narrowest(space_.accumulate)});
  if (space_.framework) keep_running(grid, blocks);
  legal_ = plus(legal_, legal_plans(grid));
}

/// Subtracts points whose offload is refused; `each`: how many points one sharding point of the
/// grid stands for.
void LegalPlanCounter::refuse_offloads(const DataParallelChoiceTable& data, std::int64_t each,
                                       const plan::Plan& legal) {
  count_refused_search_points(data.refused_offloads, each, legal);
  for (const std::int64_t points : data.refused_offloads)
    points_ -= overflow_capped_product(points, each);
  leave(plan::FrameworkProperty::kOffload, overflow_capped_product(data.not_run_offloads, each));
  points_ -= overflow_capped_product(data.not_run_offloads, each);
}

/// Removes blocks that give up overlap though nothing in the grid asks for it.
void LegalPlanCounter::keep_running(RankGridChoice& grid, const BlockChoiceTable& blocks) {
  static constexpr plan::FrameworkProperty kOfJob[] = {
      plan::FrameworkProperty::kPrecision, plan::FrameworkProperty::kOptimizer,
      plan::FrameworkProperty::kModel, plan::FrameworkProperty::kTrained,
      plan::FrameworkProperty::kAttention};
  static constexpr plan::FrameworkProperty kOfGrids[] = {plan::FrameworkProperty::kParallel,
                                                         plan::FrameworkProperty::kRankOrder,
                                                         plan::FrameworkProperty::kDispatcher};
  const plan::Plan plan =
      plan::canonical_plan(default_plan_of_rank_grid(job_, grid.parallel, grid.order), job_);
  if (!joint_of_job_)
    joint_of_job_ = space_.framework->single_collective_algorithm_rule(kOfJob, job_, plan);
  grid.joint =
      *joint_of_job_ | space_.framework->single_collective_algorithm_rule(kOfGrids, job_, plan);
  const std::uint64_t holds = grid.joint.holds | grid.stages->holds | grid.data->holds;
  const auto [entry, fresh] = running_blocks_.try_emplace({&blocks, holds});
  RunningBlocks& running = entry->second;
  if (fresh) {
    std::ranges::copy_if(blocks.choices, std::back_inserter(running.choices),
                         [&](const ModelBlockChoice& block) {
                           return !block.gives_up_overlap_needlessly(holds | block.joint.holds);
                         });
    running.without_parameters = mark_first_choices_without_parameters(running.choices);
  }
  grid.blocks = running.choices;
  grid.blocks_without_parameters = running.without_parameters;
}

/// Counts by the framework lines that choices break or make hold: few choices differ in them.
std::int64_t LegalPlanCounter::legal_plans(const RankGridChoice& grid) const {
  if (!space_.framework) {
    const std::int64_t plain = std::ssize(grid.data->choices) - grid.data->gathering;
    const std::int64_t shardings =
        plus(overflow_capped_product(std::ssize(grid.blocks), grid.data->gathering),
             overflow_capped_product(grid.blocks_without_parameters, plain));
    return overflow_capped_product(shardings, grid.stages->choices);
  }
  std::int64_t legal = 0;
  for (const ModelBlockChoice& block : grid.blocks) {
    for (const auto& [stage, stages] : grid.stages->joints) {
      for (const auto& [data, choices] : grid.data->joints) {
        if (!data.second && !block.first_without_parameters) continue;
        if (grid.framework_allows_choices(block, stage, data.first))
          legal = plus(legal, overflow_capped_product(stages, choices));
      }
    }
  }
  return legal;
}

const BlockChoiceTable& LegalPlanCounter::blocks(const plan::Plan& grid) {
  const plan::ParallelismDegrees& size = grid.parallel;
  // With listed algorithms or unusual orders, the placement of groups matters; otherwise only
  // whether there is another position or replica.
  const plan::SearchedCollectiveAlgorithms& lists = space_.collectives;
  const std::vector library{collective::CollectiveAlgorithm::kLibrary};
  const bool lies = lists.tensor != library || lists.context != library ||
                    lists.expert != library || space_.offload.activations.size() != 1 ||
                    !(grid.rank_order == plan::RankOrder{});
  const auto some = [&](std::int64_t degree) {
    return lies ? degree : std::min<std::int64_t>(2, degree);
  };
  const BlockKey key{{size.tensor, size.context, size.expert, size.expert_tensor},
                     {some(size.pipeline), some(size.data), some(size.expert_data_degree())},
                     grid.rank_order};
  const BlockChoiceTable*& known = blocks_[key];
  if (known != nullptr) return *known;
  // Whether activations may be offloaded depends on the degrees themselves.
  const bool offloads = space_.offload.activations.size() != 1;
  BlockTableKey table{broken_block_rules(job_, space_, grid),
                      {size.tensor, size.pipeline, size.context, size.expert, size.expert_tensor,
                       size.data, size.expert_data_degree()}};
  if (!offloads) {
    for (std::int64_t& degree : table.second) degree = std::min<std::int64_t>(2, degree);
  }
  const auto [entry, fresh] = block_tables_.try_emplace(std::move(table));
  if (fresh) entry->second = block_table(job_, space_, grid, entry->first.first);
  return *(known = &entry->second);
}

const StageChoiceTable& LegalPlanCounter::stages(const plan::Plan& legal) {
  const StageKey key{legal.parallel.pipeline, legal.parallel.data, degree_set_above_one(legal)};
  auto found = stages_.find(key);
  if (found == stages_.end()) {
    found = stages_.emplace(key, list_stage_choices(job_, space_, legal, stage_lists_)).first;
  }
  return found->second;
}

const DataParallelChoiceTable& LegalPlanCounter::data(const plan::Plan& legal) {
  const plan::RankGridAxisSizes axes = plan::grid_axes(legal.parallel, legal.rank_order);
  const auto uses = [](const std::vector<std::int64_t>& groups) {
    return std::ranges::find(groups, plan::kNodeSizedShardingGroup) != groups.end();
  };
  // With listed algorithms, the placement of groups matters; group sizes depend only on the number
  // of ranks.
  const bool lies =
      space_.collectives.data != std::vector{collective::CollectiveAlgorithm::kLibrary};
  const DataKey key{
      plan::data_context_rank_factors(axes),
      lies ? plan::expert_data_rank_factors(axes) : plan::StridedRanks{},
      legal.parallel.expert_data_degree(),
      uses(space_.sharding_group) ? plan::node_sharding_group_size(job_.cluster, legal) : 0,
      uses(space_.expert_group) ? plan::node_expert_sharding_group_size(job_.cluster, legal) : 0,
      degree_set_above_one(legal),
      groups_ask_degrees_ ? legal.parallel : plan::ParallelismDegrees{}};
  auto found = data_.find(key);
  if (found == data_.end()) {
    found = data_.emplace(key, list_data_parallel_choices(job_, space_, legal, lists_)).first;
  }
  return found->second;
}

}  // namespace stepwright::tune
