#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "stepwright/core/named.h"
#include "stepwright/plan/effects.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Words with which plan codes and sentences say that a yes-or-no choice is on; empty: they do not
/// say it.
struct BooleanChoiceWords {
  /// Mark that says that a yes-or-no choice is on, in the short code of a plan: "parameters:host".
  std::string_view mark;
  /// Words that say that a yes-or-no choice is on, in plan descriptions (`plan_description`) and in
  /// legends of plan tables.
  std::string_view words;
  /// Explanation, as a sentence, of the mark that says that a yes-or-no choice is on.
  std::string_view means;
};

/// Everything about one flag of `OverlapFlags`: names, texts, and when it has an effect. All code
/// about overlap flags loops over `kOverlapFlagTable`.
struct OverlapFlagTraits {
  bool OverlapFlags::* flag;
  /// Name of the flag in files, framework properties and the search: "tensor_gradients".
  std::string_view name;
  /// Word in the short code of a plan, after `exposed:`, if the messages do not overlap: "tp-grad".
  std::string_view code;
  /// Name of the messages in the explanation of the flag's code: "the pipeline".
  std::string_view text;
  std::string_view words;  ///< Name of the messages in plan descriptions, after "no overlap of".
  /// Returns whether the flag has an effect in a plan; if not, canonical plans have its default.
  bool (*matters)(const Job& job, const Plan& plan);
  /// Returns whether the flag's messages stay exposed in a plan that could overlap them; may be
  /// true for a flag without effect, as the job is unknown. nullptr: never.
  bool (*exposed)(const Plan& plan);
  /// True if overlapping this communication changes the time of transformer blocks.
  bool of_blocks = false;
  /// Overlap flag that the search turns on to get a lower bound on the time of transformer blocks,
  /// valid whether this row's flag is on or off; nullptr: this row's flag does not change that
  /// time, or its default gives the bound.
  bool OverlapFlags::* in_floors = nullptr;
  /// Another overlap flag that, if on, leaves this one without effect; nullptr: none does.
  bool OverlapFlags::* below = nullptr;
  /// True if the flag costs memory, so that neither `overlap: true` nor a free search turns it on.
  bool chosen = false;
  /// Words that say that a flag which costs memory is on; such flags have no word after `exposed:`.
  BooleanChoiceWords said = {};
};

/// All flags of `OverlapFlags` with names, texts and effects, in the order of files.
inline constexpr OverlapFlagTraits kOverlapFlagTable[] = {
    {.flag = &OverlapFlags::gradients,
     .name = "gradients",
     .code = "grad",
     .text = "gradients",
     .words = "gradients",
     .matters = [](const Job& job,
                   const Plan& plan) { return reduces_gradients(job, plan.parallel); },
     .exposed = [](const Plan& plan) { return !plan.overlap.gradients; }},
    {.flag = &OverlapFlags::parameters,
     .name = "parameters",
     .code = "param",
     .text = "parameters",
     .words = "parameters",
     .matters =
         [](const Job& job, const Plan& plan) {
           return reduces_gradients(job, plan.parallel) && gathers_parameters(plan.sharding);
         },
     .exposed = [](const Plan& plan) { return !plan.overlap.parameters; }},
    {.flag = &OverlapFlags::tensor,
     .name = "tensor",
     .code = "tp",
     .text = "tensor parallelism",
     .words = "tensor",
     .matters = [](const Job&, const Plan& plan) { return plan.parallel.tensor > 1; },
     .exposed = [](const Plan& plan) { return plan.parallel.tensor > 1 && !plan.overlap.tensor; },
     .of_blocks = true,
     .in_floors = &OverlapFlags::tensor},
    {.flag = &OverlapFlags::tensor_gradients,
     .name = "tensor_gradients",
     .code = "tp-grad",
     .text = "tensor parallelism at weight gradients",
     .words = "tensor_gradients",
     .matters = [](const Job&, const Plan& plan) { return plan.parallel.tensor > 1; },
     .exposed =
         [](const Plan& plan) {
           return plan.parallel.tensor > 1 && !plan.overlap.tensor_gradients;
         },
     .of_blocks = true},
    {.flag = &OverlapFlags::context,
     .name = "context",
     .code = "cp",
     .text = "context parallelism",
     .words = "context",
     .matters = [](const Job&, const Plan& plan) { return plan.parallel.context > 1; },
     .exposed = [](const Plan& plan) { return plan.parallel.context > 1 && !plan.overlap.context; },
     .of_blocks = true},
    {.flag = &OverlapFlags::expert,
     .name = "expert",
     .code = "ep",
     .text = "expert parallelism",
     .words = "expert",
     .matters = [](const Job&,
                   const Plan& plan) { return sends_tokens_to_expert_ranks(plan.parallel); },
     .exposed =
         [](const Plan& plan) {
           return sends_tokens_to_expert_ranks(plan.parallel) && !plan.overlap.expert &&
                  !plan.overlap.shared_experts;
         },
     .of_blocks = true,
     .in_floors = &OverlapFlags::expert},
    // If exchanges overlap another micro-batch (`expert`), shared experts are not moved to overlap
    // them.
    {.flag = &OverlapFlags::shared_experts,
     .name = "shared_experts",
     .code = "ep-rest",
     .text = "expert parallelism, but beside shared experts",
     .words = "expert but beside shared experts",
     .matters =
         [](const Job& job, const Plan& plan) {
           return sends_tokens_to_expert_ranks(plan.parallel) && job.model.has_shared_experts() &&
                  !plan.overlap.expert;
         },
     .exposed =
         [](const Plan& plan) {
           return sends_tokens_to_expert_ranks(plan.parallel) && !plan.overlap.expert &&
                  plan.overlap.shared_experts;
         },
     .of_blocks = true,
     .in_floors = &OverlapFlags::shared_experts,
     .below = &OverlapFlags::expert},
    {.flag = &OverlapFlags::pipeline,
     .name = "pipeline",
     .code = "pp",
     .text = "the pipeline",
     .words = "pipeline",
     .matters = [](const Job&, const Plan& plan) { return plan.parallel.pipeline > 1; },
     .exposed =
         [](const Plan& plan) { return plan.parallel.pipeline > 1 && !plan.overlap.pipeline; }},
    {.flag = &OverlapFlags::defer_embedding_gradient,
     .name = "defer_embedding_gradient",
     .code = "head",
     .text = "the head's weight gradients",
     .words = "head",
     .matters =
         [](const Job& job, const Plan& plan) {
           const bool frozen = job.model.adapters || (job.model.tied && job.model.frozen.embedding);
           return plan.parallel.pipeline > 1 && !frozen;
         },
     .exposed = nullptr,
     .of_blocks = true,
     .in_floors = &OverlapFlags::defer_embedding_gradient,
     .chosen = true,
     .said = {.mark = "head:drain",
              .words = "the head's weight gradients in the drain",
              .means = "The head's weight gradients are computed after the last backward of its "
                       "position, while the pipeline drains."}}};

static_assert(sizeof(OverlapFlags) == std::size(kOverlapFlagTable),
              "each flag of Overlap has a row");

template <class Rows>
struct OverlapNames;
template <std::size_t... kRow>
struct OverlapNames<std::index_sequence<kRow...>> {
  static constexpr Named<bool OverlapFlags::*> kNames[] = {
      {kOverlapFlagTable[kRow].flag, kOverlapFlagTable[kRow].name}...};
};
/// All flags of `OverlapFlags` with their names, in the order of `kOverlapFlagTable`.
inline constexpr auto& kOverlapFlagNames =
    OverlapNames<std::make_index_sequence<std::size(kOverlapFlagTable)>>::kNames;

/// Returns a plan's overlap flags; flags without effect on the plan are set to their defaults.
inline OverlapFlags effective_overlap_flags(const Job& job, const Plan& plan) {
  OverlapFlags settled = plan.overlap;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    if (!row.matters(job, plan)) settled.*row.flag = OverlapFlags{}.*row.flag;
  }
  return settled;
}

/// Returns the overlap flags with those that do not change the time of transformer blocks at their
/// defaults.
constexpr OverlapFlags block_relevant_overlap_flags(OverlapFlags overlap) {
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    if (!row.of_blocks) overlap.*row.flag = OverlapFlags{}.*row.flag;
  }
  return overlap;
}

/// Returns overlap flags under which every transformer block is at most as slow as under any of
/// `listed`: a lower bound for the search. With `expert` and `shared_experts` both on, blocks take
/// the time of the faster of the two.
inline OverlapFlags overlap_flags_for_lower_bounds(std::span<const OverlapFlags> listed) {
  OverlapFlags floors;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    const auto hides = [&](const OverlapFlags& one) {
      return one.*row.flag && (row.below == nullptr || !(one.*row.below));
    };
    if (row.in_floors && std::ranges::any_of(listed, hides)) floors.*row.in_floors = true;
  }
  return floors;
}

}  // namespace stepwright::plan
