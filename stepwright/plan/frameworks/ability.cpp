#include "stepwright/plan/frameworks/ability.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stepwright/plan/canonical.h"

namespace stepwright {
namespace {

constexpr Named<std::int64_t Parallel::*> kDegreeWords[] = {
    {&Parallel::tensor, "tensor"},
    {&Parallel::pipeline, "pipeline"},
    {&Parallel::context, "context"},
    {&Parallel::expert, "expert"},
    {&Parallel::expert_tensor, "expert_tensor"}};

enum LayersWord : std::uint8_t { kEqual, kNearly, kAny };

template <class Entry, std::size_t kCount>
std::vector<std::string> words_of(const Entry (&table)[kCount]) {
  std::vector<std::string> words;
  for (const auto& entry : table) words.emplace_back(entry.name);
  return words;
}

std::vector<std::string> sharding_words() {
  std::vector<std::string> words;
  for (const Sharding& strategy : paro_strategies()) words.push_back(sharding_word(strategy));
  return words;
}

constexpr std::string_view kTwoStrands = "two-strands";

/// The kinds, and a forward beside a backward operator by operator.
std::vector<std::string> schedule_words() {
  std::vector<std::string> words = words_of(kScheduleNames);
  words.emplace_back(kTwoStrands);
  return words;
}

/// All orders of the axes, the usual one first.
std::vector<std::string> rank_order_words() {
  std::vector<std::string> words;
  RankOrder order;
  do {
    words.push_back(rank_order_word(order));
  } while (std::ranges::next_permutation(order.axes).found);
  return words;
}

std::vector<std::string> words_of(Ability ability) {
  switch (ability) {
    case Ability::kParallel: return words_of(kDegreeWords);
    case Ability::kSchedule: return schedule_words();
    case Ability::kLayers: return {"equal", "nearly", "any"};
    case Ability::kSequenceParallel: return {"false", "true"};
    case Ability::kTensorInput: return words_of(kTensorInputNames);
    case Ability::kContextKind: return words_of(kContextKindNames);
    case Ability::kSharding: return sharding_words();
    case Ability::kRecompute: return words_of(kRecomputeWords);
    case Ability::kOverlap: return words_of(kOverlapNames);
    case Ability::kAlgorithms: return words_of(kAlgorithmNames);
    case Ability::kRankOrder: return rank_order_words();
    case Ability::kDispatcher: return words_of(kDispatcherNames);
    case Ability::kPrecision: return words_of(kPrecisionNames);
    case Ability::kAttention: return words_of(kAttentionKernelNames);
  }
  return {};
}

template <class Enum, std::size_t kCount>
WordSet word(const Named<Enum> (&table)[kCount], Enum value) {
  const auto found = std::ranges::find(table, value, &Named<Enum>::value);
  return WordSet().set(static_cast<std::size_t>(found - std::begin(table)));
}

WordSet word(Ability ability, std::string_view text) {
  const std::vector<std::string>& words = ability_words(ability);
  const auto found = std::ranges::find(words, text);
  return WordSet().set(static_cast<std::size_t>(found - words.begin()));
}

/// Whether any gradient is reduced over ranks.
bool replicates(const Job& job, const Parallel& degrees) {
  return degrees.context * degrees.data > 1 || (job.model.experts && degrees.expert_data() > 1);
}

WordSet taken_schedule(const Plan& plan) {
  const bool alone = plan.parallel.pipeline == 1;
  if (alone && plan.schedule.kind == ScheduleKind::kOneForwardOneBackward) return {};
  WordSet words = word(kScheduleNames, plan.schedule.kind);
  if (plan.schedule.strands > 1) words |= word(Ability::kSchedule, kTwoStrands);
  return words;
}

WordSet taken_layers(const Job& job, const Plan& plan) {
  if (!plan.layers.empty()) return WordSet().set(kAny);
  const std::int64_t chunks = plan.parallel.pipeline * plan.schedule.chunks;
  if (chunks == 1) return {};
  return WordSet().set(job.model.layers % chunks == 0 ? kEqual : kNearly);
}

/// Which kinds of overlap a plan gives anything to do.
std::array<bool, std::size(kOverlapNames)> overlap_effects(const Job& job, const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  const bool data = replicates(job, degrees);
  const bool sharded = plan.sharding.parameters != Spread::kNone ||  //
                       plan.sharding.optimizer != Spread::kNone;
  return {data,
          data && sharded,
          degrees.tensor > 1,
          degrees.tensor > 1,
          degrees.context > 1,
          degrees.expert * degrees.expert_tensor > 1,
          degrees.pipeline > 1};
}

WordSet taken_overlap(const Job& job, const Plan& plan) {
  const auto effects = overlap_effects(job, plan);
  WordSet words;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    words.set(i, effects[i] && plan.overlap.*kOverlapNames[i].value);
  }
  return words;
}

/// Of what any position recomputes.
WordSet taken_recompute(const Recompute& recompute) {
  WordSet words;
  const auto take = [&](const Recompute& setting) {
    for (std::size_t i = 0; i < std::size(kRecomputeWords); ++i) {
      if (kRecomputeWords[i].takes(setting)) words.set(i);
    }
  };
  take(recompute);
  each_setting(recompute, take);
  return words;
}

WordSet taken_collectives(const Plan& plan) {
  WordSet words;
  for (const auto& [choice, scheme] : kChoosingSchemes) {
    words |= word(kAlgorithmNames, plan.collectives.*choice);
  }
  return words;
}

}  // namespace

