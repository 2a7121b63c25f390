#include "stepwright/tune/block_choices.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/overlap_table.h"

namespace stepwright::tune {
namespace {

constexpr plan::Ability kOfBlocks[] = {
    plan::Ability::kSequenceParallel, plan::Ability::kTensorInput, plan::Ability::kContextKind,
    plan::Ability::kHostActivations,  plan::Ability::kOverlap,     plan::Ability::kExposed,
    plan::Ability::kAlgorithms,       plan::Ability::kDispatcher};
constexpr collective::Algorithm plan::Collectives::* kOfBlockMessages[] = {
    &plan::Collectives::tensor, &plan::Collectives::context, &plan::Collectives::expert};

/// The last rule, in their order, that depends on the grid and a block choice only.
constexpr plan::Rule kLastBlockRule = plan::Rule::kDeferredHead;

/// Returns the lines for `BlockChoice::spares`.
std::vector<std::uint64_t> spared(const plan::Job& job, const SpaceDimensions& space,
                                  const plan::Plan& plan) {
  std::vector<std::uint64_t> lines;
  if (!space.framework || !job.space.overlap.empty()) return lines;
  const plan::WordSet given_up =
      plan::property_words_of_plan(plan::Ability::kExposed, job, plan) &
      space.framework->allowed(plan::Ability::kOverlap, plan::degrees_above_one(plan.parallel));
  for (std::size_t i = 0; i < std::size(plan::kOverlapFlagNames); ++i) {
    if (given_up[i])
      lines.push_back(space.framework->lines_forbidding_word(plan::Ability::kOverlap, i));
  }
  return lines;
}

bool alike_but_overlap(const BlockChoice& a, const BlockChoice& b) {
  return a.sequence_parallel == b.sequence_parallel && a.tensor_input == b.tensor_input &&
         a.context_kind == b.context_kind && a.collectives == b.collectives &&
         a.offloaded == b.offloaded;
}

/// Returns the different overlaps of a grid. A free overlap gives up only kinds that some framework
/// line may ask for.
std::vector<plan::Overlap> overlaps_of(const plan::Job& job, const SpaceDimensions& space,
                                       plan::Plan plan) {
  if (!space.framework || !job.space.overlap.empty()) return space.overlap;
  plan.sharding = plan::Sharding{.optimizer = plan::Spread::kGlobal};
  std::vector<plan::Overlap> overlaps;
  std::vector<plan::Overlap> seen;
  for (const plan::Overlap& overlap : space.overlap) {
    plan.overlap = overlap;
    const plan::Plan usual = plan::canonical(plan, job);
    if (std::ranges::find(seen, usual.overlap) != seen.end()) continue;
    seen.push_back(usual.overlap);
    const std::vector<std::uint64_t> spares = spared(job, space, usual);
    const bool wasted = std::ranges::find(spares, std::uint64_t{0}) != spares.end();
    if (!wasted) overlaps.push_back(usual.overlap);
  }
  return overlaps;
}

/// True if two overlaps have the same flags that cost memory (no rule looks at the other flags).
bool chooses_alike(const plan::Overlap& a, const plan::Overlap& b) {
  return std::ranges::all_of(plan::kOverlapTable, [&](const plan::OverlapFlagTraits& row) {
    return !row.chosen || a.*row.flag == b.*row.flag;
  });
}

/// A canonical choice that was examined; `not_run`: the ability because of which it does not run,
/// nullopt if it runs.
struct SeenBlock {
  BlockChoice choice;
  std::optional<plan::Ability> not_run;
};

bool same_choice(const BlockChoice& a, const BlockChoice& b) {
  return alike_but_overlap(a, b) && a.overlap == b.overlap;
}

/// Counts a legal choice, and adds it if it runs and is not in the table yet.
void add_block_choice(BlockChoiceTable& table, const plan::Job& job, const SpaceDimensions& space,
                      plan::Plan plan, std::vector<SeenBlock>& seen) {
  // With optimizer states sharded over all ranks the overlap of parameters matters, wherever there
  // is anything to shard.
  plan.sharding = plan::Sharding{.optimizer = plan::Spread::kGlobal};
  // Offloaded modules are kept unchanged here, since the recomputed layers are chosen later.
  const plan::OffloadModuleSet offloaded = plan.offload.activations;
  plan = plan::canonical(plan, job);
  plan.offload.activations = offloaded;
  BlockChoice choice{plan.sequence_parallel, plan.tensor_input, plan.context_kind,
                     plan.overlap,           plan.collectives,  plan.offload.activations};
  const auto known = std::ranges::find_if(
      seen, [&](const SeenBlock& other) { return same_choice(other.choice, choice); });
  if (known != seen.end()) {
    if (known->not_run) return count(table.not_run, *known->not_run, 1);
    ++table.points;
    return;
  }
  SeenBlock& own =
      seen.emplace_back(SeenBlock{choice, first_unsupported_ability(space, job, plan, kOfBlocks)});
  if (own.not_run) return count(table.not_run, *own.not_run, 1);
  choice.joint = applicable_ability_rules(space, kOfBlocks, job, plan, kOfBlockMessages);
  if (!choice.joint.runs()) {
    own.not_run = plan::Ability::kOverlap;
    return count(table.not_run, *own.not_run, 1);
  }
  ++table.points;
  choice.spares = spared(job, space, plan);
  table.choices.push_back(choice);
}

/// Adds a legal choice with each set of modules whose activations may be offloaded to the host.
void add_offloaded(BlockChoiceTable& table, const plan::Job& job, const SpaceDimensions& space,
                   plan::Plan plan, std::vector<SeenBlock>& seen) {
  for (const plan::OffloadModuleSet modules : space.offload.activations) {
    plan.offload.activations = modules;
    const auto rule = modules.empty() ? std::nullopt : plan::first_broken_rule(job, plan);
    if (rule == plan::Rule::kOffloadModules || rule == plan::Rule::kOffloadHost) {
      count(table.refused, *rule, 1);
    } else {
      add_block_choice(table, job, space, plan, seen);
    }
  }
}

/// Returns the combinations of algorithms that blocks may choose for tensor, context and expert
/// messages.
std::vector<plan::Collectives> block_algorithms(const plan::SearchedCollectives& lists) {
  std::vector<plan::Collectives> all;
  for (const collective::Algorithm tensor : lists.tensor) {
    for (const collective::Algorithm context : lists.context) {
      for (const collective::Algorithm expert : lists.expert) {
        all.push_back({.tensor = tensor, .context = context, .expert = expert});
      }
    }
  }
  return all;
}

}  // namespace

std::int64_t mark_choices_without_parameters(std::vector<BlockChoice>& choices) {
  std::int64_t first = 0;
  for (auto choice = choices.begin(); choice != choices.end(); ++choice) {
    choice->first_without_parameters =
        std::none_of(choices.begin(), choice, [&](const BlockChoice& other) {
          plan::Overlap without = other.overlap;
          without.parameters = choice->overlap.parameters;
          return alike_but_overlap(other, *choice) && without == choice->overlap;
        });
    first += choice->first_without_parameters ? 1 : 0;
  }
  return first;
}

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
BlockChoiceTable block_table(const plan::Job& job, const SpaceDimensions& space,
                             const plan::Plan& grid) {
  BlockChoiceTable table;
  std::vector<SeenBlock> seen;
  plan::Plan plan = grid;
  const std::int64_t overlaps = std::ssize(space.overlap);
  const std::int64_t sets = std::ssize(space.offload.activations);
  const std::vector<plan::Overlap> different = overlaps_of(job, space, grid);
  const std::vector<plan::Collectives> algorithms = block_algorithms(space.collectives);
  for (const bool sequence_parallel : space.sequence_parallel) {
    for (const plan::GatheredInputPolicy input : space.tensor_input) {
      for (const plan::ContextKind kind : space.context_kind) {
        plan.sequence_parallel = sequence_parallel;
        plan.tensor_input = input;
        plan.context_kind = kind;
        for (const plan::Collectives& collectives : algorithms) {
          plan.collectives = collectives;
          plan.overlap = grid.overlap;
          const auto rule = plan::first_broken_rule(job, plan);
          if (rule && *rule <= kLastBlockRule) {
            count(table.refused, *rule, overlaps * sets);
            continue;
          }
          table.points += (overlaps - std::ssize(different)) * sets;
          for (const plan::Overlap& overlap : different) {
            plan.overlap = overlap;
            const auto own =
                chooses_alike(overlap, grid.overlap) ? rule : plan::first_broken_rule(job, plan);
            if (own && *own <= kLastBlockRule) {
              count(table.refused, *own, sets);
            } else {
              add_offloaded(table, job, space, plan, seen);
            }
          }
        }
      }
    }
  }
  if (table.choices.empty())
    count(table.not_run, plan::Ability::kOverlap, std::exchange(table.points, 0));
  table.choices.shrink_to_fit();
  table.without_parameters = mark_choices_without_parameters(table.choices);
  return table;
}

bool is_repeated_block_choice(const std::vector<BlockChoice>& blocks, const BlockChoice& block,
                              const StageChoice& stage) {
  const plan::OffloadModuleSet modules =
      plan::effective_offload_modules(block.offloaded, stage.recompute);
  if (modules == block.offloaded) return false;
  BlockChoice kept = block;
  kept.offloaded = modules;
  return std::ranges::any_of(blocks, [&](const BlockChoice& other) {
    return alike_but_overlap(other, kept) && other.overlap == kept.overlap;
  });
}

void write_choice_into_plan(const BlockChoice& choice, plan::Plan& plan) {
  plan.sequence_parallel = choice.sequence_parallel;
  plan.tensor_input = choice.tensor_input;
  plan.context_kind = choice.context_kind;
  plan.overlap = choice.overlap;
  const collective::Algorithm data = plan.collectives.data;
  plan.collectives = choice.collectives;
  plan.collectives.data = data;
  plan.offload.activations = choice.offloaded;
}

}  // namespace stepwright::tune
