#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stepwright/tune/choices.h"
#include "stepwright/tune/stage_choices.h"

namespace stepwright::tune {

/// One choice of everything on which the blocks of a plan depend except degrees of parallelism,
/// rank order and micro-batch: sequence parallelism, context exchange, overlap, algorithms,
/// offloaded activations.
struct ModelBlockChoice {
  bool sequence_parallel = false;
  plan::GatheredInputPolicy tensor_input{};
  plan::ContextKind context_kind{};
  plan::OverlapFlags overlap;
  /// Collective algorithms of all messages except those of data parallelism.
  plan::CollectiveAlgorithmChoices collectives;
  plan::OffloadModuleSet offloaded;
  /// True for the first of the choices that differ only in whether gathers of sharded parameters
  /// overlap computation: the only one of them that counts if no parameters are gathered.
  bool first_without_parameters = true;
  plan::FrameworkSupport::FrameworkPropertyCoupling joint;
  /// For each kind of overlap that the choice leaves off although its degrees allow this overlap:
  /// the lines of the framework's rule file that forbid it, as a set of bits. If no line of one of
  /// these sets applies to a plan, a choice with more overlap is better.
  std::vector<std::uint64_t> spares;

  /// True if the choice gives up a kind of overlap without need: none of the lines of the
  /// framework's rule file in `holds` (those that apply) forbids it.
  [[nodiscard]] bool gives_up_overlap_needlessly(std::uint64_t holds) const {
    for (const std::uint64_t lines : spares) {
      if ((lines & holds) == 0) return true;
    }
    return false;
  }
  bool operator==(const ModelBlockChoice&) const = default;
};

struct BlockChoiceTable {
  std::vector<ModelBlockChoice> choices;
  /// Number of distinct choices if sharding has no parameters to gather: those with
  /// `first_without_parameters`.
  std::int64_t without_parameters = 0;
  /// Number of combinations of block choices (overlap, algorithms, ...) that are legal and that the
  /// framework runs.
  std::int64_t points = 0;
  RefusedByRule refused{};
  NotRunByAbility not_run{};
};

/// Sets `first_without_parameters` of all block choices, and returns for how many it is true.
std::int64_t mark_first_choices_without_parameters(std::vector<ModelBlockChoice>& choices);

/// For plans with one combination of degrees and rank order: the rule that block choices without
/// overlap break, one entry for each combination of sequence parallelism, tensor input, context
/// exchange and algorithms, in search order; nullopt: the combination is legal.
using BrokenBlockRules = std::vector<std::optional<plan::PlanLegalityRule>>;

BrokenBlockRules broken_block_rules(const plan::Job& job, const SearchSpaceDimensions& space,
                                    const plan::Plan& grid);

/// Lists the block choices (overlap, algorithms, ...) for one combination of degrees and rank
/// order. Apart from offloaded activations, they depend on `rules` (`broken_block_rules` of the
/// combination) and on which degrees are above 1; not on the degrees themselves, nor on the rank
/// order.
BlockChoiceTable block_table(const plan::Job& job, const SearchSpaceDimensions& space,
                             const plan::Plan& grid, const BrokenBlockRules& rules);

/// True if `block` with `stage` is the same plan as another block choice with `stage`: they differ
/// only in offloading activations that the stage recomputes anyway.
bool is_repeated_block_choice(std::span<const ModelBlockChoice> blocks,
                              const ModelBlockChoice& block, const PipelineStageChoice& stage);

/// Writes a block choice into a plan. Call it before writing the stage choice, which overrides some
/// of the fields.
void write_choice_into_plan(const ModelBlockChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune
