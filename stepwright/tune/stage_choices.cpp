#include "stepwright/tune/stage_choices.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::tune {
namespace {

constexpr plan::FrameworkProperty kOfStages[] = {plan::FrameworkProperty::kSchedule,
                                                 plan::FrameworkProperty::kLayers,
                                                 plan::FrameworkProperty::kRecompute};

/// The last rule, in their order, that depends on the grid and a schedule only.
constexpr plan::PlanLegalityRule kLastStageRule = plan::PlanLegalityRule::kStepPasses;

RecomputationsByLegality recomputations(const plan::Job& job, const SearchSpaceDimensions& space,
                                        plan::Plan plan) {
  RecomputationsByLegality out;
  for (const plan::ActivationRecomputation& recompute : space.recompute) {
    plan.recompute = recompute;
    if (first_unsupported_property(space, job, plan,
                                   std::array{plan::FrameworkProperty::kRecompute})) {
      ++out.not_run;
    } else if (const auto rule = plan::first_broken_recompute_rule(job, plan)) {
      out.refused.emplace_back(*rule, recompute);
    } else {
      out.legal.push_back(recompute);
    }
  }
  return out;
}

/// Key of a listed stage choice: micro-batch, schedule, recomputation, layers.
using ListedStage = std::tuple<std::int64_t, schedule::PipelineSchedule,
                               plan::ActivationRecomputation, std::vector<std::int64_t>>;

/// The stage choices found so far.
struct FoundStages {
  std::set<ListedStage> seen;
  std::map<std::int64_t, std::vector<PipelineStageChoice>> by_micro_batch;
};

/// Adds a legal schedule with every recomputation. Most such choices are canonical as they are.
void add_stage_choices(StageChoiceTable& table, const plan::Job& job,
                       const SearchSpaceDimensions& space, plan::Plan plan, FoundStages& found) {
  const bool two_splits = search_tries_balanced_layer_split(job, space, plan);
  for (const plan::ActivationRecomputation& recompute : table.recomputations.legal) {
    plan.recompute = recompute;
    plan::Plan usual = plan;
    const bool settled = plan.schedule.kind != schedule::PipelineScheduleKind::kGpipe &&
                         plan.layers.empty() && recompute.kind <= plan::RecomputeKind::kFull &&
                         recompute == plan::ActivationRecomputation{.kind = recompute.kind};
    if (!settled) usual = plan::canonical_plan(plan, job);
    const bool fresh =
        found.seen.emplace(usual.micro_batch, usual.schedule, usual.recompute, usual.layers).second;
    if (!fresh) continue;
    const plan::FrameworkSupport::FrameworkPropertyCoupling joint =
        framework_rules_of_plan_choices(space, kOfStages, job, usual, {});
    found.by_micro_batch[usual.micro_batch].push_back({.schedule = usual.schedule,
                                                       .recompute = usual.recompute,
                                                       .layers = usual.layers,
                                                       .is_balanced_split_tried = two_splits,
                                                       .joint = joint});
    ++table.choices;
    ++table.joints[joint];
    table.holds |= joint.holds;
  }
}

/// Returns the ability (schedule or cut into stages) because of which the job's framework does not
/// run a plan; nullopt if it does. The plan recomputes nothing, which every framework runs.
std::optional<plan::FrameworkProperty> stage_not_run(const plan::Job& job,
                                                     const SearchSpaceDimensions& space,
                                                     const plan::Plan& plan) {
  if (!space.framework) return std::nullopt;
  return first_unsupported_property(space, job, plan::canonical_plan(plan, job), kOfStages);
}

/// Returns, of choices with equal schedule and split of layers, the one that recomputes least. They
/// are neighbours in the list.
std::vector<PipelineStageChoice> least_work_of(const std::vector<PipelineStageChoice>& choices) {
  const auto alike = [](const PipelineStageChoice& a, const PipelineStageChoice& b) {
    return a.schedule == b.schedule && a.layers == b.layers;
  };
  const auto repeats = [](const PipelineStageChoice& choice) {
    return choice.recompute.kind == plan::RecomputeKind::kFull;
  };
  const auto least_of = [](PipelineStageChoice choice) {
    // If recomputation differs by position, no choice need be the least everywhere.
    if (!plan::all_stages_recompute_equally(choice.recompute)) choice.recompute = {};
    return choice;
  };
  std::vector<PipelineStageChoice> least;
  for (const PipelineStageChoice& choice : choices) {
    if (least.empty() || !alike(least.back(), choice)) {
      least.push_back(least_of(choice));
    } else if (repeats(least.back())) {
      least.back() = least_of(choice);
    }
  }
  return least;
}

/// Returns the first rule that a schedule breaks. Shardings are chosen apart from schedules, so
/// passes over the vocabulary, which need whole parameters and gradients, are searched only if all
/// listed shardings leave them whole.
std::optional<plan::PlanLegalityRule> broken_by_schedule(const plan::Job& job,
                                                         const SearchSpaceDimensions& space,
                                                         const plan::Plan& plan) {
  const auto rule = plan::first_broken_rule(job, plan);
  if (rule || schedule::traits_of(plan.schedule.kind).barriers == 0) return rule;
  for (const plan::Sharding& states : space.sharding) {
    plan::Plan sharded = plan;
    sharded.sharding = states;
    if (plan::first_broken_rule(job, sharded) == plan::PlanLegalityRule::kVocabularyStep)
      return plan::PlanLegalityRule::kVocabularyStep;
  }
  return std::nullopt;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
StageChoiceTable list_stage_choices(const plan::Job& job, const SearchSpaceDimensions& space,
                                    const plan::Plan& legal, PipelineStageChoiceLists& lists) {
  StageChoiceTable table;
  table.recomputations = recomputations(job, space, legal);
  FoundStages found;
  plan::Plan plan = legal;
  for (const std::int64_t micro_batch : space.micro_batch) {
    for (const schedule::PipelineScheduleKind kind : space.schedule) {
      // Finding an order takes as long as pricing ten thousand plans, so only the best plans try
      // it.
      if (schedule::traits_of(kind).found) continue;
      const std::int64_t same =
          (schedule::supports_several_chunk_counts(kind) ? 1 : std::ssize(space.chunks)) *
          (schedule::traits_of(kind).pairs ? 1 : std::ssize(space.strands));
      for (const schedule::PipelineSchedule& schedule :
           schedule::schedules_of_kind(kind, space.chunks, space.strands)) {
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
          add_stage_choices(table, job, space, plan, found);
        }
      }
    }
  }
  for (auto& [micro_batch, choices] : found.by_micro_batch) {
    table.least_work[micro_batch] = *lists.insert(least_work_of(choices)).first;
    table.by_micro_batch[micro_batch] = *lists.insert(std::move(choices)).first;
  }
  return table;
}

bool search_tries_balanced_layer_split(const plan::Job& job, const SearchSpaceDimensions& space,
                                       const plan::Plan& plan) {
  const std::int64_t chunks = plan::model_chunk_placement(plan).model_chunk_count();
  if (!job.space.layers.empty() || plan.parallel.pipeline == 1) return false;
  if (chunks > job.model.layers / 2 || !plan.layers.empty()) return false;
  if (!space.framework) return true;
  plan::Plan moved = plan;
  moved.layers = plan::even_layer_split(job.model.layers, chunks);
  ++moved.layers.front();
  --moved.layers.back();
  return space.framework->supports_plan(plan::FrameworkProperty::kLayers, job,
                                        plan::canonical_plan(moved, job));
}

void write_choice_into_plan(const PipelineStageChoice& choice, plan::Plan& plan) {
  plan.schedule = choice.schedule;
  plan.recompute = choice.recompute;
  plan.layers = choice.layers;
  plan.offload.activations =
      plan::effective_offload_modules(plan.offload.activations, plan.recompute);
}

}  // namespace stepwright::tune
