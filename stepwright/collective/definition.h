#pragma once

#include <bit>
#include <initializer_list>
#include <string_view>

#include "stepwright/collective/closed_terms.h"
#include "stepwright/collective/generate.h"

namespace stepwright::collective {

/// A set of operations.
class Operations {
 public:
  constexpr Operations(std::initializer_list<Collective> list) {
    for (const Collective one : list) bits_ |= 1U << static_cast<unsigned>(one);
  }
  [[nodiscard]] constexpr bool has(Collective one) const {
    return (bits_ >> static_cast<unsigned>(one) & 1U) != 0;
  }

 private:
  unsigned bits_ = 0;
};
/// Operations on a buffer with one block for each rank.
inline constexpr Operations kBlockOperations = {Collective::kAllGather, Collective::kReduceScatter,
                                                Collective::kAllReduce};
inline constexpr Operations kAllOperations = {Collective::kAllReduce,     Collective::kAllGather,
                                              Collective::kReduceScatter, Collective::kAllToAll,
                                              Collective::kBroadcast,     Collective::kReduce,
                                              Collective::kPointToPoint};

/// Between whom the bytes of a message flow; laws of prices, loads of links and the matrix of pairs
/// follow from it.
enum class MessagePattern : std::uint8_t {
  kAsScheduled,   ///< The pattern of the schedule itself, step by step.
  kRound,         ///< Ring of the group; an all-to-all sends to each of it.
  kSwitches,      ///< Up to the switch of a node and back, along a tree between nodes.
  kLevelsInTurn,  ///< Ring of each node, then rings along the rails.
  kLevelsAtOnce,  ///< Rings of nodes and along the rails at once.
};

/// How the nodes of a schedule work beside each other.
enum class Across : std::uint8_t {
  kAlike,   ///< All do the same, each with the next one.
  kHalves,  ///< All do the same, in each step with a node that is farther.
  kUnlike,
};

/// How NCCL calls an algorithm; empty where it has none.
struct NcclNames {
  std::string_view one_node;  ///< Name in NCCL's tuner, inside one node.
  std::string_view several_nodes;
  std::string_view environment;  ///< Word in the variable NCCL_ALGO.
};

/// All that an algorithm is: what its file in `algorithms/` defines. Proof, execution, prices,
/// links, laws of plans and exports follow from it.
struct AlgorithmDefinition {
  std::string_view text;  ///< Description of the algorithm, in one line.
  Operations covers;
  /// Whether a group lies so that it is an algorithm of its own there; null: any of several ranks.
  bool (*lies)(const GroupForm&) = nullptr;
  /// Whether a schedule exists for `members` ranks on each of `nodes` nodes; null: for all.
  bool (*exists)(std::int64_t members, std::int64_t nodes) = nullptr;
  std::string_view needs = {};  ///< Needs that `lies` and `exists` check, as in "needs ...".
  Operations in_library = {};   ///< Operations for which NCCL and its like have it.
  NcclNames nccl = {};
  /// Whether the engine of `process_group/` runs it, which has two lanes: rings need one each.
  bool in_process_group = false;
  MessagePattern pattern = MessagePattern::kAsScheduled;
  Across across = Across::kAlike;
  bool one_leaves = false;  ///< One rank of each node sends out of it, and not inside.
  /// Mean bytes that a rank sends; null: `sent_bytes` of the operation.
  double (*sent)(double payload_bytes, double members, double nodes) = nullptr;
  bool whole_buffer = false;  ///< Chunks are of the buffer, not of blocks: trees.
  /// Pieces of a block beside its chunks; null: one.
  std::int32_t (*parts)(const ScheduleSpec&) = nullptr;
  /// Pieces of scratch of a rank; null: none.
  std::int32_t (*scratch)(const ScheduleSpec&) = nullptr;
  /// Schedule of one rank; null: none is generated.
  RankSchedule (*rank)(const ScheduleSpec&, std::int32_t rank) = nullptr;
  /// Seconds of the schedule of at least two ranks in closed form.
  double (*seconds)(const ClosedTerms&) = nullptr;
};

inline const AlgorithmDefinition& definition_of(Algorithm algorithm) {
  return *kAlgorithmRows[static_cast<std::size_t>(algorithm)].definition;
}

/// True if hierarchical algorithms differ from flat ones on this group.
inline bool on_two_levels(const GroupForm& form) {
  return form.members > 1 && form.nodes > 1 && form.even();
}
inline constexpr std::string_view kTwoLevelNeeds =
    "several ranks on each of several nodes, as many on each";

constexpr bool is_power_of_two(std::int64_t number) {
  return std::has_single_bit(static_cast<std::uint64_t>(number));
}

}  // namespace stepwright::collective
