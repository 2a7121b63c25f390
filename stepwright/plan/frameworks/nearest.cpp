#include <algorithm>
#include <cstdlib>
#include <utility>

#include "stepwright/plan/frameworks.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/legality.h"

namespace stepwright {
namespace {

/// Changes of one plan towards what a framework runs.
class Towards {
 public:
  Towards(const FrameworkLaw& law, const Job& job, const Plan& plan)
      : law_(law),
        job_(job),
        plan_(canonical(plan, job)),
        degrees_(degrees_above_one(plan_.parallel)) {}

  [[nodiscard]] std::optional<Ability> first_not_run() const {
    for (const auto& [ability, name] : kAbilityNames) {
      if (ability != Ability::kAttention && !law_.runs(ability, job_, plan_)) return ability;
    }
    return std::nullopt;
  }

  /// Legal plans in which the framework runs that ability, nearest first.
  [[nodiscard]] std::vector<Plan> candidates(Ability ability) const {
    switch (ability) {
      case Ability::kParallel: return settled(ability, without_degrees());
      case Ability::kSchedule: return settled(ability, schedules());
      case Ability::kLayers: return settled(ability, splits());
      case Ability::kSequenceParallel:
        return settled(ability, with([](Plan& plan) { plan.sequence_parallel ^= true; }));
      case Ability::kTensorInput:
        return settled(ability, each(kTensorInputNames, &Plan::tensor_input));
      case Ability::kContextKind:
        return settled(ability, each(kContextKindNames, &Plan::context_kind));
      case Ability::kSharding: return settled(ability, shardings());
      case Ability::kRecompute: return settled(ability, recomputations());
      case Ability::kOverlap: return settled(ability, less_overlap());
      case Ability::kAlgorithms:
        return settled(ability, with([](Plan& plan) { plan.collectives = {}; }));
      case Ability::kRankOrder: return settled(ability, orders());
      default: return {};  // the job's, not the plan's
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

  template <class Enum, std::size_t kCount>
  [[nodiscard]] std::vector<Plan> each(const Named<Enum> (&table)[kCount],
                                       Enum Plan::* choice) const {
    std::vector<Plan> plans(kCount, plan_);
    for (std::size_t i = 0; i < kCount; ++i) plans[i].*choice = table[i].value;
    return plans;
  }

  [[nodiscard]] bool allows(Ability ability, std::size_t word) const {
    return law_.allowed(ability, degrees_)[word];
  }

  /// Degrees that do not run give their ranks to data parallelism.
  [[nodiscard]] std::vector<Plan> without_degrees() const {
    Plan plan = plan_;
    Parallel& degrees = plan.parallel;
    // In the order of the words.
    const WordSet extra =
        taken_words(Ability::kParallel, job_, plan_) & ~law_.allowed(Ability::kParallel, degrees_);
    std::size_t word = 0;
    for (std::int64_t* degree : {&degrees.tensor, &degrees.pipeline, &degrees.context}) {
      if (extra[word++]) degrees.data *= std::exchange(*degree, 1);
    }
    if (extra[word++]) degrees.expert = 1;
    if (extra[word]) degrees.expert_tensor = 1;
    return {plan};
  }

  /// 1f1b before the others: it is between them.
  [[nodiscard]] std::vector<Plan> schedules() const {
    std::vector<Plan> plans;
    const auto add = [&](ScheduleKind kind) {
      plans.push_back(plan_);
      const std::int64_t least = traits_of(kind).least_chunks;
      plans.back().schedule = {.kind = kind, .chunks = has_chunk_choice(kind) ? 2 : least};
    };
    add(ScheduleKind::kOneForwardOneBackward);
    for (const auto& [kind, name] : kScheduleNames) {
      const bool between = kind != ScheduleKind::kOneForwardOneBackward &&
                           kind != ScheduleKind::kGpipe && traits_of(kind).runs;
      if (between) add(kind);
    }
    add(ScheduleKind::kGpipe);
    return plans;
  }

  /// The even split, with fewer chunks or positions where it leaves a remainder.
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

  /// By how far the states are from these, then the finer.
  [[nodiscard]] std::vector<Plan> shardings() const {
    std::vector<Plan> plans;
    for (const Sharding& states : paro_strategies()) {
      Plan& plan = plans.emplace_back(plan_);
      const Sharding& own = plan_.sharding;
      plan.sharding.parameters = states.parameters;
      plan.sharding.gradients = states.gradients;
      plan.sharding.optimizer = states.optimizer;
      if (!states.uses(Spread::kInner)) plan.sharding.group = plan.sharding.expert_group = 1;
      if (states.uses(Spread::kInner) && !own.uses(Spread::kInner)) {
        plan.sharding.group = node_sharding_group(job_.cluster, plan_);
        plan.sharding.expert_group = node_expert_group(job_.cluster, plan_);
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

  /// What keeps less before what keeps more.
  [[nodiscard]] std::vector<Plan> recomputations() const {
    std::vector<Plan> plans;
    for (const RecomputeKind kind : {RecomputeKind::kSelective, RecomputeKind::kFull,
                                     RecomputeKind::kEvery, RecomputeKind::kNone}) {
      plans.push_back(plan_);
      plans.back().recompute = {.kind = kind, .every = kind == RecomputeKind::kEvery ? 2 : 1};
    }
    return plans;
  }

  [[nodiscard]] std::vector<Plan> less_overlap() const {
    const WordSet& allowed = law_.allowed(Ability::kOverlap, degrees_);
    return with([&](Plan& plan) { plan.overlap = overlap_within(plan.overlap, allowed); });
  }

  [[nodiscard]] std::vector<Plan> orders() const {
    std::vector<Plan> plans;
    const std::vector<std::string>& words = ability_words(Ability::kRankOrder);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!allows(Ability::kRankOrder, i)) continue;
      plans.push_back(plan_);
      plans.back().rank_order = rank_order_of(words[i]).value();
    }
    return plans;
  }

  /// Those that are legal with what follows, and in which the framework runs the ability.
  [[nodiscard]] std::vector<Plan> settled(Ability ability, const std::vector<Plan>& plans) const {
    std::vector<Plan> good;
    for (Plan plan : plans) {
      follow(job_, plan);
      const std::optional<Rejected> refused = illegal(job_, plan);
      for (const Plan& legal : refused ? refused->nearest : std::vector{plan}) {
        const Plan usual = canonical(legal, job_);
        if (law_.runs(ability, job_, usual)) good.push_back(usual);
      }
    }
    return good;
  }

  const FrameworkLaw& law_;
  const Job& job_;
  Plan plan_;
  DegreeSet degrees_;
};

}  // namespace

std::optional<Plan> nearest_run(const Framework& framework, const Job& job, const Plan& plan) {
  const FrameworkLaw law(framework);
  Plan present = plan;
  // Each ability is settled once, and again where a later one moved it.
  for (std::size_t step = 0; step < 2 * kAbilities; ++step) {
    const Towards towards(law, job, present);
    const std::optional<Ability> ability = towards.first_not_run();
    if (!ability) return towards.plan();
    const std::vector<Plan> candidates = towards.candidates(*ability);
    if (candidates.empty()) return std::nullopt;
    present = candidates.front();
  }
  return std::nullopt;
}

}  // namespace stepwright
