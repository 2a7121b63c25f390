#include "stepwright/tune/data_choices.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/grid.h"

namespace stepwright::tune {
namespace {

constexpr plan::FrameworkProperty kOfStates[] = {
    plan::FrameworkProperty::kSharding, plan::FrameworkProperty::kGroups,
    plan::FrameworkProperty::kAccumulate, plan::FrameworkProperty::kOffload};

/// Kinds of choices of a strategy that the framework runs (`runs_strategy`) with its groups.
constexpr plan::FrameworkProperty kOfStrategies[] = {plan::FrameworkProperty::kGroups,
                                                     plan::FrameworkProperty::kAlgorithms};
constexpr collective::CollectiveAlgorithm plan::CollectiveAlgorithmChoices::* kOfDataMessages[] = {
    &plan::CollectiveAlgorithmChoices::data};

/// Returns the group sizes that a plan of this grid may have, with `node` replaced by its number.
std::vector<std::int64_t> resolved(const std::vector<std::int64_t>& groups, std::int64_t node) {
  std::vector<std::int64_t> sizes = groups;
  std::ranges::replace(sizes, plan::kNodeSizedShardingGroup, node);
  return sizes;
}

struct Groups {
  std::vector<std::int64_t> inner, expert;
};

/// Returns the listed algorithms that have a message to serve in a strategy with its groups.
std::vector<collective::CollectiveAlgorithm> legal_algorithms(const plan::Job& job,
                                                              const SearchSpaceDimensions& space,
                                                              plan::Plan plan) {
  std::vector<collective::CollectiveAlgorithm> legal = space.collectives.data;
  std::erase_if(legal, [&](collective::CollectiveAlgorithm algorithm) {
    plan.collectives.data = algorithm;
    return algorithm != collective::CollectiveAlgorithm::kLibrary &&
           plan::first_broken_rule(job, plan) == plan::PlanLegalityRule::kDataCollectives;
  });
  return legal;
}

/// Removes the algorithms with which the job's framework does not run a strategy.
void erase_not_run(std::vector<collective::CollectiveAlgorithm>& algorithms,
                   DataParallelChoiceTable& table, const plan::Job& job,
                   const SearchSpaceDimensions& space, plan::Plan plan, std::int64_t groups) {
  if (!space.framework) return;
  std::erase_if(algorithms, [&](collective::CollectiveAlgorithm algorithm) {
    plan.collectives.data = algorithm;
    const auto not_run =
        first_unsupported_property(space, job, plan::canonical_plan(plan, job), kOfStrategies);
    if (not_run) count(table.not_run, *not_run, groups);
    return not_run.has_value();
  });
}

/// True if the job lists no buckets, so that a framework may use its own.
bool free_buckets(const plan::Job& job) {
  return job.space.gradient_bucket.empty() && job.space.parameter_bucket.empty();
}

/// The data-parallel choices of a grid, in order.
struct DataList {
  std::vector<DataParallelChoice> choices;
  std::set<DataParallelChoice> seen;
  /// Cache: by the spread of states, whether the framework runs it.
  std::map<std::array<plan::StateShardingScope, 3>, bool> runs;
};

/// True if the job's framework runs the sharding strategy of a plan with some groups.
bool runs_strategy(const plan::Job& job, const SearchSpaceDimensions& space, const plan::Plan& plan,
                   DataList& list) {
  if (!space.framework) return true;
  const plan::Sharding usual = plan::canonical_sharding(job, plan);
  const auto [known, fresh] =
      list.runs.try_emplace({usual.parameters, usual.gradients, usual.optimizer});
  if (fresh)
    known->second = space.framework->supports_property_value_alone(
        plan::FrameworkProperty::kSharding, job, plan);
  return known->second;
}

/// Adds one choice, if it is new and the framework runs it.
void add_data_choice(DataParallelChoiceTable& table, const plan::Job& job,
                     const SearchSpaceDimensions& space, const plan::Plan& plan, DataList& list) {
  plan::Plan usual = plan::canonical_plan(plan, job);
  const plan::FrameworkSupport::FrameworkPropertyCoupling joint =
      framework_rules_of_plan_choices(space, kOfStates, job, usual, kOfDataMessages);
  if (!joint.runs() || first_unsupported_property(space, job, usual,
                                                  std::array{plan::FrameworkProperty::kAccumulate}))
    return;
  if (space.framework) {
    const plan::Plan own = space.framework->with_framework_bucket_sizes(job, usual);
    if (own != usual && !free_buckets(job)) return;
    usual = own;
  }
  const DataParallelChoice choice{usual.sharding,
                                  usual.accumulate,
                                  usual.collectives.data,
                                  usual.gradient_bucket,
                                  usual.parameter_bucket,
                                  usual.offload,
                                  joint};
  if (!list.seen.insert(choice).second) return;
  list.choices.push_back(choice);
  ++table.joints[{joint, choice.needs_parameter_gathers()}];
  table.holds |= joint.holds;
  table.gathering += choice.needs_parameter_gathers() ? 1 : 0;
}

/// True for rules of offloading (`plan/laws/offload_laws.cpp`).
bool is_of_offload(plan::PlanLegalityRule rule) {
  return rule == plan::PlanLegalityRule::kOffloadShare ||
         rule == plan::PlanLegalityRule::kOffloadUpdate ||
         rule == plan::PlanLegalityRule::kOffloadHost ||
         rule == plan::PlanLegalityRule::kOffloadParameters ||
         rule == plan::PlanLegalityRule::kHostMemory;
}

/// Returns the offloads that are legal with a strategy and its groups. Each other offload is
/// counted as `points` refused points.
std::vector<plan::HostOffload> legal_offloads(DataParallelChoiceTable& table, const plan::Job& job,
                                              const SearchSpaceDimensions& space, plan::Plan plan,
                                              std::int64_t points) {
  std::vector<plan::HostOffload> legal;
  for (const plan::HostOffload& offload : state_offload_combinations(space.offload)) {
    plan.offload = offload;
    const bool there = offload != plan::HostOffload{};
    std::optional<plan::PlanLegalityRule> rule;
    if (there) rule = plan::first_broken_rule(job, plan);
    const bool runs = !there || !space.framework ||
                      space.framework->supports_plan(plan::FrameworkProperty::kOffload, job,
                                                     plan::canonical_plan(plan, job));
    if (rule && is_of_offload(*rule)) {
      count(table.refused_offloads, *rule, points);
    } else if (!runs) {
      table.not_run_offloads = plus(table.not_run_offloads, points);
    } else {
      legal.push_back(offload);
    }
  }
  return legal;
}

/// Adds all choices that have a strategy with its groups; `groups`: for how many points these
/// groups stand.
// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void add_data_choices(DataParallelChoiceTable& table, const plan::Job& job,
                      const SearchSpaceDimensions& space, plan::Plan plan, std::int64_t groups,
                      DataList& list) {
  std::vector<collective::CollectiveAlgorithm> algorithms = legal_algorithms(job, space, plan);
  const std::int64_t refused = std::ssize(space.collectives.data) - std::ssize(algorithms);
  count(table.refused, plan::PlanLegalityRule::kDataCollectives, groups * refused);
  if (!runs_strategy(job, space, plan, list)) {
    return count(table.not_run, plan::FrameworkProperty::kSharding,
                 groups * std::ssize(algorithms));
  }
  erase_not_run(algorithms, table, job, space, plan, groups);
  table.points += groups * std::ssize(algorithms);
  for (const plan::HostOffload& offload :
       legal_offloads(table, job, space, plan, groups * std::ssize(algorithms))) {
    for (const DType accumulate : space.accumulate) {
      for (const std::int64_t gradients : space.gradient_bucket) {
        for (const std::int64_t parameters : space.parameter_bucket) {
          for (const collective::CollectiveAlgorithm algorithm : algorithms) {
            plan.offload = offload;
            plan.accumulate = accumulate;
            plan.gradient_bucket = gradients;
            plan.parameter_bucket = parameters;
            plan.collectives.data = algorithm;
            add_data_choice(table, job, space, plan, list);
          }
        }
      }
    }
  }
}

/// Returns the space with only legal accumulation types; points with other types are counted later,
/// by the last rule.
SearchSpaceDimensions legal_types(const plan::Job& job, const SearchSpaceDimensions& space,
                                  plan::Plan plan) {
  SearchSpaceDimensions legal = space;
  std::erase_if(legal.accumulate, [&](DType type) {
    plan.accumulate = type;
    return plan::first_broken_rule(job, plan) == plan::PlanLegalityRule::kAccumulate;
  });
  return legal;
}

/// Adds the choices of one strategy with each of its groups.
// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void add_strategy(DataParallelChoiceTable& table, const plan::Job& job,
                  const SearchSpaceDimensions& legal, plan::Plan plan, const Groups& groups,
                  DataList& list) {
  const auto all = static_cast<std::int64_t>(groups.inner.size() * groups.expert.size());
  const std::int64_t algorithms = std::ssize(legal.collectives.data);
  if (!plan::is_paro_strategy(plan.sharding)) {
    return count(table.refused, plan::PlanLegalityRule::kShardingStrategy, all * algorithms);
  }
  if (!plan.sharding.uses(plan::StateShardingScope::kInner)) {
    return add_data_choices(table, job, legal, plan, all, list);
  }
  const auto broken = [&](std::int64_t inner, std::int64_t expert) {
    plan.sharding.group = inner;
    plan.sharding.expert_group = expert;
    return plan::first_broken_sharding_rule(job, plan).has_value();
  };
  std::vector<std::int64_t> experts =
      job.model.experts ? groups.expert : std::vector<std::int64_t>{1};
  const auto before = static_cast<std::int64_t>(experts.size());
  const std::int64_t same = job.model.experts ? 1 : std::ssize(groups.expert);
  std::erase_if(experts, [&](std::int64_t size) { return broken(1, size); });
  for (const std::int64_t inner : groups.inner) {
    if (broken(inner, 1)) {
      count(table.refused, plan::PlanLegalityRule::kShardingGroup,
            std::ssize(groups.expert) * algorithms);
      continue;
    }
    count(table.refused, plan::PlanLegalityRule::kExpertShardingGroup,
          (before - std::ssize(experts)) * algorithms);
    for (const std::int64_t expert : experts) {
      plan.sharding.group = inner;
      plan.sharding.expert_group = expert;
      add_data_choices(table, job, legal, plan, same, list);
    }
  }
}

}  // namespace

