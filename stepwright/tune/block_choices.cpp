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

constexpr plan::FrameworkProperty kOfBlocks[] = {
    plan::FrameworkProperty::kSequenceParallel, plan::FrameworkProperty::kTensorInput,
    plan::FrameworkProperty::kContextKind,      plan::FrameworkProperty::kHostActivations,
    plan::FrameworkProperty::kOverlap,          plan::FrameworkProperty::kExposed,
    plan::FrameworkProperty::kAlgorithms,       plan::FrameworkProperty::kDispatcher};
constexpr collective::CollectiveAlgorithm plan::CollectiveAlgorithmChoices::* kOfBlockMessages[] = {
    &plan::CollectiveAlgorithmChoices::tensor, &plan::CollectiveAlgorithmChoices::context,
    &plan::CollectiveAlgorithmChoices::expert};

/// The last rule, in their order, that depends on the grid and a block choice only.
constexpr plan::PlanLegalityRule kLastBlockRule = plan::PlanLegalityRule::kDeferredHead;

/// Returns the lines for `ModelBlockChoice::spares`.
std::vector<std::uint64_t> spared(const plan::Job& job, const SearchSpaceDimensions& space,
                                  const plan::Plan& plan) {
  std::vector<std::uint64_t> lines;
  if (!space.framework || !job.space.overlap.empty()) return lines;
  const plan::WordSet given_up =
      plan::property_values_of_plan(plan::FrameworkProperty::kExposed, job, plan) &
      space.framework->supported_property_words(plan::FrameworkProperty::kOverlap,
                                                plan::degrees_above_one(plan.parallel));
  for (std::size_t i = 0; i < std::size(plan::kOverlapFlagNames); ++i) {
    if (given_up[i])
      lines.push_back(
          space.framework->coupling_lines_forbidding_value(plan::FrameworkProperty::kOverlap, i));
  }
  return lines;
}

bool alike_but_overlap(const ModelBlockChoice& a, const ModelBlockChoice& b) {
  return a.sequence_parallel == b.sequence_parallel && a.tensor_input == b.tensor_input &&
         a.context_kind == b.context_kind && a.collectives == b.collectives &&
         a.offloaded == b.offloaded;
}

/// Returns the different overlaps of a grid. A free overlap gives up only kinds that some framework
/// line may ask for.
std::vector<plan::OverlapFlags> overlaps_of(const plan::Job& job,
                                            const SearchSpaceDimensions& space, plan::Plan plan) {
  if (!space.framework || !job.space.overlap.empty()) return space.overlap;
  plan.sharding = plan::Sharding{.optimizer = plan::StateShardingScope::kGlobal};
  std::vector<plan::OverlapFlags> overlaps;
  std::vector<plan::OverlapFlags> seen;
  for (const plan::OverlapFlags& overlap : space.overlap) {
    plan.overlap = overlap;
    const plan::Plan usual = plan::canonical_plan(plan, job);
    if (std::ranges::find(seen, usual.overlap) != seen.end()) continue;
    seen.push_back(usual.overlap);
    const std::vector<std::uint64_t> spares = spared(job, space, usual);
    const bool wasted = std::ranges::find(spares, std::uint64_t{0}) != spares.end();
    if (!wasted) overlaps.push_back(usual.overlap);
  }
  return overlaps;
}

/// True if two overlaps have the same flags that cost memory (no rule looks at the other flags).
bool chooses_alike(const plan::OverlapFlags& a, const plan::OverlapFlags& b) {
  return std::ranges::all_of(plan::kOverlapFlagTable, [&](const plan::OverlapFlagTraits& row) {
    return !row.chosen || a.*row.flag == b.*row.flag;
  });
}

/// A canonical choice that was examined; `not_run`: the ability because of which it does not run,
/// nullopt if it runs.
struct SeenBlock {
  ModelBlockChoice choice;
  std::optional<plan::FrameworkProperty> not_run;
};

bool same_choice(const ModelBlockChoice& a, const ModelBlockChoice& b) {
  return alike_but_overlap(a, b) && a.overlap == b.overlap;
}

