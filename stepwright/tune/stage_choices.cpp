#include "stepwright/tune/stage_choices.h"

#include <array>
#include <optional>
#include <set>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/placement.h"

namespace stepwright {
namespace {

constexpr Ability kOfStages[] = {Ability::kSchedule, Ability::kLayers, Ability::kRecompute};

/// Rules up to this one are decided by the grid and a schedule.
constexpr Rule kLastStageRule = Rule::kStrandsNeedMicroBatches;

Recomputations recomputations(const Job& job, const Dimensions& space, Plan plan) {
  Recomputations out;
  for (const Recompute& recompute : space.recompute) {
    plan.recompute = recompute;
    if (not_run_by(space, job, plan, std::array{Ability::kRecompute})) {
      ++out.not_run;
    } else if (const auto rule = broken_recompute(job, plan)) {
      out.refused.emplace_back(*rule, recompute);
    } else {
      out.legal.push_back(recompute);
    }
  }
  return out;
}

/// Adds a legal schedule with every recomputation. Most are canonical as they stand.
void add_stage_choices(StageTable& table, const Job& job, const Dimensions& space, Plan plan,
                       std::set<Plan>& seen) {
  const bool two_splits = balances(job, space, plan);
  for (const Recompute& recompute : table.recomputations.legal) {
    plan.recompute = recompute;
    Plan usual = plan;
    const bool settled = plan.schedule.kind != ScheduleKind::kGpipe && plan.layers.empty() &&
                         recompute.kind <= RecomputeKind::kFull &&
                         recompute == Recompute{.kind = recompute.kind};
    if (!settled) usual = canonical(plan, job);
    if (!seen.insert(usual).second) continue;
    const FrameworkLaw::Joint joint = joint_of(space, kOfStages, job, usual, {});
    table.by_micro_batch[usual.micro_batch].push_back({.schedule = usual.schedule,
                                                       .recompute = usual.recompute,
                                                       .layers = usual.layers,
                                                       .balances = two_splits,
                                                       .joint = joint});
    ++table.choices;
    ++table.joints[joint];
    table.holds |= joint.holds;
  }
}

/// The schedule or the cut into stages, where the job's framework does not run it. The plan
/// recomputes nothing, which all run.
std::optional<Ability> stage_not_run(const Job& job, const Dimensions& space, const Plan& plan) {
  if (!space.framework) return std::nullopt;
  return not_run_by(space, job, canonical(plan, job), kOfStages);
}

/// Choices of one schedule stand side by side, with any recomputation.
void set_least_work(StageTable& table) {
  const auto alike = [](const StageChoice& a, const StageChoice& b) {
    return a.schedule == b.schedule && a.layers == b.layers;
  };
  const auto repeats = [](const StageChoice& choice) {
    return choice.recompute.kind == RecomputeKind::kFull;
  };
  const auto least_of = [](StageChoice choice) {
    // Of choices that differ by position none need be the least everywhere.
    if (!recomputes_alike(choice.recompute)) choice.recompute = {};
    return choice;
  };
  for (const auto& [micro_batch, choices] : table.by_micro_batch) {
    std::vector<StageChoice>& least = table.least_work[micro_batch];
    for (const StageChoice& choice : choices) {
      if (least.empty() || !alike(least.back(), choice)) {
        least.push_back(least_of(choice));
      } else if (repeats(least.back())) {
        least.back() = least_of(choice);
      }
    }
  }
}

/// The first rule that a schedule breaks. Shardings are chosen apart from schedules: passes over
/// the vocabulary, which need parameters and gradients whole, are searched where all of a list
/// leave them so.
std::optional<Rule> broken_by_schedule(const Job& job, const Dimensions& space, const Plan& plan) {
  const auto rule = broken_rule(job, plan);
  if (rule || traits_of(plan.schedule.kind).barriers == 0) return rule;
  for (const Sharding& states : space.sharding) {
    Plan sharded = plan;
    sharded.sharding = states;
    if (broken_rule(job, sharded) == Rule::kVocabularyStep) return Rule::kVocabularyStep;
  }
  return std::nullopt;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
StageTable stage_table(const Job& job, const Dimensions& space, const Plan& legal) {
  StageTable table;
  table.recomputations = recomputations(job, space, legal);
  std::set<Plan> seen;
  Plan plan = legal;
  for (const std::int64_t micro_batch : space.micro_batch) {
    for (const ScheduleKind kind : space.schedule) {
      // To find its order takes as long as to price ten thousand plans: the best plans try it.
      if (traits_of(kind).found) continue;
      const std::int64_t same = (has_chunk_choice(kind) ? 1 : std::ssize(space.chunks)) *
                                (traits_of(kind).pairs ? 1 : std::ssize(space.strands));
      for (const Schedule& schedule : schedules_of(kind, space.chunks, space.strands)) {
        for (const auto& layers : space.layers) {
          plan.micro_batch = micro_batch;
          plan.schedule = schedule;
          plan.layers = layers;
          const auto rule = broken_by_schedule(job, space, plan);
          if (rule && *rule <= kLastStageRule) {
            count(table.refused, *rule, same);
            continue;
          }
          if (const auto not_run = stage_not_run(job, space, plan)) {
            count(table.not_run, *not_run, same);
            continue;
          }
          table.points += same;
          add_stage_choices(table, job, space, plan, seen);
        }
      }
    }
  }
  set_least_work(table);
  return table;
}

bool balances(const Job& job, const Dimensions& space, const Plan& plan) {
  const std::int64_t chunks = placement_of(plan).model_chunks();
  if (!job.space.layers.empty() || plan.parallel.pipeline == 1) return false;
  if (chunks > job.model.layers / 2 || !plan.layers.empty()) return false;
  if (!space.framework) return true;
  Plan moved = plan;
  moved.layers = even_split(job.model.layers, chunks);
  ++moved.layers.front();
  --moved.layers.back();
  return space.framework->runs(Ability::kLayers, job, canonical(moved, job));
}

void apply(const StageChoice& choice, Plan& plan) {
  plan.schedule = choice.schedule;
  plan.recompute = choice.recompute;
  plan.layers = choice.layers;
  plan.offload.activations = kept_modules(plan.offload.activations, plan.recompute);
}

}  // namespace stepwright
