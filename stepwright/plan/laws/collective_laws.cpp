#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/collective/wire.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {
namespace {

/// A kind of message: its operation and its group.
struct Message {
  collective::CollectiveOperation operation{};
  CommunicatorKind group{};
};

/// The kinds of messages of a scheme; does not allocate memory.
class Messages {
 public:
  void add(std::initializer_list<collective::CollectiveOperation> operations,
           CommunicatorKind group) {
    for (const collective::CollectiveOperation one : operations) list_[count_++] = {one, group};
  }
  [[nodiscard]] std::span<const Message> all() const { return std::span(list_).first(count_); }

 private:
  std::array<Message, 12> list_{};
  std::size_t count_ = 0;
};

constexpr std::initializer_list<collective::CollectiveOperation> kHalves = {
    collective::CollectiveOperation::kAllGather, collective::CollectiveOperation::kReduceScatter};

Messages tensor_messages(const Job& /*job*/, const Plan& plan) {
  Messages found;
  found.add({collective::CollectiveOperation::kAllReduce}, CommunicatorKind::kTensor);
  if (plan.sequence_parallel) found.add(kHalves, CommunicatorKind::kTensor);
  return found;
}

Messages context_messages(const Job& /*job*/, const Plan& plan) {
  Messages found;
  switch (plan.context_kind) {
    case ContextKind::kRing:
      found.add({collective::CollectiveOperation::kPointToPoint}, CommunicatorKind::kContext);
      break;
    case ContextKind::kAllGather: found.add(kHalves, CommunicatorKind::kContext); break;
    case ContextKind::kUlysses:
      found.add({collective::CollectiveOperation::kAllToAll}, CommunicatorKind::kContext);
      break;
  }
  return found;
}

Messages expert_messages(const Job& job, const Plan& /*plan*/) {
  Messages found;
  if (job.dispatcher == TokenDispatcher::kAllGather) {
    found.add(kHalves, CommunicatorKind::kExpertModel);
    return found;
  }
  found.add(
      {collective::CollectiveOperation::kAllToAll, collective::CollectiveOperation::kAllGather},
      CommunicatorKind::kExpert);
  found.add(kHalves, CommunicatorKind::kExpertTensor);
  return found;
}

/// Sharding groups of one kind of parameters, dense or expert.
struct ShardGroups {
  CommunicatorKind inner{}, outer{}, world{};
};

/// Adds the messages of sharded states by the table in docs/algorithms.md: states of spread I are
/// exchanged inside the groups and between them, states of spread G over all ranks at once.
void add_state_messages(Messages& found, const Sharding& states, const ShardGroups& groups) {
  switch (states.optimizer) {
    case StateShardingScope::kNone:
      return found.add({collective::CollectiveOperation::kAllReduce}, groups.world);
    case StateShardingScope::kInner:
      found.add(kHalves, groups.inner);
      return found.add({collective::CollectiveOperation::kAllReduce}, groups.outer);
    case StateShardingScope::kGlobal: break;
  }
  const bool by_groups = states.parameters == StateShardingScope::kInner ||
                         states.gradients == StateShardingScope::kInner;
  const bool at_once = states.parameters != StateShardingScope::kInner ||
                       states.gradients != StateShardingScope::kInner;
  if (by_groups) found.add(kHalves, groups.inner);
  if (by_groups) found.add(kHalves, groups.outer);
  if (at_once) found.add(kHalves, groups.world);
}

Messages data_messages(const Job& job, const Plan& plan) {
  Messages found;
  add_state_messages(found, plan.sharding,
                     {CommunicatorKind::kShardInner, CommunicatorKind::kShardOuter,
                      CommunicatorKind::kDataContext});
  if (!job.model.experts) return found;
  add_state_messages(found, plan.sharding,
                     {CommunicatorKind::kExpertShardInner, CommunicatorKind::kExpertShardOuter,
                      CommunicatorKind::kExpertData});
  return found;
}

/// A scheme and its messages. The groups of messages inside blocks depend on degrees and rank order
/// but not on the sharding, which no earlier law has checked.
struct Scheme {
  collective::CollectiveAlgorithm CollectiveAlgorithmChoices::* choice;
  std::string_view name;
  Messages (*messages)(const Job& job, const Plan& plan);
  bool sharded = false;
};
constexpr Scheme kTensor{&CollectiveAlgorithmChoices::tensor, "tensor", tensor_messages};
constexpr Scheme kContext{&CollectiveAlgorithmChoices::context, "context", context_messages};
constexpr Scheme kExpert{&CollectiveAlgorithmChoices::expert, "expert", expert_messages};
constexpr Scheme kData{&CollectiveAlgorithmChoices::data, "data", data_messages, true};

RankGrid grid_of(const Scheme& scheme, const Plan& plan) {
  if (scheme.sharded) return RankGrid(plan);
  Plan whole;
  whole.parallel = plan.parallel;
  whole.rank_order = plan.rank_order;
  return RankGrid(whole);
}

/// True if the algorithm can carry out one of the scheme's messages, or the scheme has none.
bool carries(const Job& job, const Plan& plan, const Scheme& scheme) {
  const collective::CollectiveAlgorithm algorithm = plan.collectives.*scheme.choice;
  if (algorithm == collective::CollectiveAlgorithm::kLibrary) return true;
  const Messages messages = scheme.messages(job, plan);
  const RankGrid grid = grid_of(scheme, plan);
  bool any = false;
  for (const auto& [operation, group] : messages.all()) {
    if (grid.size(group) < 2) continue;
    any = true;
    const cluster::GroupLayout layout =
        rank_group_network_layout(job.cluster, grid.communicator_shape(group));
    const collective::GroupNodeLayout form = collective::group_node_layout(layout, job.cluster);
    if (collective::effective_collective_algorithm(algorithm, operation, form) == algorithm)
      return true;
  }
  return !any;
}

/// Describes where a group's ranks are: "tensor has 8 ranks on 1 node".
std::string lying(const Job& job, const RankGrid& grid, CommunicatorKind kind) {
  const cluster::GroupLayout layout =
      rank_group_network_layout(job.cluster, grid.communicator_shape(kind));
  const std::int64_t nodes = collective::group_node_layout(layout, job.cluster).nodes;
  return fmt::format("{} has {} ranks on {} {}", name_of(kGroupNames, kind), layout.size, nodes,
                     nodes == 1 ? "node" : "nodes");
}

std::string values_of(const Job& job, const Plan& plan, const Scheme& scheme) {
  const collective::CollectiveAlgorithm algorithm = plan.collectives.*scheme.choice;
  const std::string_view word = name_of(collective::kCollectiveAlgorithmNames, algorithm);
  const Messages messages = scheme.messages(job, plan);
  const RankGrid grid = grid_of(scheme, plan);
  std::vector<std::string> groups;
  for (const auto& [operation, group] : messages.all()) {
    if (grid.size(group) < 2 || !collective::supports_collective(algorithm, operation)) continue;
    std::string text = lying(job, grid, group);
    if (std::ranges::find(groups, text) == groups.end()) groups.push_back(std::move(text));
  }
  if (groups.empty()) {
    return fmt::format("{} carries out none of the collectives that {} parallelism has here", word,
                       scheme.name);
  }
  const bool lacks =
      algorithm == collective::CollectiveAlgorithm::kNvls &&
      !cluster::node_switches_reduce(cluster::in_network_reduction_support(job.cluster));
  return fmt::format("{} needs {}; {}{}", word,
                     collective::algorithm_group_requirement_text(algorithm),
                     fmt::join(groups, ", "),
                     lacks ? fmt::format(", and no switch of {} adds", job.cluster.name) : "");
}

void repair_to(NearestLegalPlanSearch& repairs, const Scheme& scheme) {
  Plan plan = repairs.plan();
  plan.collectives.*scheme.choice = collective::CollectiveAlgorithm::kLibrary;
  repairs.propose_plans({plan});
}

template <const Scheme& kScheme>
constexpr PlanRuleDefinition collective_law(PlanLegalityRule rule, std::string_view name,
                                            std::string_view sentence) {
  return {rule,
          name,
          sentence,
          [](const Job& job, const Plan& plan) { return !carries(job, plan, kScheme); },
          [](const Job& job, const Plan& plan) { return values_of(job, plan, kScheme); },
          [](NearestLegalPlanSearch& repairs) { repair_to(repairs, kScheme); }};
}

constexpr PlanRuleDefinition kBlockLaws[] = {
    collective_law<kTensor>(
        PlanLegalityRule::kTensorCollectives, "tensor-collectives",
        "the algorithm of tensor parallelism covers one of its messages and suits its group"),
    collective_law<kContext>(
        PlanLegalityRule::kContextCollectives, "context-collectives",
        "the algorithm of context parallelism covers one of its messages and suits its group"),
    collective_law<kExpert>(
        PlanLegalityRule::kExpertCollectives, "expert-collectives",
        "the algorithm of expert parallelism covers one of its messages and suits its group")};
constexpr PlanRuleDefinition kDataLaws[] = {collective_law<kData>(
    PlanLegalityRule::kDataCollectives, "data-collectives",
    "the algorithm of data parallelism covers one of its messages and suits its group")};

}  // namespace

std::span<const PlanRuleDefinition> model_block_collective_rules() { return kBlockLaws; }

std::span<const PlanRuleDefinition> data_collective_rules() { return kDataLaws; }

}  // namespace stepwright::plan
