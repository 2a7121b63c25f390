#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "stepwright/cluster/platform.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

/// Changes of one plan towards a plan that a framework runs.
class Towards {
 public:
  Towards(const FrameworkSupport& law, const Job& job, const Plan& plan)
      : law_(law),
        job_(job),
        plan_(law.with_framework_bucket_sizes(job, canonical_plan(plan, job))) {}

  [[nodiscard]] std::optional<FrameworkProperty> first_not_run() const {
    const std::vector<FrameworkProperty> first =
        law_.choices_unsupported_by_framework(job_, plan_, 1);
    if (first.empty() || first.front() == FrameworkProperty::kAttention) return std::nullopt;
    return first.front();
  }

  /// Returns legal plans in which the framework runs an ability, nearest first.
  [[nodiscard]] std::vector<Plan> candidates(FrameworkProperty ability) const {
    switch (ability) {
      case FrameworkProperty::kParallel: return settled(ability, without_degrees());
      case FrameworkProperty::kSchedule: return settled(ability, schedules());
      case FrameworkProperty::kLayers: return settled(ability, splits());
      case FrameworkProperty::kSequenceParallel:
        return settled(ability, with([](Plan& plan) { plan.sequence_parallel ^= true; }));
      case FrameworkProperty::kTensorInput:
        return settled(ability, each(kTensorInputNames, &Plan::tensor_input));
      case FrameworkProperty::kContextKind:
        return settled(ability, each(kContextKindNames, &Plan::context_kind));
      case FrameworkProperty::kSharding: return settled(ability, shardings());
      case FrameworkProperty::kGroups: return settled(ability, groups());
      case FrameworkProperty::kAccumulate: return settled(ability, types());
      case FrameworkProperty::kRecompute: return settled(ability, recomputations());
      case FrameworkProperty::kOffload: return settled(ability, offloads());
      case FrameworkProperty::kHostActivations: return settled(ability, fewer_activations());
      case FrameworkProperty::kOverlap: return settled(ability, less_overlap());
      case FrameworkProperty::kExposed: return settled(ability, less_exposed());
      case FrameworkProperty::kAlgorithms:
      case FrameworkProperty::kAlgorithmScope:
        return settled(ability, with([](Plan& plan) { plan.collectives = {}; }));
      case FrameworkProperty::kRankOrder: return settled(ability, orders());
      // abilities of the job, which may run with fewer degrees
      default: return settled(ability, fewer_degrees());
    }
  }

  [[nodiscard]] const Plan& plan() const { return plan_; }

 private:
  template <class Change>
  [[nodiscard]] std::vector<Plan> with(Change change) const {
    std::vector<Plan> plans = {plan_};
    change(plans.front());
    return plans;
  }

  template <class EnumNamedByWord, std::size_t kCount>
  [[nodiscard]] std::vector<Plan> each(const Named<EnumNamedByWord> (&table)[kCount],
                                       EnumNamedByWord Plan::* choice) const {
    std::vector<Plan> plans(kCount, plan_);
    for (std::size_t i = 0; i < kCount; ++i) plans[i].*choice = table[i].value;
    return plans;
  }

  [[nodiscard]] bool allows(FrameworkProperty ability, std::size_t word) const {
    return law_.supported_property_words(ability, job_, plan_)[word];
  }

  /// Returns plans in which degrees that do not run are 1 and data parallelism takes their ranks.
  [[nodiscard]] std::vector<Plan> without_degrees() const {
    Plan plan = plan_;
    ParallelismDegrees& degrees = plan.parallel;
    // Degrees in the order of the ability's words.
    const WordSet extra = property_values_of_plan(FrameworkProperty::kParallel, job_, plan_) &
                          ~law_.supported_property_words(FrameworkProperty::kParallel, job_, plan_);
    std::size_t word = 0;
    for (std::int64_t* degree : {&degrees.tensor, &degrees.pipeline, &degrees.context}) {
      if (extra[word++]) degrees.data *= std::exchange(*degree, 1);
    }
    if (extra[word++]) degrees.expert = 1;
    if (extra[word]) degrees.expert_tensor = 1;
    return {plan};
  }

  /// Returns plans with other schedules; 1f1b is first, as it is between all others.
  [[nodiscard]] std::vector<Plan> schedules() const {
    std::vector<Plan> plans;
    const auto add = [&](schedule::PipelineScheduleKind kind) {
      plans.push_back(plan_);
      const std::int64_t least = schedule::traits_of(kind).least_chunks;
      plans.back().schedule = {.kind = kind,
                               .chunks = schedule::supports_several_chunk_counts(kind) ? 2 : least};
    };
    add(schedule::PipelineScheduleKind::kOneForwardOneBackward);
    for (const auto& [kind, name] : schedule::kScheduleKindNames) {
      const bool between = kind != schedule::PipelineScheduleKind::kOneForwardOneBackward &&
                           kind != schedule::PipelineScheduleKind::kGpipe &&
                           (schedule::is_fixed_order_kind(kind) || schedule::traits_of(kind).found);
      if (between) add(kind);
    }
    add(schedule::PipelineScheduleKind::kGpipe);
    return plans;
  }

  /// Returns plans with the even split, with fewer chunks or positions if layers do not divide.
  [[nodiscard]] std::vector<Plan> splits() const {
    std::vector<Plan> plans;
    for (std::int64_t pipeline = plan_.parallel.pipeline; pipeline >= 1; --pipeline) {
      if (plan_.parallel.pipeline * plan_.parallel.data % pipeline != 0) continue;
      for (std::int64_t chunks = plan_.schedule.chunks; chunks >= 1; --chunks) {
        if (pipeline * chunks > job_.model.layers) continue;
        Plan& plan = plans.emplace_back(plan_);
        plan.layers.clear();
        plan.schedule.chunks = chunks;
        plan.parallel.data = plan_.parallel.data * plan_.parallel.pipeline / pipeline;
        plan.parallel.pipeline = pipeline;
      }
    }
    return plans;
  }

  /// Returns plans with other shardings, those with the nearest states first, then the finer ones.
  [[nodiscard]] std::vector<Plan> shardings() const {
    std::vector<Plan> plans;
    for (const Sharding& states : paro_strategies()) {
      Plan& plan = plans.emplace_back(plan_);
      const Sharding& own = plan_.sharding;
      plan.sharding.parameters = states.parameters;
      plan.sharding.gradients = states.gradients;
      plan.sharding.optimizer = states.optimizer;
      if (!states.uses(StateShardingScope::kInner))
        plan.sharding.group = plan.sharding.expert_group = 1;
      if (states.uses(StateShardingScope::kInner) && !own.uses(StateShardingScope::kInner)) {
        plan.sharding.group = node_sharding_group_size(job_.cluster, plan_);
        plan.sharding.expert_group = node_expert_sharding_group_size(job_.cluster, plan_);
      }
    }
    const auto steps = [this](const Plan& plan) {
      int apart = 0;
      int fineness = 0;
      for (const auto state : {&Sharding::parameters, &Sharding::gradients, &Sharding::optimizer}) {
        const int to = static_cast<int>(plan.sharding.*state);
        apart += std::abs(to - static_cast<int>(plan_.sharding.*state));
        fineness += to;
      }
      return std::pair(apart, -fineness);
    };
    std::ranges::stable_sort(plans, {}, steps);
    return plans;
  }

  /// Returns plans with other recomputations, those that keep fewer activations first.
  [[nodiscard]] std::vector<Plan> recomputations() const {
    std::vector<Plan> plans;
    for (const RecomputeKind kind : {RecomputeKind::kSelective, RecomputeKind::kFull,
                                     RecomputeKind::kEvery, RecomputeKind::kNone}) {
      plans.push_back(plan_);
      plans.back().recompute = {.kind = kind, .every = kind == RecomputeKind::kEvery ? 2 : 1};
    }
    return plans;
  }

  /// Returns plans with other host offload: masters as well, the whole optimizer, parameters with
  /// or without it, then none.
  [[nodiscard]] std::vector<Plan> offloads() const {
    std::vector<Plan> plans(4, plan_);
    plans[0].offload.masters = true;
    plans[1].offload.optimizer = 1;
    plans[1].offload.masters = true;
    plans[2] = plans[1];
    plans[2].offload.parameters = !plan_.offload.parameters;
    plans[3].offload = {.activations = plan_.offload.activations};
    return plans;
  }

  [[nodiscard]] std::vector<Plan> fewer_activations() const {
    std::vector<Plan> plans(1, plan_);
    OffloadModuleSet& left = plans.front().offload.activations = {};
    const WordSet allowed =
        law_.supported_property_words(FrameworkProperty::kHostActivations, job_, plan_);
    for (std::size_t i = 0; i < std::size(kOffloadModuleNames); ++i) {
      const OffloadModule module = kOffloadModuleNames[i].value;
      if (allowed[i] && plan_.offload.activations.has(module)) left.add(module);
    }
    return plans;
  }

  [[nodiscard]] std::vector<Plan> less_overlap() const {
    const WordSet allowed = law_.supported_property_words(FrameworkProperty::kOverlap, job_, plan_);
    const bool runs_tensor =
        allowed[std::size(kOverlapFlagTable)] || !cluster::is_rocm_device(job_.cluster.device);
    return with([&](Plan& plan) {
      plan.overlap = overlap_limited_to_listed_flags(plan.overlap, allowed);
      plan.overlap.tensor = plan.overlap.tensor && runs_tensor;
    });
  }

  [[nodiscard]] std::vector<Plan> less_exposed() const {
    const WordSet extra = property_values_of_plan(FrameworkProperty::kExposed, job_, plan_) &
                          ~law_.supported_property_words(FrameworkProperty::kExposed, job_, plan_);
    return with([&](Plan& plan) {
      for (std::size_t i = 0; i < std::size(kOverlapFlagNames); ++i) {
        if (extra[i]) plan.overlap.*kOverlapFlagNames[i].value = true;
      }
    });
  }

  [[nodiscard]] std::vector<Plan> types() const {
    std::vector<Plan> plans(2, plan_);
    plans.front().accumulate = DType::kFp32;
    plans.back().accumulate = parameter_storage_type(job_.precision);
    return plans;
  }

  /// Returns plans with other sharding groups: the present size, then smaller and larger ones, with
  /// equally many groups of experts; then states that no group shares, and more ranks to share
  /// them.
  [[nodiscard]] std::vector<Plan> groups() const {
    std::vector<Plan> plans;
    const ParallelismDegrees& degrees = plan_.parallel;
    const std::int64_t ranks = degrees.context * degrees.data;
    std::vector<std::int64_t> sizes = divisors(ranks);
    const double own = std::log(static_cast<double>(plan_.sharding.group));
    std::ranges::stable_sort(sizes, {}, [own](std::int64_t size) {
      return std::abs(std::log(static_cast<double>(size)) - own);
    });
    for (const std::int64_t size : sizes) {
      if (!plan_.sharding.uses(StateShardingScope::kInner) ||
          degrees.expert_data_degree() * size % ranks != 0)
        continue;
      Plan& plan = plans.emplace_back(plan_);
      plan.sharding.group = size;
      if (job_.model.experts)
        plan.sharding.expert_group = degrees.expert_data_degree() * size / ranks;
    }
    for (const std::string_view states : {"GGG", "NNG", "NNN"}) {
      plans.emplace_back(plan_).sharding = *sharding_named_by_word(states);
    }
    for (const Plan& plan : fewer_degrees()) plans.push_back(plan);
    return plans;
  }

  /// Returns plans in which one degree is 1 and data parallelism takes its ranks.
  [[nodiscard]] std::vector<Plan> fewer_degrees() const {
    std::vector<Plan> plans;
    for (const auto degree : {&ParallelismDegrees::tensor, &ParallelismDegrees::context,
                              &ParallelismDegrees::pipeline}) {
      if (plan_.parallel.*degree == 1) continue;
      Plan& plan = plans.emplace_back(plan_);
      plan.parallel.data *= std::exchange(plan.parallel.*degree, 1);
    }
    plans.emplace_back(plan_).parallel.expert = 1;
    plans.emplace_back(plan_).parallel.expert_tensor = 1;
    return plans;
  }

  [[nodiscard]] std::vector<Plan> orders() const {
    std::vector<Plan> plans;
    const std::vector<std::string>& words =
        framework_property_value_names(FrameworkProperty::kRankOrder);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!allows(FrameworkProperty::kRankOrder, i)) continue;
      plans.push_back(plan_);
      plans.back().rank_order = parse_rank_order(words[i]).value();
    }
    return plans;
  }

  /// Returns those of `plans` that are legal after dependent choices have followed, and in which
  /// the framework runs the ability.
  [[nodiscard]] std::vector<Plan> settled(FrameworkProperty ability,
                                          const std::vector<Plan>& plans) const {
    std::vector<Plan> good;
    for (Plan plan : plans) {
      adapt_dependent_choices(job_, plan);
      const std::optional<PlanRejection> refused = find_plan_rejection(job_, plan);
      for (const Plan& legal : refused ? refused->nearest : std::vector{plan}) {
        const Plan usual = canonical_plan(legal, job_);
        if (law_.supports_plan(ability, job_, usual)) good.push_back(usual);
      }
    }
    return good;
  }

  const FrameworkSupport& law_;
  const Job& job_;
  Plan plan_;
};

