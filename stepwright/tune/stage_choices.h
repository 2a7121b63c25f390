#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "stepwright/tune/choices.h"

namespace stepwright::tune {

/// One choice of a pipeline schedule, a recomputation, and a split of the layers into chunks.
struct PipelineStageChoice {
  schedule::PipelineSchedule schedule;
  plan::ActivationRecomputation recompute;
  std::vector<std::int64_t> layers;
  /// True if the choice is tried twice: with evenly split layers, and with pipeline ranks of equal
  /// work.
  bool is_balanced_split_tried = false;
  /// True if the layers were split so that pipeline ranks have equal work; counts of legal plans
  /// leave such variants out.
  bool balanced = false;
  plan::FrameworkSupport::FrameworkPropertyCoupling joint;
  auto operator<=>(const PipelineStageChoice&) const = default;
};

/// Distinct lists of stage choices, each stored once, since many combinations of degrees have equal
/// lists.
using PipelineStageChoiceLists = std::set<std::vector<PipelineStageChoice>>;

/// The recomputations that the search space lists, sorted by whether they are legal for one
/// combination of degrees.
struct RecomputationsByLegality {
  /// Recomputations that are legal and that the framework runs.
  std::vector<plan::ActivationRecomputation> legal;
  /// Recomputations that the framework could run but the planner's own rules forbid, each with the
  /// rule that it breaks.
  std::vector<std::pair<plan::PlanLegalityRule, plan::ActivationRecomputation>> refused;
  std::int64_t not_run = 0;
};

struct StageChoiceTable {
  RecomputationsByLegality recomputations;
  /// Stage choices (schedule, recomputation, layers) for each micro-batch size in sequences; the
  /// lists are stored in `PipelineStageChoiceLists`.
  std::map<std::int64_t, std::span<const PipelineStageChoice>> by_micro_batch;
  /// For each micro-batch size in sequences, the stage choices that recompute least among those
  /// with equal schedule and split of layers.
  std::map<std::int64_t, std::span<const PipelineStageChoice>> least_work;
  std::int64_t choices = 0;  ///< Number of stage choices over all micro-batches.
  /// Lines of the framework's rule file, as bits, that apply to at least one stage choice (a
  /// schedule, a recomputation and a split of the layers).
  std::uint64_t holds = 0;
  /// Number of stage choices, by the lines of the framework's rule file that they break or make
  /// apply.
  std::map<plan::FrameworkSupport::FrameworkPropertyCoupling, std::int64_t> joints;
  /// Number of combinations of micro-batch, schedule, chunks, strands (micro-batches that a rank
  /// runs at the same time) and layers that are legal and that the framework runs; each may have
  /// every recomputation.
  std::int64_t points = 0;
  RefusedByRule refused{};
  NotRunByAbility not_run{};
};

/// Lists the legal choices of schedule, recomputation and layers for one combination of degrees.
/// `legal`: a legal plan with these degrees. `lists` stores the choices.
StageChoiceTable list_stage_choices(const plan::Job& job, const SearchSpaceDimensions& space,
                                    const plan::Plan& legal, PipelineStageChoiceLists& lists);

/// True if the search tries, in addition to a plan's even split of layers, one with equal work for
/// all pipeline ranks: the job lists no splits, and its framework runs any split.
bool search_tries_balanced_layer_split(const plan::Job& job, const SearchSpaceDimensions& space,
                                       const plan::Plan& plan);

/// Writes a stage choice (schedule, recomputation, layers) into a plan that already has its block
/// choice.
void write_choice_into_plan(const PipelineStageChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune
