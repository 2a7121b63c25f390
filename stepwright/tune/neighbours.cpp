#include "stepwright/tune/neighbours.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/legality.h"
#include "stepwright/plan/plan_table.h"
#include "stepwright/tune/frameworks.h"

namespace stepwright {
namespace {

std::vector<Schedule> schedules(const Dimensions& space) {
  std::vector<Schedule> all;
  for (const ScheduleKind kind : space.schedule) {
    const auto of_kind = schedules_of(kind, space.chunks, space.strands);
    all.insert(all.end(), of_kind.begin(), of_kind.end());
  }
  return all;
}

/// States as the space lists them; what they split inside groups is split inside the present ones,
/// else inside the node.
void settle_groups(const Job& job, Sharding& sharding, const Plan& plan) {
  if (!sharding.uses(Spread::kInner)) {
    sharding.group = sharding.expert_group = 1;
  } else if (sharding.group == 1 && sharding.expert_group == 1) {
    sharding.group = node_sharding_group(job.cluster, plan);
    sharding.expert_group = node_expert_group(job.cluster, plan);
  }
}

/// Whether a choice is a degree that may change by itself: data follows.
template <class Row>
bool is_degree(const Row& choice) {
  return std::is_same_v<KindOf<Row>, std::int64_t> && choice.taken == Taken::kLayout;
}

/// Visits every dimension but the degrees, with its values and how one is put into a plan.
template <class Visit>
void each_other(const Job& job, const Dimensions& space, Visit&& visit) {
  each_choice([&](const auto& choice) {
    using Kind = KindOf<decltype(choice)>;
    const auto& values = choice.list(space);
    if constexpr (std::is_same_v<Kind, ScheduleKind>) {
      visit(schedules(space), [](Plan& plan, const Schedule& to) { plan.schedule = to; });
    } else if constexpr (std::is_same_v<Kind, Sharding>) {
      visit(values, [&](Plan& plan, const Sharding& states) {
        put(choice, plan, states);
        settle_groups(job, plan.sharding, plan);
      });
    } else if constexpr (std::is_same_v<Kind, std::int64_t>) {
      // Chunks and strands are part of a schedule.
      if (is_degree(choice) || choice.place == "parallel.data" ||
          choice.place.starts_with("schedule.")) {
        return;
      }
      visit(values, [&](Plan& plan, std::int64_t size) {
        choice.of(plan) = size;
        if (plan.sharding.group == kNodeGroup) {
          plan.sharding.group = node_sharding_group(job.cluster, plan);
        }
        if (plan.sharding.expert_group == kNodeGroup) {
          plan.sharding.expert_group = node_expert_group(job.cluster, plan);
        }
      });
    } else {
      visit(values, [&](Plan& plan, const Kind& value) { choice.of(plan) = value; });
    }
  });
}

bool has(const std::vector<std::int64_t>& list, std::int64_t value) {
  return std::ranges::find(list, value) != list.end();
}

/// Gives data what the other degrees leave of the devices; false where they do not divide them.
bool fill_devices(const Job& job, Parallel& degrees) {
  const std::int64_t others = degrees.tensor * degrees.context * degrees.pipeline;
  degrees.data = job.cluster.devices() / others;
  return degrees.data > 0 && degrees.data * others == job.cluster.devices();
}

}  // namespace

bool contains(const Job& job, const Dimensions& space, const Plan& plan) {
  if (!runs_there(job, space, plan)) return false;
  if (!space.data.empty() && !has(space.data, plan.parallel.data)) return false;
  bool inside = true;
  each_choice([&](const auto& choice) {
    if constexpr (std::is_same_v<KindOf<decltype(choice)>, std::int64_t>) {
      inside = inside && (!is_degree(choice) || has(choice.list(space), choice.of(plan)));
    }
  });
  if (!inside) return false;
  // A canonical plan has the usual value where a choice means nothing, listed or not.
  each_other(job, space, [&](const auto& values, const auto& put) {
    const auto with = [&](const auto& value) {
      Plan same = plan;
      put(same, value);
      return same;
    };
    const auto is_own = [&](const auto& value) { return with(value) == plan; };
    const auto means_own = [&](const auto& value) {
      const Plan same = with(value);
      return !broken_rule(job, same) && canonical(same, job) == plan;
    };
    // Most plans have a value of the list itself, which is seen at once.
    inside =
        inside && (std::ranges::any_of(values, is_own) || std::ranges::any_of(values, means_own));
  });
  return inside;
}

std::vector<Plan> neighbours(const Job& job, const Dimensions& space, const Plan& plan) {
  std::vector<Plan> found;
  std::set<Plan> seen = {plan};
  const auto take = [&](Plan changed, bool moved) {
    changed.schedule.basis = {};  // An order is found anew.
    if (broken_rule(job, changed)) {
      follow(job, changed);
      moved = true;
      if (broken_rule(job, changed)) return;
    }
    changed = canonical(changed, job);
    if (!seen.insert(changed).second) return;
    const bool inside = moved ? contains(job, space, changed) : runs_there(job, space, changed);
    if (inside) found.push_back(std::move(changed));
  };
  each_other(job, space, [&](const auto& values, const auto& put) {
    for (const auto& value : values) {
      Plan changed = plan;
      put(changed, value);
      take(std::move(changed), false);
    }
  });
  each_choice([&](const auto& choice) {
    if constexpr (std::is_same_v<KindOf<decltype(choice)>, std::int64_t>) {
      if (!is_degree(choice)) return;
      for (const std::int64_t size : choice.list(space)) {
        Plan changed = plan;
        choice.of(changed) = size;
        if (fill_devices(job, changed.parallel)) take(std::move(changed), true);
      }
    }
  });
  return found;
}

}  // namespace stepwright
