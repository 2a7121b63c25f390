#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/tune/choices.h"
#include "stepwright/tune/stage_choices.h"

namespace stepwright::tune {

/// The choices that determine a plan's blocks, apart from the grid and the micro-batch.
struct BlockChoice {
  bool sequence_parallel = false;
  plan::TensorInput tensor_input{};
  plan::ContextKind context_kind{};
  plan::Overlap overlap;
  plan::Collectives collectives;  ///< Algorithms of the messages of all schemes except data.
  plan::OffloadModules offloaded;
  /// True for the first of the choices that differ only in the overlap of parameters: the only one
  /// that counts where sharding has no parameters to gather.
  bool first_without_parameters = true;
  plan::FrameworkLaw::AbilityCoupling joint;
  /// Lines of the framework's rules (as bit sets) that force a free overlap to give up one kind of
  /// overlap that its degrees allow; one set for each kind given up. If no line of a set holds,
  /// another choice with more overlap is better.
  std::vector<std::uint64_t> spares;

  /// True if the choice gives up a kind of overlap though none of the lines `holds` forces it to.
  [[nodiscard]] bool wastes_overlap(std::uint64_t holds) const {
    for (const std::uint64_t lines : spares) {
      if ((lines & holds) == 0) return true;
    }
    return false;
  }
};

struct BlockTable {
  std::vector<BlockChoice> choices;
  std::int64_t without_parameters = 0;  ///< Number of choices with `first_without_parameters` set.
  std::int64_t points = 0;              ///< Legal points of the product that the framework runs.
  RuleCounts refused{};
  AbilityCounts not_run{};
};

/// Sets `first_without_parameters` of all choices of a table, and returns for how many it is true.
std::int64_t find_first_without_parameters(std::vector<BlockChoice>& choices);

BlockTable block_table(const plan::Job& job, const SpaceDimensions& space, const plan::Plan& grid);

/// True if another block choice gives the same plan with this stage choice: one that offloads to
/// the host just the activations that are still kept where the stage recomputes.
bool repeats(const std::vector<BlockChoice>& blocks, const BlockChoice& block,
             const StageChoice& stage);

/// Writes a block choice into a plan. Call it before choices of single stages are applied, which
/// override it.
void apply(const BlockChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune
