#include "stepwright/tune/neighbours.h"

#include <algorithm>
#include <set>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/legality.h"
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
void put_states(const Job& job, Plan& plan, const Sharding& states) {
  Sharding& sharding = plan.sharding;
  sharding.parameters = states.parameters;
  sharding.gradients = states.gradients;
  sharding.optimizer = states.optimizer;
  if (!sharding.uses(Spread::kInner)) {
    sharding.group = sharding.expert_group = 1;
  } else if (sharding.group == 1 && sharding.expert_group == 1) {
    sharding.group = node_sharding_group(job.cluster, plan);
    sharding.expert_group = node_expert_group(job.cluster, plan);
  }
}

/// Visits every dimension but the degrees, with its values and how one is put into a plan.
template <class Visit>
void each_choice(const Job& job, const Dimensions& space, Visit&& visit) {
  visit(space.micro_batch, [](Plan& plan, std::int64_t size) { plan.micro_batch = size; });
  visit(schedules(space), [](Plan& plan, const Schedule& schedule) { plan.schedule = schedule; });
  visit(space.layers, [](Plan& plan, const auto& layers) { plan.layers = layers; });
  visit(space.recompute, [](Plan& plan, const Recompute& kind) { plan.recompute = kind; });
  visit(space.sequence_parallel, [](Plan& plan, bool on) { plan.sequence_parallel = on; });
  visit(space.tensor_input, [](Plan& plan, TensorInput kind) { plan.tensor_input = kind; });
  visit(space.context_kind, [](Plan& plan, ContextKind kind) { plan.context_kind = kind; });
  visit(space.overlap, [](Plan& plan, const Overlap& overlap) { plan.overlap = overlap; });
  visit(space.rank_order, [](Plan& plan, const RankOrder& order) { plan.rank_order = order; });
  visit(space.sharding, [&](Plan& plan, const Sharding& states) { put_states(job, plan, states); });
  visit(space.group, [&](Plan& plan, std::int64_t size) {
    plan.sharding.group = size == kNodeGroup ? node_sharding_group(job.cluster, plan) : size;
  });
  visit(space.expert_group, [&](Plan& plan, std::int64_t size) {
    plan.sharding.expert_group = size == kNodeGroup ? node_expert_group(job.cluster, plan) : size;
  });
  visit(space.accumulate, [](Plan& plan, DType type) { plan.accumulate = type; });
  visit(space.gradient_bucket, [](Plan& plan, std::int64_t size) { plan.gradient_bucket = size; });
  visit(space.parameter_bucket,
        [](Plan& plan, std::int64_t size) { plan.parameter_bucket = size; });
  for (std::size_t i = 0; i < std::size(kAlgorithmLists); ++i) {
    visit(space.collectives.*kAlgorithmLists[i], [i](Plan& plan, Algorithm algorithm) {
      plan.collectives.*kChoosingSchemes[i].choice = algorithm;
    });
  }
}

/// The degrees that the space lists; data follows from the devices where it lists none.
struct Degree {
  std::int64_t Parallel::* size;
  std::vector<std::int64_t> Dimensions::* list;
};
constexpr Degree kDegrees[] = {{&Parallel::tensor, &Dimensions::tensor},
                               {&Parallel::context, &Dimensions::context},
                               {&Parallel::pipeline, &Dimensions::pipeline},
                               {&Parallel::expert, &Dimensions::expert},
                               {&Parallel::expert_tensor, &Dimensions::expert_tensor}};

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
  for (const Degree& degree : kDegrees) {
    if (!has(space.*degree.list, plan.parallel.*degree.size)) return false;
  }
  if (!space.data.empty() && !has(space.data, plan.parallel.data)) return false;
  bool inside = true;
  // A canonical plan has the usual value where a choice means nothing, listed or not.
  each_choice(job, space, [&](const auto& values, const auto& put) {
    inside = inside && std::ranges::any_of(values, [&](const auto& value) {
               Plan same = plan;
               put(same, value);
               return same == plan || (!broken_rule(job, same) && canonical(same, job) == plan);
             });
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
  each_choice(job, space, [&](const auto& values, const auto& put) {
    for (const auto& value : values) {
      Plan changed = plan;
      put(changed, value);
      take(std::move(changed), false);
    }
  });
  for (const Degree& degree : kDegrees) {
    for (const std::int64_t size : space.*degree.list) {
      Plan changed = plan;
      changed.parallel.*degree.size = size;
      if (fill_devices(job, changed.parallel)) take(std::move(changed), true);
    }
  }
  return found;
}

}  // namespace stepwright
