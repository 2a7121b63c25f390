#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/choices/write_choices.h"
#include "stepwright/plan/effects.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/plan/space.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {

// The table of all choices of a plan, `kPlanChoiceTable`. Loops over it read and write plans and
// `search`, compare plans, and give the dimensions of the search, its neighbours and `--against`.
// The table has a header of its own because each loop is compiled once for each row.

/// Accessor of a member of a member: `Path<&Plan::parallel, &ParallelismDegrees::tensor>()(plan)`
/// is `plan.parallel.tensor`.
template <auto... kMembers>
struct Path {
  template <class Whole>
  constexpr auto& operator()(Whole& whole) const {
    return (whole.*....*kMembers);
  }
};

/// How a user adopts another value of a choice in the comparison `--against`. kFlag: by an option
/// of the framework; kLayout: by moving the model to other ranks; kAlong: together with another
/// choice.
enum class PlanChoiceAdoption : std::uint8_t { kFlag, kLayout, kAlong };

/// Properties of one choice of a plan; the defaults fit most choices.
struct PlanChoiceTraits {
  PlanChoiceAdoption taken = PlanChoiceAdoption::kFlag;
  /// Least allowed value of a choice of plans that is a number (a degree, a bucket size).
  std::int64_t least = 1;
  /// Function that says whether the choice has an effect in a plan; if not, canonical plans have
  /// its default. nullptr: it always has one, or `canonical_plan` decides.
  bool (*matters)(const Job& job, const Plan& plan) = nullptr;
  /// True if plan files leave the choice out when all choices of its mapping have their defaults.
  bool unsaid_alone = false;
  /// Words with which plan codes and descriptions say that a yes-or-no choice is on; empty: they
  /// never say it.
  BooleanChoiceWords said = {};
};

/// One choice of a plan (a degree, the schedule, ...): its path in plan files, its member, and the
/// functions that read and write its value.
template <class PlanChoiceMember, class InSpace, class Value>
struct Choice {
  using Kind = Value;
  std::string_view place;  ///< Dotted path of the plan's choice in plan files: "schedule.chunks".
  /// Name of the plan's choice in a job's `search` mapping and in messages: "chunks".
  std::string_view key;
  PlanChoiceMember of;
  InSpace list;  ///< Member of `TunerSearchSpace` with the values that a job's `search` allows for
                 ///< the choice.
  Value (*read)(DocumentNode node, const PlanFileReading& reading);
  nlohmann::ordered_json (*write)(const Value& value);
  PlanChoiceTraits traits = {};

  /// Returns the top-level key of plan files that contains the choice ("schedule" for
  /// "schedule.chunks").
  [[nodiscard]] constexpr std::string_view plan_file_top_level_key() const {
    return place.substr(0, place.find('.'));
  }
};
// Written out because compilers before Clang 17 cannot deduce the arguments of an aggregate.
template <class PlanChoiceMember, class InSpace, class Value>
Choice(std::string_view, std::string_view, PlanChoiceMember, InSpace,
       Value (*)(DocumentNode, const PlanFileReading&), nlohmann::ordered_json (*)(const Value&),
       PlanChoiceTraits = {}) -> Choice<PlanChoiceMember, InSpace, Value>;

/// Wraps a reader that does not depend on the file's version, so that all choices have readers of
/// one type.
template <auto kRead>
auto plain(DocumentNode node, const PlanFileReading& /*reading*/) {
  return kRead(node);
}
template <auto& kNames>
auto read_word(DocumentNode node, const PlanFileReading& /*reading*/) {
  return node.choice(kNames);
}

// The traits of the rows below.
inline constexpr PlanChoiceTraits kLayoutChoice{.taken = PlanChoiceAdoption::kLayout};
inline constexpr PlanChoiceTraits kAlongChoice{.taken = PlanChoiceAdoption::kAlong};
inline constexpr PlanChoiceTraits kGroupChoice{.taken = PlanChoiceAdoption::kAlong,
                                               .least = kNodeSizedShardingGroup};
inline constexpr PlanChoiceTraits kWhereSequenceParallel{
    .matters = [](const Job&, const Plan& plan) { return plan.sequence_parallel; }};
inline constexpr PlanChoiceTraits kWhereTensor{
    .matters = [](const Job&, const Plan& plan) { return plan.parallel.tensor > 1; }};
inline constexpr PlanChoiceTraits kWhereContext{
    .matters = [](const Job&, const Plan& plan) { return plan.parallel.context > 1; }};
inline constexpr PlanChoiceTraits kWhereRouted{.matters = [](const Job&, const Plan& plan) {
  return sends_tokens_to_expert_ranks(plan.parallel);
}};
inline constexpr PlanChoiceTraits kWhereReplicated{.matters = [](const Job& job, const Plan& plan) {
  return reduces_gradients(job, plan.parallel);
}};
inline constexpr PlanChoiceTraits kWhereGathered{
    .matters = [](const Job&, const Plan& plan) { return gathers_parameters(plan.sharding); }};
inline constexpr PlanChoiceTraits kUnsaidChoice{.unsaid_alone = true};
inline constexpr PlanChoiceTraits kUnsaidAlong{.taken = PlanChoiceAdoption::kAlong,
                                               .unsaid_alone = true};
inline constexpr PlanChoiceTraits kHostParameters{
    .unsaid_alone = true,
    .said = {.mark = "parameters:host",
             .words = "parameters and gradients on the host",
             .means = "Parameters and gradients lie on the host, from which each use fetches a "
                      "rank's part."}};

