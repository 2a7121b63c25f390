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

constexpr plan::Ability kOfStates[] = {plan::Ability::kSharding, plan::Ability::kGroups,
                                       plan::Ability::kAccumulate, plan::Ability::kOffload};

constexpr plan::Ability kOfStrategies[] = {plan::Ability::kSharding, plan::Ability::kGroups,
                                           plan::Ability::kAlgorithms};
constexpr collective::Algorithm plan::Collectives::* kOfDataMessages[] = {&plan::Collectives::data};

/// The last rule, in their order, that depends on the grid and sharding groups only.
constexpr plan::Rule kLastGroupRule = plan::Rule::kExpertShardingGroup;

/// Returns the group sizes that a plan of this grid may have, with `node` replaced by its number.
std::vector<std::int64_t> resolved(const std::vector<std::int64_t>& groups, std::int64_t node) {
  std::vector<std::int64_t> sizes = groups;
  std::ranges::replace(sizes, plan::kNodeShardingGroup, node);
  return sizes;
}

struct Groups {
  std::vector<std::int64_t> inner, expert;
};

/// Returns the listed algorithms that have a message to serve in a strategy with its groups.
std::vector<collective::Algorithm> legal_algorithms(const plan::Job& job,
                                                    const SpaceDimensions& space, plan::Plan plan) {
  std::vector<collective::Algorithm> legal = space.collectives.data;
  std::erase_if(legal, [&](collective::Algorithm algorithm) {
    plan.collectives.data = algorithm;
    return algorithm != collective::Algorithm::kLibrary &&
           plan::first_broken_rule(job, plan) == plan::Rule::kDataCollectives;
  });
  return legal;
}

