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

/// The pairs of ranks between which an algorithm's bytes flow; price laws, link loads and the
/// traffic matrix follow from it.
enum class MessagePattern : std::uint8_t {
  kAsScheduled,   ///< The pairs of ranks that the generated schedule itself names, step by step.
  kRound,         ///< A ring of the group; in an all-to-all each rank sends to every other.
  kSwitches,      ///< From each rank to its node's switch and back, and along a tree between nodes.
  kLevelsInTurn,  ///< A ring in each node, then rings along the rails.
  kLevelsAtOnce,  ///< Rings in the nodes and along the rails at the same time.
};

/// How the nodes of a schedule are related to each other.
enum class InterNodeMode : std::uint8_t {
  kAlike,   ///< All nodes do the same, each with the next one.
  kHalves,  ///< All nodes do the same, in each step with a node that is farther away.
  kUnlike,
};

/// NCCL's names of an algorithm; empty if NCCL lacks it.
struct NcclNames {
  std::string_view one_node;  ///< Name in NCCL's tuner, inside one node.
  std::string_view several_nodes;
  std::string_view environment;  ///< Word in the variable NCCL_ALGO.
};

/// Everything about an algorithm; each file in `algorithms/` defines one. Proof, execution, prices,
/// links, laws of plans and exports follow from it.
struct AlgorithmDefinition {
  std::string_view text;  ///< Description of the algorithm, in one line.
  Operations covers;
  /// True if the algorithm differs from simpler ones on a group of this shape; nullptr: on any
  /// group of several ranks.
  bool (*lies)(const GroupNodeLayout&) = nullptr;
  /// True if a schedule exists for `members` ranks on each of `nodes` nodes; nullptr: for all.
  bool (*exists)(std::int64_t members, std::int64_t nodes) = nullptr;
  /// Conditions that `lies` and `exists` check, to follow "needs ...".
  std::string_view needs = {};
  /// Operations for which NCCL and similar libraries have the algorithm.
  Operations in_library = {};
  NcclNames nccl = {};
  /// True if the engine of `process_group/` runs the algorithm; it has two lanes, and each ring
  /// needs one.
  bool in_process_group = false;
  MessagePattern pattern = MessagePattern::kAsScheduled;
  InterNodeMode across = InterNodeMode::kAlike;
  /// True if one rank of each node sends only to other nodes, and not inside.
  bool one_leaves = false;
  /// Returns the mean bytes that a rank sends; nullptr: `sent_bytes` of the operation.
  double (*sent)(double payload_bytes, double members, double nodes) = nullptr;
  bool whole_buffer = false;  ///< True if chunks divide the whole buffer instead of blocks (trees).
  /// Returns the number of parts of a block, each of which is cut into chunks; nullptr: one.
  std::int32_t (*parts)(const ScheduleSpec&) = nullptr;
  /// Returns the number of scratch pieces of a rank; nullptr: none.
  std::int32_t (*scratch)(const ScheduleSpec&) = nullptr;
  /// Returns the schedule of one rank; nullptr: none is generated.
  RankSchedule (*rank)(const ScheduleSpec&, std::int32_t rank) = nullptr;
  /// Returns the seconds of the schedule in closed form, for at least two ranks.
  double (*seconds)(const ClosedFormTerms&) = nullptr;
};

inline const AlgorithmDefinition& definition_of(Algorithm algorithm) {
  return *kAlgorithmRows[static_cast<std::size_t>(algorithm)].definition;
}

/// True if hierarchical algorithms differ from flat ones on this group.
inline bool on_two_levels(const GroupNodeLayout& form) {
  return form.members > 1 && form.nodes > 1 && form.even();
}
inline constexpr std::string_view kTwoLevelNeeds =
    "several ranks on each of several nodes, as many on each";

constexpr bool is_power_of_two(std::int64_t number) {
  return std::has_single_bit(static_cast<std::uint64_t>(number));
}

}  // namespace stepwright::collective
