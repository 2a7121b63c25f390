#include "stepwright/plan/frameworks/ability.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "stepwright/cluster/platform.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/effects.h"
#include "stepwright/plan/frameworks/model_words.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/groups.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

constexpr Named<std::int64_t ParallelismDegrees::*> kDegreeWords[] = {
    {&ParallelismDegrees::tensor, "tensor"},
    {&ParallelismDegrees::pipeline, "pipeline"},
    {&ParallelismDegrees::context, "context"},
    {&ParallelismDegrees::expert, "expert"},
    {&ParallelismDegrees::expert_tensor, "expert_tensor"}};

enum LayersWord : std::uint8_t { kEqual, kNearly, kAny, kHollow };

enum class GroupsWord : std::uint8_t {
  kOtherInstances,
  kCutContext,
  kWithinContext,
  kSingle,
  kExpertsCutAlone,
  kExpertsCutApart,
  kCutNodes,
  kCopiedContext  ///< Copies share states only over context ranks.
};
constexpr Named<GroupsWord> kGroupsWords[] = {{GroupsWord::kOtherInstances, "other_instances"},
                                              {GroupsWord::kCutContext, "cut_context"},
                                              {GroupsWord::kWithinContext, "within_context"},
                                              {GroupsWord::kSingle, "single"},
                                              {GroupsWord::kExpertsCutAlone, "experts_cut_alone"},
                                              {GroupsWord::kExpertsCutApart, "experts_cut_apart"},
                                              {GroupsWord::kCutNodes, "cut_nodes"},
                                              {GroupsWord::kCopiedContext, "copied_context"}};

enum OffloadWord : std::uint8_t { kOptimizerThere, kShareThere, kDeviceMasters, kParametersThere };

enum AccumulateWord : std::uint8_t { kOwn, kWide };

enum TrainedWord : std::uint8_t {
  kWhole,
  kAdapters,
  kNarrowBase,
  kFrozenParts,
  kFp8Base,
  kPartOfMlp  ///< Adapters beside some, not all, products of an MLP.
};

template <class Table>
std::vector<std::string> words_of(const Table& table) {
  std::vector<std::string> words;
  for (const auto& entry : table) words.emplace_back(entry.name);
  return words;
}

std::vector<std::string> sharding_words() {
  std::vector<std::string> words;
  for (const Sharding& strategy : paro_strategies()) words.push_back(sharding_letters(strategy));
  return words;
}

/// Words of schedules: the kinds, a forward interleaved with a backward, an order other than 1f1b's
/// on one position, and groups of more micro-batches than positions (PyTorch's, and others).
std::vector<std::string> schedule_words() {
  std::vector<std::string> words = words_of(schedule::kScheduleKindNames);
  words.insert(words.end(), {"two-strands", "one-position", "even-groups", "any-groups"});
  return words;
}

/// Words of overlap: the flags, and tensor-parallel messages that overlap products on ROCm, as only
/// CUDA has the user buffers of Transformer Engine (ROCm/TransformerEngine README.rst, "comm-gemm
/// overlap").
std::vector<std::string> overlap_words() {
  std::vector<std::string> words = words_of(kOverlapFlagNames);
  words.emplace_back("tensor_on_rocm");
  return words;
}

/// Words of all rank orders, the default first.
std::vector<std::string> rank_order_words() {
  std::vector<std::string> words;
  RankOrder order;
  do {
    words.push_back(rank_order_text(order));
  } while (std::ranges::next_permutation(order.axes).found);
  return words;
}

std::vector<std::string> words_of(FrameworkProperty ability) {
  switch (ability) {
    case FrameworkProperty::kParallel: return words_of(kDegreeWords);
    case FrameworkProperty::kSchedule: return schedule_words();
    case FrameworkProperty::kLayers: return {"equal", "nearly", "any", "hollow"};
    case FrameworkProperty::kSequenceParallel: return {"false", "true"};
    case FrameworkProperty::kTensorInput: return words_of(kTensorInputNames);
    case FrameworkProperty::kContextKind: return words_of(kContextKindNames);
    case FrameworkProperty::kSharding: return sharding_words();
    case FrameworkProperty::kGroups: return words_of(kGroupsWords);
    case FrameworkProperty::kAccumulate: return {"own", "wide"};
    case FrameworkProperty::kRecompute: return words_of(kRecomputeWords);
    case FrameworkProperty::kOffload: return {"optimizer", "share", "device_masters", "parameters"};
    case FrameworkProperty::kHostActivations: return words_of(kOffloadModuleNames);
    case FrameworkProperty::kOverlap: return overlap_words();
    case FrameworkProperty::kExposed: return words_of(kOverlapFlagNames);
    case FrameworkProperty::kAlgorithms: return words_of(collective::kCollectiveAlgorithmNames);
    case FrameworkProperty::kAlgorithmScope: return {"run", "scheme"};
    case FrameworkProperty::kRankOrder: return rank_order_words();
    case FrameworkProperty::kDispatcher: return words_of(kDispatcherNames);
    case FrameworkProperty::kPrecision: return words_of(kPrecisionNames);
    case FrameworkProperty::kOptimizer: return words_of(kOptimizerNames);
    case FrameworkProperty::kModel: return words_of(model_words());
    case FrameworkProperty::kTrained:
      return {"whole", "adapters", "narrow_base", "frozen", "fp8_base", "part_of_mlp"};
    case FrameworkProperty::kAttention: return words_of(cluster::kAttentionKernelNames);
  }
  return {};
}

template <class EnumNamedByWord, std::size_t kCount>
WordSet word(const Named<EnumNamedByWord> (&table)[kCount], EnumNamedByWord value) {
  const auto found = std::ranges::find(table, value, &Named<EnumNamedByWord>::value);
  return WordSet().set(static_cast<std::size_t>(found - std::begin(table)));
}

WordSet word(FrameworkProperty ability, std::string_view text) {
  const std::vector<std::string>& words = framework_property_value_names(ability);
  const auto found = std::ranges::find(words, text);
  return WordSet().set(static_cast<std::size_t>(found - words.begin()));
}

WordSet taken_schedule(const Job& job, const Plan& plan) {
  const bool alone = plan.parallel.pipeline == 1;
  if (alone && plan.schedule.kind == schedule::PipelineScheduleKind::kOneForwardOneBackward)
    return {};
  constexpr std::size_t kKinds = std::size(schedule::kScheduleKindNames);
  WordSet words = word(schedule::kScheduleKindNames, plan.schedule.kind)
                      .set(kKinds, plan.schedule.strands > 1)
                      .set(kKinds + 1, alone);
  if (!schedule::traits_of(plan.schedule.kind).groups) return words;
  const std::int64_t pipeline = plan.parallel.pipeline;
  const std::int64_t count = micro_batches_per_pipeline(job, plan);
  const std::int64_t group =
      schedule::micro_batch_group_size_of_schedule(plan.schedule, pipeline, count);
  const bool even = schedule::is_pytorch_micro_batch_group_size(group, pipeline, count);
  return words.set(kKinds + 2, even && group != pipeline).set(kKinds + 3, !even);
}

WordSet taken_layers(const Job& job, const Plan& plan) {
  if (!plan.layers.empty()) {
    return WordSet().set(kAny).set(kHollow, has_empty_middle_chunk(plan.layers));
  }
  const std::int64_t chunks = plan.parallel.pipeline * plan.schedule.chunks;
  if (chunks == 1) return {};
  return WordSet().set(job.model.layers % chunks == 0 ? kEqual : kNearly);
}

/// Returns the overlap flags that matter in a plan and are on (`on`) or off. A flag that costs
/// memory may be off in any framework.
WordSet taken_overlap(const Job& job, const Plan& plan, bool on) {
  WordSet words;
  for (std::size_t i = 0; i < std::size(kOverlapFlagTable); ++i) {
    const OverlapFlagTraits& row = kOverlapFlagTable[i];
    const bool counts = row.matters(job, plan) && (on || !row.chosen);
    words.set(i, counts && plan.overlap.*row.flag == on);
    if (row.flag == &OverlapFlags::tensor && on && words[i]) {
      words.set(std::size(kOverlapFlagTable), cluster::is_rocm_device(job.cluster.device));
    }
  }
  return words;
}

/// True if a node holds only a fraction of an axis of the mesh of experts, tensor, context, states,
/// pipeline and data (fastest first): neither a whole divisor nor a whole multiple of the axis.
bool cuts_nodes(const Job& job, const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  const std::int64_t rest = std::max<std::int64_t>(1, degrees.data / degrees.expert);
  std::int64_t states = 1;
  if (plan.sharding.uses(StateShardingScope::kInner)) {
    states = std::max<std::int64_t>(1, plan.sharding.group / degrees.context / degrees.expert);
  } else if (plan.sharding.parameters == StateShardingScope::kGlobal) {
    states = rest;
  }
  std::int64_t room = job.cluster.devices_per_node;
  for (const std::int64_t size :
       {degrees.expert, degrees.tensor, degrees.context, states, degrees.pipeline, rest / states}) {
    const std::int64_t inside = std::min(size, room);
    if (inside == 0 || room % inside != 0 || size % inside != 0) return true;
    room /= inside;
  }
  return false;
}

WordSet taken_groups(const Job& job, const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  const Sharding& sharding = plan.sharding;
  const std::int64_t ranks = degrees.context * degrees.data;
  const bool inner = sharding.uses(StateShardingScope::kInner);
  const std::int64_t group = inner ? sharding.group : ranks;
  WordSet words;
  const auto set = [&](GroupsWord value, bool on) {
    words.set(static_cast<std::size_t>(value), on);
  };
  set(GroupsWord::kOtherInstances,
      inner && job.model.experts &&
          sharding.expert_group * ranks != group * degrees.expert_data_degree());
  set(GroupsWord::kCutContext, inner && group % degrees.context != 0);
  set(GroupsWord::kWithinContext, sharding.parameters != StateShardingScope::kNone &&
                                      reduces_gradients(job, degrees) &&
                                      group <= degrees.context * degrees.expert);
  set(GroupsWord::kSingle, !reduces_gradients(job, degrees));
  const bool whole = degrees.expert == 1;
  set(GroupsWord::kExpertsCutAlone, whole && degrees.expert_tensor > 1);
  set(GroupsWord::kExpertsCutApart,
      job.model.experts && whole && degrees.expert_tensor != degrees.tensor);
  set(GroupsWord::kCutNodes, cuts_nodes(job, plan));
  set(GroupsWord::kCopiedContext, inner && degrees.context > 1 && group <= degrees.context);
  return words;
}

WordSet taken_accumulate(const Job& job, const Plan& plan) {
  const DType own = parameter_storage_type(job.precision);
  if (own == DType::kFp32 || own == DType::kFp64) return {};
  // Every framework can keep gradients in the type of their parameters.
  if (job.kernels.masters == MasterWeights::kNone && plan.accumulate == own) return {};
  return WordSet().set(plan.accumulate == own ? kOwn : kWide);
}

WordSet taken_model(const model::ModelArchitecture& model) {
  WordSet words;
  const std::span<const ModelFeatureWord> known = model_words();
  for (std::size_t i = 0; i < known.size(); ++i) words.set(i, known[i].has(model));
  return words;
}

/// Returns the words for the recomputation of all positions.
WordSet taken_recompute(const ActivationRecomputation& recompute) {
  WordSet words;
  const auto take = [&](const ActivationRecomputation& setting) {
    for (std::size_t i = 0; i < std::size(kRecomputeWords); ++i) {
      if (kRecomputeWords[i].takes(setting)) words.set(i);
    }
  };
  take(recompute);
  each_setting(recompute, take);
  return words;
}

WordSet taken_offload(const HostOffload& offload) {
  if (offload.optimizer == 0) return {};
  return WordSet()
      .set(kOptimizerThere, offload.optimizer == 1 && !offload.parameters)
      .set(kShareThere, offload.optimizer < 1)
      .set(kDeviceMasters, !offload.masters)
      .set(kParametersThere, offload.parameters);
}

WordSet taken_activations(OffloadModuleSet modules) {
  WordSet words;
  for (std::size_t i = 0; i < std::size(kOffloadModuleNames); ++i) {
    words.set(i, modules.has(kOffloadModuleNames[i].value));
  }
  return words;
}

WordSet taken_collectives(const Plan& plan) {
  WordSet words;
  for (const auto& [choice, scheme] : kChoosingSchemes) {
    words |= word(collective::kCollectiveAlgorithmNames, plan.collectives.*choice);
  }
  return words;
}

bool adapts_part_of_mlp(const model::ModelArchitecture& model) {
  if (!model.adapters) return false;
  model::AdapterTargets mlp;
  for (const model::LoraTargetProduct target :
       {model::LoraTargetProduct::kGate, model::LoraTargetProduct::kUp,
        model::LoraTargetProduct::kFc2}) {
    mlp.set(model::place_of(target));
  }
  mlp &= model::possible_adapter_targets(model);
  const model::AdapterTargets here = model.adapters->targets & mlp;
  return here.any() && here != mlp;
}

WordSet taken_trained(const model::ModelArchitecture& model) {
  return WordSet()
      .set(kWhole, !model.has_frozen_weights())
      .set(kAdapters, model.adapters.has_value())
      .set(kNarrowBase, model.adapters && model.adapters->quantised())
      .set(kFrozenParts, model.frozen.any())
      .set(kFp8Base, model.adapters && model.adapters->base == DType::kFp8)
      .set(kPartOfMlp, adapts_part_of_mlp(model));
}

WordSet taken_scope(const Plan& plan) {
  const auto schemes = active_parallelism_schemes(plan);
  const bool differ = std::ranges::any_of(schemes, [&](const auto scheme) {
    return plan.collectives.*scheme != plan.collectives.*schemes.front();
  });
  return WordSet().set(differ ? 1 : 0);
}

}  // namespace

const std::vector<std::string>& framework_property_value_names(FrameworkProperty ability) {
  static const auto kWords = [] {
    std::array<std::vector<std::string>, kAbilities> all;
    for (std::size_t i = 0; i < kAbilities; ++i) all[i] = words_of(kAbilityNames[i].value);
    return all;
  }();
  return kWords[static_cast<std::size_t>(ability)];
}