/// Most plans that are tried on the way from one plan to a plan that runs.
constexpr int kMostTried = 100;
/// Most sets of degrees that are tried if no plan near the given one runs.
constexpr std::size_t kMostDegrees = 200;

/// True if the framework runs the job's own choices, with some degrees of parallelism.
bool runs_job(const FrameworkSupport& law, const Job& job, const Plan& plan) {
  return std::ranges::all_of(kAbilityNames, [&](const Named<FrameworkProperty>& entry) {
    const FrameworkProperty ability = entry.value;
    if (of_plan(ability) || ability == FrameworkProperty::kAttention) return true;
    const WordSet taken = property_values_of_plan(ability, job, plan);
    for (DegreeSet degrees = 0; degrees < FrameworkSupport::kParallelismDegreeCombinations;
         ++degrees) {
      if ((taken & ~law.supported_property_words(ability, degrees)).none()) return true;
    }
    return false;
  });
}

/// Fixes one ability after the other, each at the nearest word that leads to a plan that runs;
/// `left`: the number of plans that may still be tried.
std::optional<Plan> settle(const FrameworkSupport& law, const Job& job, const Plan& plan,
                           std::set<Plan>& seen, int& left) {
  const Towards towards(law, job, plan);
  const std::optional<FrameworkProperty> ability = towards.first_not_run();
  if (!ability) return towards.plan();
  for (const Plan& candidate : towards.candidates(*ability)) {
    if (!seen.insert(candidate).second) continue;
    if (--left < 0) return std::nullopt;
    if (auto found = settle(law, job, candidate, seen, left)) return found;
  }
  return std::nullopt;
}

/// Returns the plan with other degrees of parallelism, nearest first, by the factors between the
/// degrees.
std::vector<Plan> in_other_degrees(const Job& job, const Plan& plan) {
  const auto apart = [](std::int64_t a, std::int64_t b) {
    return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
  };
  std::vector<std::pair<double, ParallelismDegrees>> all;
  for (const std::int64_t tensor : legal_tensor_degrees(job)) {
    for (const std::int64_t pipeline : legal_pipeline_degrees(job)) {
      for (const std::int64_t context : legal_context_degrees(job)) {
        const std::int64_t model = tensor * pipeline * context;
        if (job.cluster.devices() % model != 0) continue;
        for (const std::int64_t expert : legal_expert_degrees(job)) {
          const ParallelismDegrees& own = plan.parallel;
          all.emplace_back(apart(tensor, own.tensor) + apart(pipeline, own.pipeline) +
                               apart(context, own.context) + apart(expert, own.expert),
                           ParallelismDegrees{.tensor = tensor,
                                              .pipeline = pipeline,
                                              .context = context,
                                              .expert = expert,
                                              .data = job.cluster.devices() / model});
        }
      }
    }
  }
  std::ranges::stable_sort(all, {}, [](const auto& one) { return one.first; });
  std::vector<Plan> plans;
  for (const auto& [distance, parallel] : all) {
    if (plans.size() == kMostDegrees) break;
    Plan other = plan;
    other.parallel = parallel;
    other.layers.clear();
    other.micro_batch = 1;
    if (parallel.pipeline == 1) other.schedule = {};
    adapt_dependent_choices(job, other);
    if (first_broken_rule(job, other)) other.sequence_parallel = false;
    if (!first_broken_rule(job, other)) plans.push_back(canonical_plan(other, job));
  }
  return plans;
}

}  // namespace

std::optional<Plan> nearest_runnable_plan(const TrainingFramework& framework, const Job& job,
                                          const Plan& plan, bool near) {
  const FrameworkSupport law(framework);
  if (!runs_job(law, job, plan)) return std::nullopt;
  std::set<Plan> seen;
  int left = kMostTried;
  auto found = settle(law, job, plan, seen, left);
  if (found || near) return found;
  for (const Plan& other : in_other_degrees(job, plan)) {
    left = kMostTried;
    if ((found = settle(law, job, other, seen, left))) break;
  }
  return found;
}

}  // namespace stepwright::plan