/// All choices of a plan, in the order in which messages print them. A choice that a job's `search`
/// does not list is free if `tune/dimensions.cpp` has values for it, else keeps its
/// default.
inline constexpr std::tuple kPlanChoiceTable{
    Choice{"parallel.tensor", "tensor", Path<&Plan::parallel, &ParallelismDegrees::tensor>(),
           Path<&TunerSearchSpace::tensor>(), &plain<read_positive_number>, &count_json,
           kLayoutChoice},
    Choice{"parallel.pipeline", "pipeline", Path<&Plan::parallel, &ParallelismDegrees::pipeline>(),
           Path<&TunerSearchSpace::pipeline>(), &plain<read_positive_number>, &count_json,
           kLayoutChoice},
    Choice{"parallel.context", "context", Path<&Plan::parallel, &ParallelismDegrees::context>(),
           Path<&TunerSearchSpace::context>(), &plain<read_positive_number>, &count_json,
           kLayoutChoice},
    Choice{"parallel.expert", "expert", Path<&Plan::parallel, &ParallelismDegrees::expert>(),
           Path<&TunerSearchSpace::expert>(), &plain<read_positive_number>, &count_json,
           kLayoutChoice},
    Choice{"parallel.expert_tensor", "expert_tensor",
           Path<&Plan::parallel, &ParallelismDegrees::expert_tensor>(),
           Path<&TunerSearchSpace::expert_tensor>(), &plain<read_positive_number>, &count_json,
           kLayoutChoice},
    Choice{"parallel.data", "data", Path<&Plan::parallel, &ParallelismDegrees::data>(),
           Path<&TunerSearchSpace::data>(), &plain<read_positive_number>, &count_json,
           kAlongChoice},
    Choice{"micro_batch", "micro_batch", Path<&Plan::micro_batch>(),
           Path<&TunerSearchSpace::micro_batch>(), &plain<read_positive_number>, &count_json},
    Choice{"schedule.kind", "schedule", Path<&Plan::schedule, &schedule::PipelineSchedule::kind>(),
           Path<&TunerSearchSpace::schedule>(), &plain<read_schedule_kind>, &schedule_kind_json},
    Choice{
        "schedule.chunks", "chunks", Path<&Plan::schedule, &schedule::PipelineSchedule::chunks>(),
        Path<&TunerSearchSpace::chunks>(), &plain<read_positive_number>, &count_json, kAlongChoice},
    Choice{"schedule.strands", "strands",
           Path<&Plan::schedule, &schedule::PipelineSchedule::strands>(),
           Path<&TunerSearchSpace::strands>(), &plain<read_micro_batch_stream_count>, &count_json,
           kAlongChoice},
    Choice{"layers", "layers", Path<&Plan::layers>(), Path<&TunerSearchSpace::layers>(),
           &plain<read_chunk_layers>, &layers_per_chunk_json},
    Choice{"sequence_parallel", "sequence_parallel", Path<&Plan::sequence_parallel>(),
           Path<&TunerSearchSpace::sequence_parallel>(), &plain<read_flag>, &flag_json},
    Choice{"tensor_input", "tensor_input", Path<&Plan::tensor_input>(),
           Path<&TunerSearchSpace::tensor_input>(), &read_word<kTensorInputNames>,
           &gathered_input_policy_json, kWhereSequenceParallel},
    Choice{"context_kind", "context_kind", Path<&Plan::context_kind>(),
           Path<&TunerSearchSpace::context_kind>(), &read_word<kContextKindNames>,
           &context_parallelism_json, kWhereContext},
    Choice{"sharding.states", "sharding", Path<&Plan::sharding>(),
           Path<&TunerSearchSpace::sharding>(), &read_state_sharding, &sharding_letters_json},
    Choice{"sharding.group", "sharding_group", Path<&Plan::sharding, &Sharding::group>(),
           Path<&TunerSearchSpace::sharding_group>(), &plain<read_sharding_group>,
           &sharding_group_json, kGroupChoice},
    Choice{"sharding.expert_group", "expert_group",
           Path<&Plan::sharding, &Sharding::expert_group>(),
           Path<&TunerSearchSpace::expert_group>(), &plain<read_sharding_group>,
           &sharding_group_json, kGroupChoice},
    Choice{"recompute", "recompute", Path<&Plan::recompute>(), Path<&TunerSearchSpace::recompute>(),
           &plain<read_recompute>, &recompute_json},
    Choice{"accumulate", "accumulate", Path<&Plan::accumulate>(),
           Path<&TunerSearchSpace::accumulate>(), &read_word<kAccumulateNames>,
           &accumulation_type_json},
    Choice{"buckets.gradients", "gradient_bucket", Path<&Plan::gradient_bucket>(),
           Path<&TunerSearchSpace::gradient_bucket>(), &plain<read_bucket_size>, &count_json,
           kWhereReplicated},
    Choice{"buckets.parameters", "parameter_bucket", Path<&Plan::parameter_bucket>(),
           Path<&TunerSearchSpace::parameter_bucket>(), &plain<read_bucket_size>, &count_json,
           kWhereGathered},
    Choice{"overlap", "overlap", Path<&Plan::overlap>(), Path<&TunerSearchSpace::overlap>(),
           &plain<read_overlap_flags_or_defaults>, &overlap_json},
    Choice{"collectives.tensor", "collectives.tensor",
           Path<&Plan::collectives, &CollectiveAlgorithmChoices::tensor>(),
           Path<&TunerSearchSpace::collectives, &SearchedCollectiveAlgorithms::tensor>(),
           &read_collective_algorithm, &collective_algorithm_json, kWhereTensor},
    Choice{"collectives.context", "collectives.context",
           Path<&Plan::collectives, &CollectiveAlgorithmChoices::context>(),
           Path<&TunerSearchSpace::collectives, &SearchedCollectiveAlgorithms::context>(),
           &read_collective_algorithm, &collective_algorithm_json, kWhereContext},
    Choice{"collectives.expert", "collectives.expert",
           Path<&Plan::collectives, &CollectiveAlgorithmChoices::expert>(),
           Path<&TunerSearchSpace::collectives, &SearchedCollectiveAlgorithms::expert>(),
           &read_collective_algorithm, &collective_algorithm_json, kWhereRouted},
    Choice{"collectives.data", "collectives.data",
           Path<&Plan::collectives, &CollectiveAlgorithmChoices::data>(),
           Path<&TunerSearchSpace::collectives, &SearchedCollectiveAlgorithms::data>(),
           &read_collective_algorithm, &collective_algorithm_json, kWhereReplicated},
    Choice{"rank_order", "rank_order", Path<&Plan::rank_order>(),
           Path<&TunerSearchSpace::rank_order>(), &plain<read_rank_order>, &rank_order_json,
           kLayoutChoice},
    Choice{"offload.optimizer", "offload.optimizer",
           Path<&Plan::offload, &HostOffload::optimizer>(),
           Path<&TunerSearchSpace::offload, &SearchedOffloadChoices::optimizer>(),
           &plain<read_share_or_none>, &unit_interval_share_json, kUnsaidChoice},
    Choice{"offload.masters", "offload.masters", Path<&Plan::offload, &HostOffload::masters>(),
           Path<&TunerSearchSpace::offload, &SearchedOffloadChoices::masters>(), &plain<read_flag>,
           &flag_json, kUnsaidAlong},
    Choice{"offload.activations", "offload.activations",
           Path<&Plan::offload, &HostOffload::activations>(),
           Path<&TunerSearchSpace::offload, &SearchedOffloadChoices::activations>(),
           &plain<read_offload_modules>, &offload_modules_json, kUnsaidChoice},
    Choice{"offload.parameters", "offload.parameters",
           Path<&Plan::offload, &HostOffload::parameters>(),
           Path<&TunerSearchSpace::offload, &SearchedOffloadChoices::parameters>(),
           &plain<read_flag>, &flag_json, kHostParameters}};