std::vector<plan::HostOffload> state_offload_combinations(
    const plan::SearchedOffloadChoices& lists) {
  std::vector<plan::HostOffload> all;
  for (const double share : lists.optimizer) {
    for (const bool masters : lists.masters) {
      for (const bool parameters : lists.parameters) {
        all.push_back(
            {.optimizer = share, .masters = masters, .activations = {}, .parameters = parameters});
      }
    }
  }
  return all;
}

DataParallelChoiceTable list_data_parallel_choices(const plan::Job& job,
                                                   const SearchSpaceDimensions& space,
                                                   const plan::Plan& legal,
                                                   DataParallelChoiceLists& lists) {
  DataParallelChoiceTable table;
  const SearchSpaceDimensions types = legal_types(job, space, legal);
  const Groups groups{
      resolved(space.sharding_group, plan::node_sharding_group_size(job.cluster, legal)),
      resolved(space.expert_group, plan::node_expert_sharding_group_size(job.cluster, legal))};
  DataList list;
  for (const plan::Sharding& states : space.sharding) {
    plan::Plan plan = legal;
    plan.sharding = states;
    plan.sharding.group = plan.sharding.expert_group = 1;
    add_strategy(table, job, types, plan, groups, list);
  }
  list.choices.shrink_to_fit();
  table.choices = *lists.insert(std::move(list.choices)).first;
  return table;
}

void write_choice_into_plan(const DataParallelChoice& choice, plan::Plan& plan) {
  plan.sharding = choice.sharding;
  plan.accumulate = choice.accumulate;
  plan.collectives.data = choice.algorithm;
  plan.gradient_bucket = choice.gradient_bucket;
  plan.parameter_bucket = choice.parameter_bucket;
  plan.offload.optimizer = choice.offload.optimizer;
  plan.offload.masters = choice.offload.masters;
  plan.offload.parameters = choice.offload.parameters;
}

}  // namespace stepwright::tune
