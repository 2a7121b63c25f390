#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/tune/choices.h"
#include "stepwright/tune/stage_choices.h"

namespace stepwright::tune {

/// The choices on which the blocks of a plan depend beside the grid and the micro-batch.
struct BlockChoice {
  bool sequence_parallel = false;
  plan::TensorInput tensor_input{};
  plan::ContextKind context_kind{};
  plan::Overlap overlap;
  plan::Collectives collectives;  ///< Algorithms of all schemes except data.
  plan::OffloadModules offloaded;
  /// Whether it is the first of choices that differ in the overlap of parameters alone: the only
  /// one where sharding has no parameters to gather.
  bool first_without_parameters = true;
  plan::FrameworkLaw::Joint joint;
  /// Lines that ask a free overlap to give up a kind that its degrees allow, one set for each such
  /// kind. Where no line of a set holds, another choice is better.
  std::vector<std::uint64_t> spares;

  /// Whether it gives up overlap for nothing where these lines hold.
  [[nodiscard]] bool wastes(std::uint64_t holds) const {
    for (const std::uint64_t lines : spares) {
      if ((lines & holds) == 0) return true;
    }
    return false;
  }
};

struct BlockTable {
  std::vector<BlockChoice> choices;
  std::int64_t without_parameters = 0;  ///< How many are the first without parameters.
  std::int64_t points = 0;              ///< Legal points of the product that run.
  RuleCounts refused{};
  AbilityCounts not_run{};
};

/// Sets `first_without_parameters` of all choices of a table, and returns how many are.
std::int64_t find_first_without_parameters(std::vector<BlockChoice>& choices);

BlockTable block_table(const plan::Job& job, const Dimensions& space, const plan::Plan& grid);

/// Whether another of the blocks gives the same plans with a stage: one that leaves to the host
/// just what is kept where the stage recomputes.
bool repeats(const std::vector<BlockChoice>& blocks, const BlockChoice& block,
             const StageChoice& stage);

/// Puts a choice into a plan; before those of stages.
void apply(const BlockChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune
