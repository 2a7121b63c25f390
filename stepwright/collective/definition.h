#pragma once

#include <bit>
#include <initializer_list>
#include <string_view>

#include "stepwright/collective/closed_terms.h"
#include "stepwright/collective/generate.h"

namespace stepwright::collective {

/// A set of collective operations.
class CollectiveOperationSet {
 public:
  constexpr CollectiveOperationSet(std::initializer_list<CollectiveOperation> list) {
    for (const CollectiveOperation one : list) bits_ |= 1U << static_cast<unsigned>(one);
  }
  [[nodiscard]] constexpr bool has(CollectiveOperation one) const {
    return (bits_ >> static_cast<unsigned>(one) & 1U) != 0;
  }

 private:
  unsigned bits_ = 0;
};
/// The collective operations whose buffer has one block for each rank.
inline constexpr CollectiveOperationSet kCollectivesWithBlockPerRank = {
    CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter,
    CollectiveOperation::kAllReduce};
inline constexpr CollectiveOperationSet kAllOperations = {
    CollectiveOperation::kAllReduce,     CollectiveOperation::kAllGather,
    CollectiveOperation::kReduceScatter, CollectiveOperation::kAllToAll,
    CollectiveOperation::kBroadcast,     CollectiveOperation::kReduce,
    CollectiveOperation::kPointToPoint};

/// Between which ranks an algorithm's bytes flow. Prices, link loads and the traffic matrix are
/// computed from it.
enum class MessagePattern : std::uint8_t {
  kAsScheduled,  ///< Between the pairs of ranks that the generated schedule names, step by step.
  kRound,        ///< Around one ring of all ranks; in an all-to-all, from each rank to every other.
  kSwitches,     ///< Between each rank and its node's switch, and along a tree between nodes.
  /// Around a ring in each node, then around rings of the ranks with equal index on their nodes.
  kLevelsInTurn,
  /// Around rings in the nodes and around rings of the ranks with equal index on their nodes, at
  /// the same time.
  kLevelsAtOnce,
};

/// Whether all nodes do the same in a schedule, so that simulating one node suffices.
enum class NodeScheduleSymmetry : std::uint8_t {
  kAlike,   ///< All nodes do the same: each exchanges messages with the next node.
  kHalves,  ///< All nodes do the same: in each step the partner of a node is twice as far away.
  kUnlike,
};

/// Names that NCCL gives to an algorithm; empty if NCCL lacks it.
struct NcclAlgorithmNames {
  std::string_view one_node;  ///< Name in NCCL's tuner for groups within one node.
  std::string_view several_nodes;
  std::string_view environment;  ///< Word for the algorithm in the variable NCCL_ALGO.
};

/// Everything that distinguishes a collective algorithm. Each file in `algorithms/` defines one;
/// proofs, execution, prices, link loads, plan rules and exports use the definition.
struct CollectiveAlgorithmDefinition {
  std::string_view text;  ///< One line that describes the algorithm.
  CollectiveOperationSet covers;
  /// Function that is true if, on a group with these ranks and nodes, the algorithm does something
  /// else than simpler ones; nullptr: it does on any group of several ranks.
  bool (*lies)(const GroupNodeLayout&) = nullptr;
  /// Function that is true if a schedule exists for `members` ranks on each of `nodes` nodes;
  /// nullptr: it always exists.
  bool (*exists)(std::int64_t members, std::int64_t nodes) = nullptr;
  /// Text about the group that the algorithm needs (`lies`, `exists`), to follow "needs ...".
  std::string_view group_requirement_text = {};
  /// Collective operations that NCCL and similar libraries can carry out by this algorithm.
  CollectiveOperationSet in_library = {};
  NcclAlgorithmNames nccl = {};
  /// True if this project's own process group can run the algorithm. The process group has two
  /// lanes (connections between ranks), and each ring needs one.
  bool is_run_by_own_process_group = false;
  MessagePattern pattern = MessagePattern::kAsScheduled;
  NodeScheduleSymmetry across = NodeScheduleSymmetry::kAlike;
  /// True if, where a ring leaves a node, the rank that leaves it sends nothing inside the node.
  bool one_leaves = false;
  /// Function that returns the mean bytes that a rank sends; nullptr: the minimum for the operation
  /// (`bytes_sent_by_each_rank`).
  double (*sent)(double payload_bytes, double members, double nodes) = nullptr;
  /// True if the algorithm cuts the whole buffer into chunks (trees); false: it cuts each rank's
  /// block.
  bool whole_buffer = false;
  /// Function that returns into how many parts the algorithm divides a rank's block before each
  /// part is cut into chunks; nullptr: 1.
  std::int32_t (*parts)(const CollectiveScheduleSpec&) = nullptr;
  /// Function that returns the pieces of scratch memory that a rank needs; nullptr: none.
  std::int32_t (*scratch)(const CollectiveScheduleSpec&) = nullptr;
  /// Function that generates the steps of one rank in a collective's schedule; nullptr: the
  /// algorithm has no schedules.
  RankCollectiveSchedule (*rank)(const CollectiveScheduleSpec&, std::int32_t rank) = nullptr;
  /// Function that returns the seconds of the algorithm's schedule by a formula, for at least two
  /// ranks.
  double (*seconds)(const CollectiveClosedFormTerms&) = nullptr;
};

inline const CollectiveAlgorithmDefinition& definition_of(CollectiveAlgorithm algorithm) {
  return *kAlgorithmRows[static_cast<std::size_t>(algorithm)].definition;
}

/// True if a group has several ranks on each of several nodes, equally many on each, so that
/// hierarchical algorithms differ from flat ones.
inline bool is_two_level_group(const GroupNodeLayout& form) {
  return form.members > 1 && form.nodes > 1 && form.has_equal_ranks_per_node();
}
inline constexpr std::string_view kTwoLevelNeeds =
    "several ranks on each of several nodes, as many on each";

constexpr bool is_power_of_two(std::int64_t number) {
  return std::has_single_bit(static_cast<std::uint64_t>(number));
}

}  // namespace stepwright::collective