const std::vector<std::string>& ability_words(Ability ability) {
  static const auto kWords = [] {
    std::array<std::vector<std::string>, kAbilities> all;
    for (std::size_t i = 0; i < kAbilities; ++i) all[i] = words_of(kAbilityNames[i].value);
    return all;
  }();
  return kWords[static_cast<std::size_t>(ability)];
}

std::string words_text(Ability ability, const WordSet& words) {
  const std::vector<std::string>& known = ability_words(ability);
  if (words.none()) return "none";
  constexpr std::size_t kMany = 20;
  if (known.size() > kMany && words.count() == known.size()) return "any";
  std::vector<std::string_view> listed;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (words[i]) listed.push_back(known[i]);
  }
  return fmt::format("{}", fmt::join(listed, ", "));
}

DegreeSet degrees_above_one(const Parallel& parallel) {
  DegreeSet degrees = 0;
  for (std::size_t i = 0; i < std::size(kDegreeWords); ++i) {
    if (parallel.*kDegreeWords[i].value > 1) degrees |= DegreeSet{1} << i;
  }
  return degrees;
}

WordSet taken_words(Ability ability, const Job& job, const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  switch (ability) {
    case Ability::kParallel: return degrees_above_one(degrees);
    case Ability::kSchedule: return taken_schedule(plan);
    case Ability::kLayers: return taken_layers(job, plan);
    case Ability::kSequenceParallel:
      return degrees.tensor > 1 ? WordSet().set(plan.sequence_parallel ? 1 : 0) : WordSet();
    case Ability::kTensorInput:
      return plan.sequence_parallel ? word(kTensorInputNames, plan.tensor_input) : WordSet();
    case Ability::kContextKind:
      return degrees.context > 1 ? word(kContextKindNames, plan.context_kind) : WordSet();
    case Ability::kSharding:
      return replicates(job, degrees) ? word(ability, sharding_word(canonical_sharding(job, plan)))
                                      : WordSet();
    case Ability::kRecompute: return taken_recompute(plan.recompute);
    case Ability::kOverlap: return taken_overlap(job, plan);
    case Ability::kAlgorithms: return taken_collectives(plan);
    case Ability::kRankOrder: return word(ability, rank_order_word(plan.rank_order));
    case Ability::kDispatcher:
      return degrees.expert * degrees.expert_tensor > 1 ? word(kDispatcherNames, job.dispatcher)
                                                        : WordSet();
    case Ability::kPrecision: return word(kPrecisionNames, job.precision);
    case Ability::kAttention: return word(kAttentionKernelNames, job.kernels.attention);
  }
  return {};
}

Overlap overlap_within(Overlap overlap, const WordSet& words) {
  for (std::size_t i = 0; i < std::size(kOverlapNames); ++i) {
    bool& on = overlap.*kOverlapNames[i].value;
    on = on && words[i];
  }
  return overlap;
}

}  // namespace stepwright
