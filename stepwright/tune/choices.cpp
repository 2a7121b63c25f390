#include "stepwright/tune/choices.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <utility>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/placement.h"

namespace stepwright {
namespace {

void count(RuleCounts& counts, Rule rule, std::int64_t points) {
  std::int64_t& counted = counts[static_cast<std::size_t>(rule)];
  counted = plus(counted, points);
}

/// The first of these abilities in which the job's framework does not run a canonical plan.
template <class Abilities = std::initializer_list<Ability>>
std::optional<Ability> not_run_by(const Dimensions& space, const Job& job, const Plan& usual,
                                  const Abilities& abilities) {
  if (!space.framework) return std::nullopt;
  for (const Ability ability : abilities) {
    if (!space.framework->runs_alone(ability, job, usual)) return ability;
  }
  return std::nullopt;
}

constexpr Ability kOfBlocks[] = {Ability::kSequenceParallel, Ability::kTensorInput,
                                 Ability::kContextKind,      Ability::kHostActivations,
                                 Ability::kOverlap,          Ability::kExposed,
                                 Ability::kAlgorithms,       Ability::kDispatcher};
constexpr Ability kOfStages[] = {Ability::kSchedule, Ability::kLayers, Ability::kRecompute};
constexpr Ability kOfStates[] = {Ability::kSharding, Ability::kGroups, Ability::kAccumulate,
                                 Ability::kOffload};

FrameworkLaw::Joint joint_of(const Dimensions& space, std::span<const Ability> abilities,
                             const Job& job, const Plan& usual,
                             std::span<Algorithm Collectives::* const> schemes = {}) {
  if (!space.framework) return {};
  return space.framework->joint(abilities, job, usual) | space.framework->joint(schemes, usual);
}

/// What `BlockChoice::spares` says.
std::vector<std::uint64_t> spared(const Job& job, const Dimensions& space, const Plan& plan) {
  std::vector<std::uint64_t> lines;
  if (!space.framework || !job.space.overlap.empty()) return lines;
  const WordSet given_up =
      taken_words(Ability::kExposed, job, plan) &
      space.framework->allowed(Ability::kOverlap, degrees_above_one(plan.parallel));
  for (std::size_t i = 0; i < std::size(kOverlapNames); ++i) {
    if (given_up[i]) lines.push_back(space.framework->lines_without(Ability::kOverlap, i));
  }
  return lines;
}

constexpr Algorithm Collectives::* kOfBlockMessages[] = {
    &Collectives::tensor, &Collectives::context, &Collectives::expert};
constexpr Algorithm Collectives::* kOfDataMessages[] = {&Collectives::data};

void count(AbilityCounts& counts, Ability ability, std::int64_t points) {
  std::int64_t& counted = counts[static_cast<std::size_t>(ability)];
  counted = plus(counted, points);
}

/// Rules up to this one are decided by the grid and a block choice.
constexpr Rule kLastBlockRule = Rule::kMultiTokenStep;
/// Up to this one by the grid and a schedule, up to the next by the grid and sharding groups.
constexpr Rule kLastStageRule = Rule::kStrandsNeedMicroBatches;
constexpr Rule kLastGroupRule = Rule::kExpertShardingGroup;

bool alike_but_overlap(const BlockChoice& a, const BlockChoice& b) {
  return a.sequence_parallel == b.sequence_parallel && a.tensor_input == b.tensor_input &&
         a.context_kind == b.context_kind && a.collectives == b.collectives &&
         a.offloaded == b.offloaded;
}

/// Of a free overlap those that differ in a grid and give up only what some line may ask for.
std::vector<Overlap> overlaps_of(const Job& job, const Dimensions& space, Plan plan) {
  if (!space.framework || !job.space.overlap.empty()) return space.overlap;
  plan.sharding = Sharding{.optimizer = Spread::kGlobal};
  std::vector<Overlap> overlaps;
  for (const Overlap& overlap : space.overlap) {
    plan.overlap = overlap;
    const Plan usual = canonical(plan, job);
    const std::vector<std::uint64_t> spares = spared(job, space, usual);
    const bool wasted = std::ranges::find(spares, std::uint64_t{0}) != spares.end();
    const bool seen = std::ranges::find(overlaps, usual.overlap) != overlaps.end();
    if (!wasted && !seen) overlaps.push_back(usual.overlap);
  }
  return overlaps;
}

/// Adds a legal choice that runs.
void add_block_choice(BlockTable& table, const Job& job, const Dimensions& space, Plan plan) {
  // With these states the overlap of parameters counts, wherever there is anything to shard.
  plan.sharding = Sharding{.optimizer = Spread::kGlobal};
  // Which layers are recomputed is chosen later.
  const OffloadModules offloaded = plan.offload.activations;
  plan = canonical(plan, job);
  plan.offload.activations = offloaded;
  if (const auto not_run = not_run_by(space, job, plan, kOfBlocks))
    return count(table.not_run, *not_run, 1);
  const FrameworkLaw::Joint joint = joint_of(space, kOfBlocks, job, plan, kOfBlockMessages);
  if (!joint.runs()) return count(table.not_run, Ability::kOverlap, 1);
  ++table.points;
  BlockChoice choice{plan.sequence_parallel, plan.tensor_input, plan.context_kind,
                     plan.overlap,           plan.collectives,  plan.offload.activations};
  choice.joint = joint;
  choice.spares = spared(job, space, plan);
  const bool seen = std::ranges::any_of(table.choices, [&](const BlockChoice& other) {
    return alike_but_overlap(other, choice) && other.overlap == choice.overlap;
  });
  if (!seen) table.choices.push_back(choice);
}

/// Adds a legal choice with each set of modules whose activations may lie on the host.
void add_offloaded(BlockTable& table, const Job& job, const Dimensions& space, Plan plan) {
  for (const OffloadModules modules : space.offload.activations) {
    plan.offload.activations = modules;
    const auto rule = modules.empty() ? std::nullopt : broken_rule(job, plan);
    if (rule == Rule::kOffloadModules || rule == Rule::kOffloadHost) {
      count(table.refused, *rule, 1);
    } else {
      add_block_choice(table, job, space, plan);
    }
  }
}

Recomputations recomputations(const Job& job, const Dimensions& space, Plan plan) {
  Recomputations out;
  for (const Recompute& recompute : space.recompute) {
    plan.recompute = recompute;
    if (not_run_by(space, job, plan, {Ability::kRecompute})) {
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
    const FrameworkLaw::Joint joint = joint_of(space, kOfStages, job, usual);
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

/// The sizes of groups that a plan of this grid may have, `node` resolved.
std::vector<std::int64_t> resolved(const std::vector<std::int64_t>& groups, std::int64_t node) {
  std::vector<std::int64_t> sizes = groups;
  std::ranges::replace(sizes, kNodeGroup, node);
  return sizes;
}

struct Groups {
  std::vector<std::int64_t> inner, expert;
};

/// The listed algorithms that a strategy and its groups have a message for.
std::vector<Algorithm> legal_algorithms(const Job& job, const Dimensions& space, Plan plan) {
  std::vector<Algorithm> legal = space.collectives.data;
  std::erase_if(legal, [&](Algorithm algorithm) {
    plan.collectives.data = algorithm;
    return algorithm != Algorithm::kLibrary && broken_rule(job, plan) == Rule::kDataCollectives;
  });
  return legal;
}

/// Takes out the algorithms with which the job's framework does not run a strategy.
void erase_not_run(std::vector<Algorithm>& algorithms, DataTable& table, const Job& job,
                   const Dimensions& space, Plan plan, std::int64_t groups) {
  if (!space.framework) return;
  std::erase_if(algorithms, [&](Algorithm algorithm) {
    plan.collectives.data = algorithm;
    const auto not_run = not_run_by(space, job, canonical(plan, job),
                                    {Ability::kSharding, Ability::kGroups, Ability::kAlgorithms});
    if (not_run) count(table.not_run, *not_run, groups);
    return not_run.has_value();
  });
}

/// Whether a framework may have its own buckets.
bool free_buckets(const Job& job) {
  return job.space.gradient_bucket.empty() && job.space.parameter_bucket.empty();
}

/// What a grid may choose, in order.
struct DataList {
  std::vector<DataChoice> choices;
  std::set<DataChoice> seen;
};

/// Adds one choice, where it is new and runs.
void add_data_choice(DataTable& table, const Job& job, const Dimensions& space, const Plan& plan,
                     DataList& list) {
  Plan usual = canonical(plan, job);
  const FrameworkLaw::Joint joint = joint_of(space, kOfStates, job, usual, kOfDataMessages);
  if (!joint.runs() || not_run_by(space, job, usual, {Ability::kAccumulate})) return;
  if (space.framework) {
    const Plan own = space.framework->with_buckets(job, usual);
    if (own != usual && !free_buckets(job)) return;
    usual = own;
  }
  const DataChoice choice{usual.sharding,
                          usual.accumulate,
                          usual.collectives.data,
                          usual.gradient_bucket,
                          usual.parameter_bucket,
                          usual.offload,
                          joint};
  if (!list.seen.insert(choice).second) return;
  list.choices.push_back(choice);
  ++table.joints[{joint, choice.gathers()}];
  table.holds |= joint.holds;
  table.gathering += choice.gathers() ? 1 : 0;
}

/// Whether a rule is of what is left to the host (`plan/laws/offload_laws.cpp`).
bool is_of_offload(Rule rule) {
  return rule == Rule::kOffloadShare || rule == Rule::kOffloadUpdate ||
         rule == Rule::kOffloadHost || rule == Rule::kOffloadParameters ||
         rule == Rule::kHostMemory;
}

/// What may be left to the host beside a strategy with its groups; counts the others, of which each
/// stands for so many points.
std::vector<Offload> legal_offloads(DataTable& table, const Job& job, const Dimensions& space,
                                    Plan plan, std::int64_t points) {
  std::vector<Offload> legal;
  for (const double share : space.offload.optimizer) {
    for (const bool masters : space.offload.masters) {
      for (const bool parameters : space.offload.parameters) {
        plan.offload = {
            .optimizer = share, .masters = masters, .activations = {}, .parameters = parameters};
        const bool there = plan.offload != Offload{};
        std::optional<Rule> rule;
        if (there) rule = broken_rule(job, plan);
        const bool runs = !there || !space.framework ||
                          space.framework->runs(Ability::kOffload, job, canonical(plan, job));
        if (rule && is_of_offload(*rule)) {
          count(table.refused_offloads, *rule, points);
        } else if (!runs) {
          table.not_run_offloads = plus(table.not_run_offloads, points);
        } else {
          legal.push_back(plan.offload);
        }
      }
    }
  }
  return legal;
}

/// Adds what a strategy with its groups, which stand for `groups` points, leaves to choose.
// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void add_data_choices(DataTable& table, const Job& job, const Dimensions& space, Plan plan,
                      std::int64_t groups, DataList& list) {
  std::vector<Algorithm> algorithms = legal_algorithms(job, space, plan);
  const std::int64_t refused = std::ssize(space.collectives.data) - std::ssize(algorithms);
  count(table.refused, Rule::kDataCollectives, groups * refused);
  erase_not_run(algorithms, table, job, space, plan, groups);
  table.points += groups * std::ssize(algorithms);
  for (const Offload& offload :
       legal_offloads(table, job, space, plan, groups * std::ssize(algorithms))) {
    for (const DType accumulate : space.accumulate) {
      for (const std::int64_t gradients : space.gradient_bucket) {
        for (const std::int64_t parameters : space.parameter_bucket) {
          for (const Algorithm algorithm : algorithms) {
            plan.offload = offload;
            plan.accumulate = accumulate;
            plan.gradient_bucket = gradients;
            plan.parameter_bucket = parameters;
            plan.collectives.data = algorithm;
            add_data_choice(table, job, space, plan, list);
          }
        }
      }
    }
  }
}

/// The algorithms that blocks may choose for the messages of their schemes.
std::vector<Collectives> block_algorithms(const CollectiveLists& lists) {
  std::vector<Collectives> all;
  for (const Algorithm tensor : lists.tensor) {
    for (const Algorithm context : lists.context) {
      for (const Algorithm expert : lists.expert) {
        all.push_back({.tensor = tensor, .context = context, .expert = expert});
      }
    }
  }
  return all;
}

/// Legal types of accumulation; the others are counted later, as the last rule.
Dimensions legal_types(const Job& job, const Dimensions& space, Plan plan) {
  Dimensions legal = space;
  std::erase_if(legal.accumulate, [&](DType type) {
    plan.accumulate = type;
    return broken_rule(job, plan) == Rule::kAccumulate;
  });
  return legal;
}

/// All groups of one strategy.
// NOLINTNEXTLINE(readability-function-size): one loop per dimension
void add_strategy(DataTable& table, const Job& job, const Dimensions& legal, Plan plan,
                  const Groups& groups, DataList& list) {
  const auto all = static_cast<std::int64_t>(groups.inner.size() * groups.expert.size());
  const std::int64_t algorithms = std::ssize(legal.collectives.data);
  if (!is_paro_strategy(plan.sharding)) {
    return count(table.refused, Rule::kShardingStrategy, all * algorithms);
  }
  if (!plan.sharding.uses(Spread::kInner)) {
    return add_data_choices(table, job, legal, plan, all, list);
  }
  const auto broken = [&](std::int64_t inner, std::int64_t expert) {
    plan.sharding.group = inner;
    plan.sharding.expert_group = expert;
    const auto rule = broken_rule(job, plan);
    return rule && *rule <= kLastGroupRule;
  };
  std::vector<std::int64_t> experts =
      job.model.experts ? groups.expert : std::vector<std::int64_t>{1};
  const auto before = static_cast<std::int64_t>(experts.size());
  const std::int64_t same = job.model.experts ? 1 : std::ssize(groups.expert);
  std::erase_if(experts, [&](std::int64_t size) { return broken(1, size); });
  for (const std::int64_t inner : groups.inner) {
    if (broken(inner, 1)) {
      count(table.refused, Rule::kShardingGroup, std::ssize(groups.expert) * algorithms);
      continue;
    }
    count(table.refused, Rule::kExpertShardingGroup, (before - std::ssize(experts)) * algorithms);
    for (const std::int64_t expert : experts) {
      plan.sharding.group = inner;
      plan.sharding.expert_group = expert;
      add_data_choices(table, job, legal, plan, same, list);
    }
  }
}

}  // namespace

Plan grid_plan(const Job& job, const Parallel& parallel, const RankOrder& order) {
  Plan plan;
  plan.parallel = parallel;
  plan.rank_order = order;
  plan.accumulate = default_gradients(job);
  return plan;
}

std::int64_t find_first_without_parameters(std::vector<BlockChoice>& choices) {
  std::int64_t first = 0;
  for (auto choice = choices.begin(); choice != choices.end(); ++choice) {
    choice->first_without_parameters =
        std::none_of(choices.begin(), choice, [&](const BlockChoice& other) {
          Overlap without = other.overlap;
          without.parameters = choice->overlap.parameters;
          return alike_but_overlap(other, *choice) && without == choice->overlap;
        });
    first += choice->first_without_parameters ? 1 : 0;
  }
  return first;
}

// NOLINTNEXTLINE(readability-function-size): one loop per dimension
BlockTable block_table(const Job& job, const Dimensions& space, const Plan& grid) {
  BlockTable table;
  Plan plan = grid;
  const std::int64_t overlaps = std::ssize(space.overlap);
  const std::int64_t sets = std::ssize(space.offload.activations);
  const std::vector<Overlap> different = overlaps_of(job, space, grid);
  const std::vector<Collectives> algorithms = block_algorithms(space.collectives);
  for (const bool sequence_parallel : space.sequence_parallel) {
    for (const TensorInput input : space.tensor_input) {
      for (const ContextKind kind : space.context_kind) {
        plan.sequence_parallel = sequence_parallel;
        plan.tensor_input = input;
        plan.context_kind = kind;
        for (const Collectives& collectives : algorithms) {
          plan.collectives = collectives;
          const auto rule = broken_rule(job, plan);
          if (rule && *rule <= kLastBlockRule) {
            count(table.refused, *rule, overlaps * sets);
            continue;
          }
          table.points += (overlaps - std::ssize(different)) * sets;
          for (const Overlap& overlap : different) {
            plan.overlap = overlap;
            add_offloaded(table, job, space, plan);
          }
        }
      }
    }
  }
  if (table.choices.empty())
    count(table.not_run, Ability::kOverlap, std::exchange(table.points, 0));
  table.choices.shrink_to_fit();
  table.without_parameters = find_first_without_parameters(table.choices);
  return table;
}

namespace {

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

DataTable data_table(const Job& job, const Dimensions& space, const Plan& legal, DataLists& lists) {
  DataTable table;
  const Dimensions types = legal_types(job, space, legal);
  const Groups groups{resolved(space.sharding_group, node_sharding_group(job.cluster, legal)),
                      resolved(space.expert_group, node_expert_group(job.cluster, legal))};
  DataList list;
  for (const Sharding& states : space.sharding) {
    Plan plan = legal;
    plan.sharding = states;
    plan.sharding.group = plan.sharding.expert_group = 1;
    add_strategy(table, job, types, plan, groups, list);
  }
  list.choices.shrink_to_fit();
  table.choices = *lists.insert(std::move(list.choices)).first;
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

void apply(const BlockChoice& choice, Plan& plan) {
  plan.sequence_parallel = choice.sequence_parallel;
  plan.tensor_input = choice.tensor_input;
  plan.context_kind = choice.context_kind;
  plan.overlap = choice.overlap;
  const Algorithm data = plan.collectives.data;
  plan.collectives = choice.collectives;
  plan.collectives.data = data;
  plan.offload.activations = choice.offloaded;
}

void apply(const StageChoice& choice, Plan& plan) {
  plan.schedule = choice.schedule;
  plan.recompute = choice.recompute;
  plan.layers = choice.layers;
  plan.offload.activations = kept_modules(plan.offload.activations, plan.recompute);
}

bool repeats(const std::vector<BlockChoice>& blocks, const BlockChoice& block,
             const StageChoice& stage) {
  const OffloadModules modules = kept_modules(block.offloaded, stage.recompute);
  if (modules == block.offloaded) return false;
  BlockChoice kept = block;
  kept.offloaded = modules;
  return std::ranges::any_of(blocks, [&](const BlockChoice& other) {
    return alike_but_overlap(other, kept) && other.overlap == kept.overlap;
  });
}

void apply(const DataChoice& choice, Plan& plan) {
  plan.sharding = choice.sharding;
  plan.accumulate = choice.accumulate;
  plan.collectives.data = choice.algorithm;
  plan.gradient_bucket = choice.gradient_bucket;
  plan.parameter_bucket = choice.parameter_bucket;
  plan.offload.optimizer = choice.offload.optimizer;
  plan.offload.masters = choice.offload.masters;
  plan.offload.parameters = choice.offload.parameters;
}

}  // namespace stepwright
