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

/// Words with which codes and sentences say that a flag is on; empty: they do not say it.
struct FlagWords {
  std::string_view mark;   ///< Mark in the code of a plan: "parameters:host".
  std::string_view words;  ///< Words in `plan_words`, and in the legend of tables of codes.
  std::string_view means;  ///< Meaning of the mark, as a sentence.
};

/// Everything about one flag of `Overlap`. Files, canonical plans, codes, sentences, abilities of
/// frameworks, keys of block costs and floors of the search are loops over `kOverlapTable`.
struct OverlapRow {
  bool Overlap::* flag;
  /// Name of the flag in files, abilities and the search: "tensor_gradients".
  std::string_view name;
  std::string_view code;   ///< Word in the code of a plan, after `exposed:`: "tp-grad".
  std::string_view text;   ///< Words in the explanation of the flag's code: "the pipeline".
  std::string_view words;  ///< Words in `plan_words`, after "no overlap of".
  /// True if the flag changes anything; if false, canonical plans have its default.
  bool (*matters)(const Job& job, const Plan& plan);
  /// True if the flag's messages run while nothing is computed although the plan could overlap
  /// them. Does not know the job, so it may be true even if the flag does not matter. nullptr:
  /// never true.
  bool (*exposed)(const Plan& plan);
  bool of_blocks = false;  ///< True if the costs of blocks depend on the flag.
  /// The flag that gives, when on, a lower bound on the cost of blocks for this flag; nullptr:
  /// block costs do not depend on it, or its default gives the bound.
  bool Overlap::* in_floors = nullptr;
  /// Another flag that makes this one useless if both are on; nullptr: none does.
  bool Overlap::* below = nullptr;
  /// True if the flag costs memory, so that neither `overlap: true` nor a free search turns it on.
  bool chosen = false;
  FlagWords said = {};  ///< Words of a flag that costs memory, which has no word after `exposed:`.
};

/// The flags of `Overlap`, in the order of files.
inline constexpr OverlapRow kOverlapTable[] = {
    {.flag = &Overlap::gradients,
     .name = "gradients",
     .code = "grad",
     .text = "gradients",
     .words = "gradients",
     .matters = [](const Job& job,
                   const Plan& plan) { return reduces_gradients(job, plan.parallel); },
     .exposed = [](const Plan& plan) { return !plan.overlap.gradients; }},
    {.flag = &Overlap::parameters,
     .name = "parameters",
     .code = "param",
     .text = "parameters",
     .words = "parameters",
     .matters =
         [](const Job& job, const Plan& plan) {
           return reduces_gradients(job, plan.parallel) && gathers_parameters(plan.sharding);
         },
     .exposed = [](const Plan& plan) { return !plan.overlap.parameters; }},
    {.flag = &Overlap::tensor,
     .name = "tensor",
     .code = "tp",
     .text = "tensor parallelism",
     .words = "tensor",
     .matters = [](const Job&, const Plan& plan) { return plan.parallel.tensor > 1; },
     .exposed = [](const Plan& plan) { return plan.parallel.tensor > 1 && !plan.overlap.tensor; },
     .of_blocks = true,
     .in_floors = &Overlap::tensor},
    {.flag = &Overlap::tensor_gradients,
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
    {.flag = &Overlap::context,
     .name = "context",
     .code = "cp",
     .text = "context parallelism",
     .words = "context",
     .matters = [](const Job&, const Plan& plan) { return plan.parallel.context > 1; },
     .exposed = [](const Plan& plan) { return plan.parallel.context > 1 && !plan.overlap.context; },
     .of_blocks = true},
    {.flag = &Overlap::expert,
     .name = "expert",
     .code = "ep",
     .text = "expert parallelism",
     .words = "expert",
     .matters = [](const Job&, const Plan& plan) { return routes(plan.parallel); },
     .exposed =
         [](const Plan& plan) {
           return routes(plan.parallel) && !plan.overlap.expert && !plan.overlap.shared_experts;
         },
     .of_blocks = true,
     .in_floors = &Overlap::expert},
    // If exchanges overlap another micro-batch (`expert`), shared experts are not moved to overlap
    // them.
    {.flag = &Overlap::shared_experts,
     .name = "shared_experts",
     .code = "ep-rest",
     .text = "expert parallelism, but beside shared experts",
     .words = "expert but beside shared experts",
     .matters =
         [](const Job& job, const Plan& plan) {
           return routes(plan.parallel) && job.model.has_shared_experts() && !plan.overlap.expert;
         },
     .exposed =
         [](const Plan& plan) {
           return routes(plan.parallel) && !plan.overlap.expert && plan.overlap.shared_experts;
         },
     .of_blocks = true,
     .in_floors = &Overlap::shared_experts,
     .below = &Overlap::expert},
    {.flag = &Overlap::pipeline,
     .name = "pipeline",
     .code = "pp",
     .text = "the pipeline",
     .words = "pipeline",
     .matters = [](const Job&, const Plan& plan) { return plan.parallel.pipeline > 1; },
     .exposed =
         [](const Plan& plan) { return plan.parallel.pipeline > 1 && !plan.overlap.pipeline; }},
    {.flag = &Overlap::defer_embedding_gradient,
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
     .in_floors = &Overlap::defer_embedding_gradient,
     .chosen = true,
     .said = {.mark = "head:drain",
              .words = "the head's weight gradients in the drain",
              .means = "The head's weight gradients are computed after the last backward of its "
                       "position, while the pipeline drains."}}};

static_assert(sizeof(Overlap) == std::size(kOverlapTable), "each flag of Overlap has a row");

template <class Rows>
struct OverlapNames;
template <std::size_t... kRow>
struct OverlapNames<std::index_sequence<kRow...>> {
  static constexpr Named<bool Overlap::*> kNames[] = {
      {kOverlapTable[kRow].flag, kOverlapTable[kRow].name}...};
};
/// The flags and their names, in the order of the table.
inline constexpr auto& kOverlapNames =
    OverlapNames<std::make_index_sequence<std::size(kOverlapTable)>>::kNames;

/// Returns the overlap of a plan with each flag that changes nothing at its default.
inline Overlap settled_overlap(const Job& job, const Plan& plan) {
  Overlap settled = plan.overlap;
  for (const OverlapRow& row : kOverlapTable) {
    if (!row.matters(job, plan)) settled.*row.flag = Overlap{}.*row.flag;
  }
  return settled;
}

/// Returns an overlap with each flag that does not change block costs at its default.
constexpr Overlap overlap_of_blocks(Overlap overlap) {
  for (const OverlapRow& row : kOverlapTable) {
    if (!row.of_blocks) overlap.*row.flag = Overlap{}.*row.flag;
  }
  return overlap;
}

/// Returns the overlap under which every block takes at most as long as under each of those listed.
/// With `expert` and `shared_experts` both on, blocks take the time of the faster of the two.
inline Overlap overlap_in_floors(std::span<const Overlap> listed) {
  Overlap floors;
  for (const OverlapRow& row : kOverlapTable) {
    const auto hides = [&](const Overlap& one) {
      return one.*row.flag && (row.below == nullptr || !(one.*row.below));
    };
    if (row.in_floors && std::ranges::any_of(listed, hides)) floors.*row.in_floors = true;
  }
  return floors;
}

}  // namespace stepwright::plan