/// Counts a legal choice, and adds it if it runs and is not in the table yet.
void add_block_choice(BlockChoiceTable& table, const plan::Job& job,
                      const SearchSpaceDimensions& space, plan::Plan plan,
                      std::vector<SeenBlock>& seen) {
  // With optimizer states sharded over all ranks the overlap of parameters matters, wherever there
  // is anything to shard.
  plan.sharding = plan::Sharding{.optimizer = plan::StateShardingScope::kGlobal};
  // Offloaded modules are kept unchanged here, since the recomputed layers are chosen later.
  const plan::OffloadModuleSet offloaded = plan.offload.activations;
  plan = plan::canonical_plan(plan, job);
  plan.offload.activations = offloaded;
  ModelBlockChoice choice{plan.sequence_parallel, plan.tensor_input, plan.context_kind,
                          plan.overlap,           plan.collectives,  plan.offload.activations};
  const auto known = std::ranges::find_if(
      seen, [&](const SeenBlock& other) { return same_choice(other.choice, choice); });
  if (known != seen.end()) {
    if (known->not_run) return count(table.not_run, *known->not_run, 1);
    ++table.points;
    return;
  }
  SeenBlock& own =
      seen.emplace_back(SeenBlock{choice, first_unsupported_property(space, job, plan, kOfBlocks)});
  if (own.not_run) return count(table.not_run, *own.not_run, 1);
  choice.joint = framework_rules_of_plan_choices(space, kOfBlocks, job, plan, kOfBlockMessages);
  if (!choice.joint.runs()) {
    own.not_run = plan::FrameworkProperty::kOverlap;
    return count(table.not_run, *own.not_run, 1);
  }
  ++table.points;
  choice.spares = spared(job, space, plan);
  table.choices.push_back(choice);
}

/// Adds a legal choice with each set of modules whose activations may be offloaded to the host.
void add_offloaded(BlockChoiceTable& table, const plan::Job& job,
                   const SearchSpaceDimensions& space, plan::Plan plan,
                   std::vector<SeenBlock>& seen) {
  for (const plan::OffloadModuleSet modules : space.offload.activations) {
    plan.offload.activations = modules;
    const auto rule = modules.empty() ? std::nullopt : plan::first_broken_rule(job, plan);
    if (rule == plan::PlanLegalityRule::kOffloadModules ||
        rule == plan::PlanLegalityRule::kOffloadHost) {
      count(table.refused, *rule, 1);
    } else {
      add_block_choice(table, job, space, plan, seen);
    }
  }
}

/// Returns the combinations of algorithms that blocks may choose for tensor, context and expert
/// messages.
std::vector<plan::CollectiveAlgorithmChoices> block_algorithms(
    const plan::SearchedCollectiveAlgorithms& lists) {
  std::vector<plan::CollectiveAlgorithmChoices> all;
  for (const collective::CollectiveAlgorithm tensor : lists.tensor) {
    for (const collective::CollectiveAlgorithm context : lists.context) {
      for (const collective::CollectiveAlgorithm expert : lists.expert) {
        all.push_back({.tensor = tensor, .context = context, .expert = expert});
      }
    }
  }
  return all;
}

/// Visits a grid's plan with each combination of sequence parallelism, tensor input, context
/// exchange and algorithms.
template <class VisitorCallback>
void each_combination(const SearchSpaceDimensions& space, plan::Plan plan,
                      VisitorCallback&& visit) {
  const std::vector<plan::CollectiveAlgorithmChoices> algorithms =
      block_algorithms(space.collectives);
  for (const bool sequence_parallel : space.sequence_parallel) {
    for (const plan::GatheredInputPolicy input : space.tensor_input) {
      for (const plan::ContextKind kind : space.context_kind) {
        for (const plan::CollectiveAlgorithmChoices& collectives : algorithms) {
          plan.sequence_parallel = sequence_parallel;
          plan.tensor_input = input;
          plan.context_kind = kind;
          plan.collectives = collectives;
          visit(std::as_const(plan));
        }
      }
    }
  }
}

/// Adds a combination with each of the `different` overlaps. `rule`: the rule that it breaks
/// without overlap.
void add_overlaps(BlockChoiceTable& table, const plan::Job& job, const SearchSpaceDimensions& space,
                  plan::Plan plan, std::optional<plan::PlanLegalityRule> rule,
                  const std::vector<plan::OverlapFlags>& different, std::vector<SeenBlock>& seen) {
  const std::int64_t overlaps = std::ssize(space.overlap);
  const std::int64_t sets = std::ssize(space.offload.activations);
  if (rule) return count(table.refused, *rule, overlaps * sets);
  table.points += (overlaps - std::ssize(different)) * sets;
  const plan::OverlapFlags usual = plan.overlap;
  for (const plan::OverlapFlags& overlap : different) {
    plan.overlap = overlap;
    const auto own = chooses_alike(overlap, usual) ? rule : plan::first_broken_rule(job, plan);
    if (own && *own <= kLastBlockRule) {
      count(table.refused, *own, sets);
    } else {
      add_offloaded(table, job, space, plan, seen);
    }
  }
}

}  // namespace

std::int64_t mark_first_choices_without_parameters(std::vector<ModelBlockChoice>& choices) {
  std::int64_t first = 0;
  for (auto choice = choices.begin(); choice != choices.end(); ++choice) {
    choice->first_without_parameters =
        std::none_of(choices.begin(), choice, [&](const ModelBlockChoice& other) {
          plan::OverlapFlags without = other.overlap;
          without.parameters = choice->overlap.parameters;
          return alike_but_overlap(other, *choice) && without == choice->overlap;
        });
    first += choice->first_without_parameters ? 1 : 0;
  }
  return first;
}

BrokenBlockRules broken_block_rules(const plan::Job& job, const SearchSpaceDimensions& space,
                                    const plan::Plan& grid) {
  BrokenBlockRules rules;
  each_combination(space, grid, [&](const plan::Plan& plan) {
    const auto rule = plan::first_broken_rule(job, plan);
    rules.push_back(rule && *rule <= kLastBlockRule ? rule : std::nullopt);
  });
  return rules;
}

BlockChoiceTable block_table(const plan::Job& job, const SearchSpaceDimensions& space,
                             const plan::Plan& grid, const BrokenBlockRules& rules) {
  BlockChoiceTable table;
  std::vector<SeenBlock> seen;
  const std::vector<plan::OverlapFlags> different = overlaps_of(job, space, grid);
  auto rule = rules.begin();
  each_combination(space, grid, [&](const plan::Plan& plan) {
    add_overlaps(table, job, space, plan, *rule++, different, seen);
  });
  if (table.choices.empty())
    count(table.not_run, plan::FrameworkProperty::kOverlap, std::exchange(table.points, 0));
  table.choices.shrink_to_fit();
  table.without_parameters = mark_first_choices_without_parameters(table.choices);
  return table;
}

bool is_repeated_block_choice(std::span<const ModelBlockChoice> blocks,
                              const ModelBlockChoice& block, const PipelineStageChoice& stage) {
  const plan::OffloadModuleSet modules =
      plan::effective_offload_modules(block.offloaded, stage.recompute);
  if (modules == block.offloaded) return false;
  ModelBlockChoice kept = block;
  kept.offloaded = modules;
  return std::ranges::any_of(blocks, [&](const ModelBlockChoice& other) {
    return alike_but_overlap(other, kept) && other.overlap == kept.overlap;
  });
}

void write_choice_into_plan(const ModelBlockChoice& choice, plan::Plan& plan) {
  plan.sequence_parallel = choice.sequence_parallel;
  plan.tensor_input = choice.tensor_input;
  plan.context_kind = choice.context_kind;
  plan.overlap = choice.overlap;
  const collective::CollectiveAlgorithm data = plan.collectives.data;
  plan.collectives = choice.collectives;
  plan.collectives.data = data;
  plan.offload.activations = choice.offloaded;
}

}  // namespace stepwright::tune