// Every mapping of the table is a key of plan files, which have their keys in another order than
// messages.
static_assert(std::apply(
    [](const auto&... choice) {
      const auto is_key = [](std::string_view group) {
        for (const std::string_view key : kAllPlanFileKeys) {
          if (key == group) return true;
        }
        return false;
      };
      return (is_key(choice.plan_file_top_level_key()) && ...);
    },
    kPlanChoiceTable));

/// Calls `visit(choice)` for every choice of a plan, in the order of `kPlanChoiceTable`.
template <class VisitorCallback>
void each_choice(VisitorCallback&& visit) {
  std::apply([&](const auto&... choice) { (visit(choice), ...); }, kPlanChoiceTable);
}

template <class Row>
using KindOf = typename std::remove_cvref_t<Row>::Kind;

/// Calls `visit(said, place, is_on)` for every yes-or-no choice that plan codes name if it is on:
/// its words, its path in plan files, and the function that says whether it is on in a plan.
template <class VisitorCallback>
void each_flag(VisitorCallback&& visit) {
  each_choice([&](const auto& choice) {
    if constexpr (std::is_same_v<KindOf<decltype(choice)>, bool>) {
      const BooleanChoiceWords& said = choice.traits.said;
      if (!said.mark.empty()) visit(said, choice.place, choice.of);
    }
  });
  const auto visit_overlap = [&](const BooleanChoiceWords& said, auto is_on) {
    if (!said.mark.empty()) visit(said, std::string_view("overlap"), is_on);
  };
  [&]<std::size_t... kRow>(std::index_sequence<kRow...>) {
    (visit_overlap(kOverlapFlagTable[kRow].said,
                   Path<&Plan::overlap, kOverlapFlagTable[kRow].flag>()),
     ...);
  }(std::make_index_sequence<std::size(kOverlapFlagTable)>());
}

/// True if all choices under a top-level key of plan files ("schedule") have their defaults.
inline bool plan_section_has_only_defaults(const Plan& plan, std::string_view group) {
  const Plan usual;
  bool same = true;
  each_choice([&](const auto& choice) {
    if (choice.plan_file_top_level_key() == group)
      same = same && choice.of(plan) == choice.of(usual);
  });
  return same;
}

/// Sets one choice of a plan to a value. A sharding strategy keeps the plan's group sizes, which
/// are separate choices.
template <class Row, class Value>
void put(const Row& choice, Plan& plan, const Value& value) {
  if constexpr (std::is_same_v<KindOf<Row>, Sharding>) {
    plan.sharding.parameters = value.parameters;
    plan.sharding.gradients = value.gradients;
    plan.sharding.optimizer = value.optimizer;
  } else {
    choice.of(plan) = value;
  }
}

}  // namespace stepwright::plan
