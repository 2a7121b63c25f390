#include "stepwright/tune/neighbours.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/tune/frameworks.h"

namespace stepwright::tune {
namespace {

std::vector<schedule::PipelineSchedule> schedules(const SearchSpaceDimensions& space) {
  std::vector<schedule::PipelineSchedule> all;
  for (const schedule::PipelineScheduleKind kind : space.schedule) {
    const auto of_kind = schedule::schedules_of_kind(kind, space.chunks, space.strands);
    all.insert(all.end(), of_kind.begin(), of_kind.end());
  }
  return all;
}

/// Sets the groups of a sharding from the space: states that it splits inside groups are split
/// inside the plan's present groups, else inside the node.
void settle_groups(const plan::Job& job, plan::Sharding& sharding, const plan::Plan& plan) {
  if (!sharding.uses(plan::StateShardingScope::kInner)) {
    sharding.group = sharding.expert_group = 1;
  } else if (sharding.group == 1 && sharding.expert_group == 1) {
    sharding.group = plan::node_sharding_group_size(job.cluster, plan);
    sharding.expert_group = plan::node_expert_sharding_group_size(job.cluster, plan);
  }
}

/// True if a choice is a degree that may change by itself; the data degree follows the others.
template <class Row>
bool is_degree(const Row& choice) {
  return std::is_same_v<plan::KindOf<Row>, std::int64_t> &&
         choice.traits.taken == plan::PlanChoiceAdoption::kLayout;
}

/// Visits every dimension except the degrees, with its values and the function that writes a value
/// into a plan.
template <class VisitorCallback>
void each_other(const plan::Job& job, const SearchSpaceDimensions& space, VisitorCallback&& visit) {
  plan::each_choice([&](const auto& choice) {
    using Kind = plan::KindOf<decltype(choice)>;
    const auto& values = choice.list(space);
    if constexpr (std::is_same_v<Kind, schedule::PipelineScheduleKind>) {
      visit(schedules(space),
            [](plan::Plan& plan, const schedule::PipelineSchedule& to) { plan.schedule = to; });
    } else if constexpr (std::is_same_v<Kind, plan::Sharding>) {
      visit(values, [&](plan::Plan& plan, const plan::Sharding& states) {
        plan::put(choice, plan, states);
        settle_groups(job, plan.sharding, plan);
      });
    } else if constexpr (std::is_same_v<Kind, std::int64_t>) {
      // Chunks and strands are set with the schedule.
      if (is_degree(choice) || choice.place == "parallel.data" ||
          choice.place.starts_with("schedule.")) {
        return;
      }
      visit(values, [&](plan::Plan& plan, std::int64_t size) {
        choice.of(plan) = size;
        if (plan.sharding.group == plan::kNodeSizedShardingGroup) {
          plan.sharding.group = plan::node_sharding_group_size(job.cluster, plan);
        }
        if (plan.sharding.expert_group == plan::kNodeSizedShardingGroup) {
          plan.sharding.expert_group = plan::node_expert_sharding_group_size(job.cluster, plan);
        }
      });
    } else {
      visit(values, [&](plan::Plan& plan, const Kind& value) { choice.of(plan) = value; });
    }
  });
}

bool has(const std::vector<std::int64_t>& list, std::int64_t value) {
  return std::ranges::find(list, value) != list.end();
}

/// Sets the data degree to the devices divided by the other degrees; false where they do not
/// divide.
bool fill_devices(const plan::Job& job, plan::ParallelismDegrees& degrees) {
  const std::int64_t others = degrees.tensor * degrees.context * degrees.pipeline;
  degrees.data = job.cluster.devices() / others;
  return degrees.data > 0 && degrees.data * others == job.cluster.devices();
}

}  // namespace

bool is_in_search_space(const plan::Job& job, const SearchSpaceDimensions& space,
                        const plan::Plan& plan) {
  if (!framework_supports_plan_unchanged(job, space, plan)) return false;
  if (!space.data.empty() && !has(space.data, plan.parallel.data)) return false;
  bool inside = true;
  plan::each_choice([&](const auto& choice) {
    if constexpr (std::is_same_v<plan::KindOf<decltype(choice)>, std::int64_t>) {
      inside = inside && (!is_degree(choice) || has(choice.list(space), choice.of(plan)));
    }
  });
  if (!inside) return false;
  // A canonical plan has the usual value where a choice has no effect, whether that value is listed
  // or not.
  each_other(job, space, [&](const auto& values, const auto& put) {
    const auto with = [&](const auto& value) {
      plan::Plan same = plan;
      put(same, value);
      return same;
    };
    const auto is_own = [&](const auto& value) { return with(value) == plan; };
    const auto means_own = [&](const auto& value) {
      const plan::Plan same = with(value);
      return !plan::first_broken_rule(job, same) && plan::canonical_plan(same, job) == plan;
    };
    // Most plans have a listed value, which is found at once.
    inside =
        inside && (std::ranges::any_of(values, is_own) || std::ranges::any_of(values, means_own));
  });
  return inside;
}

plan::Plan move_into_search_space(const plan::Job& job, const SearchSpaceDimensions& space,
                                  plan::Plan plan) {
  each_other(job, space, [&](const auto& values, const auto& put) {
    if (values.empty()) return;
    const auto with = [&](const auto& value) {
      plan::Plan same = plan;
      put(same, value);
      return plan::canonical_plan(same, job);
    };
    const auto is_own = [&](const auto& value) { return with(value) == plan; };
    if (std::ranges::none_of(values, is_own)) plan = with(values.front());
  });
  return plan;
}

std::vector<plan::Plan> plans_differing_in_one_choice(const plan::Job& job,
                                                      const SearchSpaceDimensions& space,
                                                      const plan::Plan& plan) {
  std::vector<plan::Plan> found;
  std::set<plan::Plan> seen = {plan};
  const auto take = [&](plan::Plan changed, bool moved) {
    changed.schedule.basis = {};  // A new order must be found.
    if (plan::first_broken_rule(job, changed)) {
      plan::adapt_dependent_choices(job, changed);
      moved = true;
      if (plan::first_broken_rule(job, changed)) return;
    }
    changed = plan::canonical_plan(changed, job);
    if (!seen.insert(changed).second) return;
    const bool inside = moved ? is_in_search_space(job, space, changed)
                              : framework_supports_plan_unchanged(job, space, changed);
    if (inside) found.push_back(std::move(changed));
  };
  each_other(job, space, [&](const auto& values, const auto& put) {
    for (const auto& value : values) {
      plan::Plan changed = plan;
      put(changed, value);
      take(std::move(changed), false);
    }
  });
  plan::each_choice([&](const auto& choice) {
    if constexpr (std::is_same_v<plan::KindOf<decltype(choice)>, std::int64_t>) {
      if (!is_degree(choice)) return;
      for (const std::int64_t size : choice.list(space)) {
        plan::Plan changed = plan;
        choice.of(changed) = size;
        if (fill_devices(job, changed.parallel)) take(std::move(changed), true);
      }
    }
  });
  return found;
}

}  // namespace stepwright::tune