/// Removes the algorithms with which the job's framework does not run a strategy.
void erase_not_run(std::vector<collective::Algorithm>& algorithms, DataParallelChoiceTable& table,
                   const plan::Job& job, const SpaceDimensions& space, plan::Plan plan,
                   std::int64_t groups) {
  if (!space.framework) return;
  std::erase_if(algorithms, [&](collective::Algorithm algorithm) {
    plan.collectives.data = algorithm;
    const auto not_run =
        first_unsupported_ability(space, job, plan::canonical(plan, job), kOfStrategies);
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
  std::map<std::array<plan::Spread, 3>, bool> runs;
};

/// True if the job's framework runs the sharding strategy of a plan with some groups.
bool runs_strategy(const plan::Job& job, const SpaceDimensions& space, const plan::Plan& plan,
                   DataList& list) {
  if (!space.framework) return true;
  const plan::Sharding usual = plan::canonical_sharding(job, plan);
  const auto [known, fresh] =
      list.runs.try_emplace({usual.parameters, usual.gradients, usual.optimizer});
  if (fresh)
    known->second = space.framework->supports_choice_alone(plan::Ability::kSharding, job, plan);
  return known->second;
}

/// Adds one choice, if it is new and the framework runs it.
void add_data_choice(DataParallelChoiceTable& table, const plan::Job& job,
                     const SpaceDimensions& space, const plan::Plan& plan, DataList& list) {
  plan::Plan usual = plan::canonical(plan, job);
  const plan::FrameworkSupport::PropertyCoupling joint =
      applicable_ability_rules(space, kOfStates, job, usual, kOfDataMessages);
  if (!joint.runs() ||
      first_unsupported_ability(space, job, usual, std::array{plan::Ability::kAccumulate}))
    return;
  if (space.framework) {
    const plan::Plan own = space.framework->with_fixed_buckets(job, usual);
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
bool is_of_offload(plan::Rule rule) {
  return rule == plan::Rule::kOffloadShare || rule == plan::Rule::kOffloadUpdate ||
         rule == plan::Rule::kOffloadHost || rule == plan::Rule::kOffloadParameters ||
         rule == plan::Rule::kHostMemory;
}

/// Returns the offloads that are legal with a strategy and its groups. Each other offload is
/// counted as `points` refused points.
std::vector<plan::HostOffload> legal_offloads(DataParallelChoiceTable& table, const plan::Job& job,
                                              const SpaceDimensions& space, plan::Plan plan,
                                              std::int64_t points) {
  std::vector<plan::HostOffload> legal;
  for (const plan::HostOffload& offload : state_offload_combinations(space.offload)) {
    plan.offload = offload;
    const bool there = offload != plan::HostOffload{};
    std::optional<plan::Rule> rule;
    if (there) rule = plan::first_broken_rule(job, plan);
    const bool runs =
        !there || !space.framework ||
        space.framework->runs(plan::Ability::kOffload, job, plan::canonical(plan, job));
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
                      const SpaceDimensions& space, plan::Plan plan, std::int64_t groups,
                      DataList& list) {
  std::vector<collective::Algorithm> algorithms = legal_algorithms(job, space, plan);
  const std::int64_t refused = std::ssize(space.collectives.data) - std::ssize(algorithms);
  count(table.refused, plan::Rule::kDataCollectives, groups * refused);
  if (!runs_strategy(job, space, plan, list)) {
    return count(table.not_run, plan::Ability::kSharding, groups * std::ssize(algorithms));
  }
  erase_not_run(algorithms, table, job, space, plan, groups);
  table.points += groups * std::ssize(algorithms);
  for (const plan::HostOffload& offload :
       legal_offloads(table, job, space, plan, groups * std::ssize(algorithms))) {
    for (const DType accumulate : space.accumulate) {
      for (const std::int64_t gradients : space.gradient_bucket) {
        for (const std::int64_t parameters : space.parameter_bucket) {
          for (const collective::Algorithm algorithm : algorithms) {
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
SpaceDimensions legal_types(const plan::Job& job, const SpaceDimensions& space, plan::Plan plan) {
  SpaceDimensions legal = space;
  std::erase_if(legal.accumulate, [&](DType type) {
    plan.accumulate = type;
    return plan::first_broken_rule(job, plan) == plan::Rule::kAccumulate;
  });
  return legal;
}

/// Adds the choices of one strategy with each of its groups.
// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void add_strategy(DataParallelChoiceTable& table, const plan::Job& job,
                  const SpaceDimensions& legal, plan::Plan plan, const Groups& groups,
                  DataList& list) {
  const auto all = static_cast<std::int64_t>(groups.inner.size() * groups.expert.size());
  const std::int64_t algorithms = std::ssize(legal.collectives.data);
  if (!plan::is_paro_strategy(plan.sharding)) {
    return count(table.refused, plan::Rule::kShardingStrategy, all * algorithms);
  }
  if (!plan.sharding.uses(plan::Spread::kInner)) {
    return add_data_choices(table, job, legal, plan, all, list);
  }
  const auto broken = [&](std::int64_t inner, std::int64_t expert) {
    plan.sharding.group = inner;
    plan.sharding.expert_group = expert;
    const auto rule = plan::first_broken_rule(job, plan);
    return rule && *rule <= kLastGroupRule;
  };
  std::vector<std::int64_t> experts =
      job.model.experts ? groups.expert : std::vector<std::int64_t>{1};
  const auto before = static_cast<std::int64_t>(experts.size());
  const std::int64_t same = job.model.experts ? 1 : std::ssize(groups.expert);
  std::erase_if(experts, [&](std::int64_t size) { return broken(1, size); });
  for (const std::int64_t inner : groups.inner) {
    if (broken(inner, 1)) {
      count(table.refused, plan::Rule::kShardingGroup, std::ssize(groups.expert) * algorithms);
      continue;
    }
    count(table.refused, plan::Rule::kExpertShardingGroup,
          (before - std::ssize(experts)) * algorithms);
    for (const std::int64_t expert : experts) {
      plan.sharding.group = inner;
      plan.sharding.expert_group = expert;
      add_data_choices(table, job, legal, plan, same, list);
    }
  }
}

}  // namespace

std::vector<plan::HostOffload> state_offload_combinations(const plan::SearchedOffloads& lists) {
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
                                                   const SpaceDimensions& space,
                                                   const plan::Plan& legal,
                                                   DataParallelChoiceLists& lists) {
  DataParallelChoiceTable table;
  const SpaceDimensions types = legal_types(job, space, legal);
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
