#include "stepwright/tune/data_choices.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/grid.h"

namespace stepwright {
namespace {

constexpr Ability kOfStates[] = {Ability::kSharding, Ability::kGroups, Ability::kAccumulate,
                                 Ability::kOffload};

constexpr Ability kOfStrategies[] = {Ability::kSharding, Ability::kGroups, Ability::kAlgorithms};
constexpr Algorithm Collectives::* kOfDataMessages[] = {&Collectives::data};

/// Rules up to this one are decided by the grid and sharding groups.
constexpr Rule kLastGroupRule = Rule::kExpertShardingGroup;

/// The sizes of groups that a plan of this grid may have, `node` resolved.
std::vector<std::int64_t> resolved(const std::vector<std::int64_t>& groups, std::int64_t node) {
  std::vector<std::int64_t> sizes = groups;
  std::ranges::replace(sizes, kNodeGroup, node);
  return sizes;
}

struct Groups {
  std::vector<std::int64_t> inner, expert;
};

/// The listed algorithms that a strategy and its groups have a message for.
std::vector<Algorithm> legal_algorithms(const Job& job, const Dimensions& space, Plan plan) {
  std::vector<Algorithm> legal = space.collectives.data;
  std::erase_if(legal, [&](Algorithm algorithm) {
    plan.collectives.data = algorithm;
    return algorithm != Algorithm::kLibrary && broken_rule(job, plan) == Rule::kDataCollectives;
  });
  return legal;
}

/// Takes out the algorithms with which the job's framework does not run a strategy.
void erase_not_run(std::vector<Algorithm>& algorithms, DataTable& table, const Job& job,
                   const Dimensions& space, Plan plan, std::int64_t groups) {
  if (!space.framework) return;
  std::erase_if(algorithms, [&](Algorithm algorithm) {
    plan.collectives.data = algorithm;
    const auto not_run = not_run_by(space, job, canonical(plan, job), kOfStrategies);
    if (not_run) count(table.not_run, *not_run, groups);
    return not_run.has_value();
  });
}

/// Whether a framework may have its own buckets.
bool free_buckets(const Job& job) {
  return job.space.gradient_bucket.empty() && job.space.parameter_bucket.empty();
}

/// What a grid may choose, in order.
struct DataList {
  std::vector<DataChoice> choices;
  std::set<DataChoice> seen;
};

/// Adds one choice, where it is new and runs.
void add_data_choice(DataTable& table, const Job& job, const Dimensions& space, const Plan& plan,
                     DataList& list) {
  Plan usual = canonical(plan, job);
  const FrameworkLaw::Joint joint = joint_of(space, kOfStates, job, usual, kOfDataMessages);
  if (!joint.runs() || not_run_by(space, job, usual, std::array{Ability::kAccumulate})) return;
  if (space.framework) {
    const Plan own = space.framework->with_buckets(job, usual);
    if (own != usual && !free_buckets(job)) return;
    usual = own;
  }
  const DataChoice choice{usual.sharding,
                          usual.accumulate,
                          usual.collectives.data,
                          usual.gradient_bucket,
                          usual.parameter_bucket,
                          usual.offload,
                          joint};
  if (!list.seen.insert(choice).second) return;
  list.choices.push_back(choice);
  ++table.joints[{joint, choice.gathers()}];
  table.holds |= joint.holds;
  table.gathering += choice.gathers() ? 1 : 0;
}

/// Whether a rule is of what is left to the host (`plan/laws/offload_laws.cpp`).
bool is_of_offload(Rule rule) {
  return rule == Rule::kOffloadShare || rule == Rule::kOffloadUpdate ||
         rule == Rule::kOffloadHost || rule == Rule::kOffloadParameters ||
         rule == Rule::kHostMemory;
}

/// What may be left to the host beside a strategy with its groups; counts the others, of which each
/// stands for so many points.
std::vector<Offload> legal_offloads(DataTable& table, const Job& job, const Dimensions& space,
                                    Plan plan, std::int64_t points) {
  std::vector<Offload> legal;
  for (const Offload& offload : offloads_of_states(space.offload)) {
    plan.offload = offload;
    const bool there = offload != Offload{};
    std::optional<Rule> rule;
    if (there) rule = broken_rule(job, plan);
    const bool runs = !there || !space.framework ||
                      space.framework->runs(Ability::kOffload, job, canonical(plan, job));
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

/// Adds what a strategy with its groups, which stand for `groups` points, leaves to choose.
// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void add_data_choices(DataTable& table, const Job& job, const Dimensions& space, Plan plan,
                      std::int64_t groups, DataList& list) {
  std::vector<Algorithm> algorithms = legal_algorithms(job, space, plan);
  const std::int64_t refused = std::ssize(space.collectives.data) - std::ssize(algorithms);
  count(table.refused, Rule::kDataCollectives, groups * refused);
  erase_not_run(algorithms, table, job, space, plan, groups);
  table.points += groups * std::ssize(algorithms);
  for (const Offload& offload :
       legal_offloads(table, job, space, plan, groups * std::ssize(algorithms))) {
    for (const DType accumulate : space.accumulate) {
      for (const std::int64_t gradients : space.gradient_bucket) {
        for (const std::int64_t parameters : space.parameter_bucket) {
          for (const Algorithm algorithm : algorithms) {
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

/// Legal types of accumulation; the others are counted later, as the last rule.
Dimensions legal_types(const Job& job, const Dimensions& space, Plan plan) {
  Dimensions legal = space;
  std::erase_if(legal.accumulate, [&](DType type) {
    plan.accumulate = type;
    return broken_rule(job, plan) == Rule::kAccumulate;
  });
  return legal;
}

/// All groups of one strategy.
// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void add_strategy(DataTable& table, const Job& job, const Dimensions& legal, Plan plan,
                  const Groups& groups, DataList& list) {
  const auto all = static_cast<std::int64_t>(groups.inner.size() * groups.expert.size());
  const std::int64_t algorithms = std::ssize(legal.collectives.data);
  if (!is_paro_strategy(plan.sharding)) {
    return count(table.refused, Rule::kShardingStrategy, all * algorithms);
  }
  if (!plan.sharding.uses(Spread::kInner)) {
    return add_data_choices(table, job, legal, plan, all, list);
  }
  const auto broken = [&](std::int64_t inner, std::int64_t expert) {
    plan.sharding.group = inner;
    plan.sharding.expert_group = expert;
    const auto rule = broken_rule(job, plan);
    return rule && *rule <= kLastGroupRule;
  };
  std::vector<std::int64_t> experts =
      job.model.experts ? groups.expert : std::vector<std::int64_t>{1};
  const auto before = static_cast<std::int64_t>(experts.size());
  const std::int64_t same = job.model.experts ? 1 : std::ssize(groups.expert);
  std::erase_if(experts, [&](std::int64_t size) { return broken(1, size); });
  for (const std::int64_t inner : groups.inner) {
    if (broken(inner, 1)) {
      count(table.refused, Rule::kShardingGroup, std::ssize(groups.expert) * algorithms);
      continue;
    }
    count(table.refused, Rule::kExpertShardingGroup, (before - std::ssize(experts)) * algorithms);
    for (const std::int64_t expert : experts) {
      plan.sharding.group = inner;
      plan.sharding.expert_group = expert;
      add_data_choices(table, job, legal, plan, same, list);
    }
  }
}

}  // namespace

std::vector<Offload> offloads_of_states(const OffloadLists& lists) {
  std::vector<Offload> all;
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

DataTable data_table(const Job& job, const Dimensions& space, const Plan& legal, DataLists& lists) {
  DataTable table;
  const Dimensions types = legal_types(job, space, legal);
  const Groups groups{resolved(space.sharding_group, node_sharding_group(job.cluster, legal)),
                      resolved(space.expert_group, node_expert_group(job.cluster, legal))};
  DataList list;
  for (const Sharding& states : space.sharding) {
    Plan plan = legal;
    plan.sharding = states;
    plan.sharding.group = plan.sharding.expert_group = 1;
    add_strategy(table, job, types, plan, groups, list);
  }
  list.choices.shrink_to_fit();
  table.choices = *lists.insert(std::move(list.choices)).first;
  return table;
}

void apply(const DataChoice& choice, Plan& plan) {
  plan.sharding = choice.sharding;
  plan.accumulate = choice.accumulate;
  plan.collectives.data = choice.algorithm;
  plan.gradient_bucket = choice.gradient_bucket;
  plan.parameter_bucket = choice.parameter_bucket;
  plan.offload.optimizer = choice.offload.optimizer;
  plan.offload.masters = choice.offload.masters;
  plan.offload.parameters = choice.offload.parameters;
}

}  // namespace stepwright