std::string property_words_text(FrameworkProperty ability, const WordSet& words) {
  const std::vector<std::string>& known = framework_property_value_names(ability);
  if (words.none()) return "none";
  constexpr std::size_t kMany = 20;
  if (known.size() > kMany && words.count() == known.size()) return "any";
  const bool most = known.size() > kMany && 2 * words.count() > known.size();
  std::vector<std::string_view> listed;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (words[i] != most) listed.push_back(known[i]);
  }
  return fmt::format("{}{}", most ? "all but " : "", fmt::join(listed, ", "));
}

DegreeSet degrees_above_one(const ParallelismDegrees& parallel) {
  DegreeSet degrees = 0;
  for (std::size_t i = 0; i < std::size(kDegreeWords); ++i) {
    if (parallel.*kDegreeWords[i].value > 1) degrees |= DegreeSet{1} << i;
  }
  return degrees;
}

WordSet property_values_of_plan(FrameworkProperty ability, const Job& job, const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  switch (ability) {
    case FrameworkProperty::kParallel: return degrees_above_one(degrees);
    case FrameworkProperty::kSchedule: return taken_schedule(job, plan);
    case FrameworkProperty::kLayers: return taken_layers(job, plan);
    case FrameworkProperty::kSequenceParallel:
      return degrees.tensor > 1 ? WordSet().set(plan.sequence_parallel ? 1 : 0) : WordSet();
    case FrameworkProperty::kTensorInput:
      return plan.sequence_parallel ? word(kTensorInputNames, plan.tensor_input) : WordSet();
    case FrameworkProperty::kContextKind:
      return degrees.context > 1 ? word(kContextKindNames, plan.context_kind) : WordSet();
    case FrameworkProperty::kSharding:
      return reduces_gradients(job, degrees)
                 ? word(ability, sharding_letters(canonical_sharding(job, plan)))
                 : WordSet();
    case FrameworkProperty::kGroups: return taken_groups(job, plan);
    case FrameworkProperty::kAccumulate: return taken_accumulate(job, plan);
    case FrameworkProperty::kRecompute: return taken_recompute(plan.recompute);
    case FrameworkProperty::kOffload: return taken_offload(plan.offload);
    case FrameworkProperty::kHostActivations: return taken_activations(plan.offload.activations);
    case FrameworkProperty::kOverlap: return taken_overlap(job, plan, true);
    case FrameworkProperty::kExposed: return taken_overlap(job, plan, false);
    case FrameworkProperty::kAlgorithms: return taken_collectives(plan);
    case FrameworkProperty::kAlgorithmScope: return taken_scope(plan);
    case FrameworkProperty::kRankOrder: return word(ability, rank_order_text(plan.rank_order));
    case FrameworkProperty::kDispatcher:
      return sends_tokens_to_expert_ranks(degrees) ? word(kDispatcherNames, job.dispatcher)
                                                   : WordSet();
    case FrameworkProperty::kPrecision: return word(kPrecisionNames, job.precision);
    case FrameworkProperty::kOptimizer: return word(kOptimizerNames, job.optimizer);
    case FrameworkProperty::kModel: return taken_model(job.model);
    case FrameworkProperty::kTrained: return taken_trained(job.model);
    case FrameworkProperty::kAttention:
      return word(cluster::kAttentionKernelNames, job.kernels.attention);
  }
  return {};
}

std::vector<collective::CollectiveAlgorithm CollectiveAlgorithmChoices::*>
active_parallelism_schemes(const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  std::vector<collective::CollectiveAlgorithm CollectiveAlgorithmChoices::*> active;
  if (degrees.tensor > 1) active.push_back(&CollectiveAlgorithmChoices::tensor);
  if (degrees.context > 1) active.push_back(&CollectiveAlgorithmChoices::context);
  if (sends_tokens_to_expert_ranks(degrees)) active.push_back(&CollectiveAlgorithmChoices::expert);
  if (degrees.data * degrees.context > 1) active.push_back(&CollectiveAlgorithmChoices::data);
  return active;
}

WordSet degree_dependent_group_words() {
  WordSet words;
  for (const GroupsWord value :
       {GroupsWord::kCutContext, GroupsWord::kWithinContext, GroupsWord::kExpertsCutApart,
        GroupsWord::kCutNodes, GroupsWord::kCopiedContext}) {
    words.set(static_cast<std::size_t>(value));
  }
  return words;
}

OverlapFlags overlap_limited_to_listed_flags(OverlapFlags overlap, const WordSet& words) {
  for (std::size_t i = 0; i < std::size(kOverlapFlagNames); ++i) {
    bool& on = overlap.*kOverlapFlagNames[i].value;
    on = on && words[i];
  }
  return overlap;
}

}  // namespace stepwright::plan
