#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "stepwright/core/named.h"

namespace stepwright::collective {

/// Collective operations, and transfers between neighbours, that a group of ranks carries out.
enum class CollectiveOperation : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPointToPoint,  ///< Every rank sends to the next one: a pipeline transfer, or one step of a ring.
  /// The first rank of the group sends its buffer to all others. Used only in collective schedules.
  kBroadcast,
  /// The sum of all buffers goes to the first rank of the group. Used only in collective schedules.
  kReduce,
};

/// Algorithms by which a collective is carried out, as plans name them. To add one, add an
/// enumerator, a file in `algorithms/` that defines it, and a row in `kAlgorithmRows`.
enum class CollectiveAlgorithm : std::uint8_t {
  kLibrary,  ///< Whatever algorithm the collective library (NCCL) chooses for the message size.
  kNvls,     ///< Switches inside nodes do the additions (NCCL's NVLS, NVLink SHARP).
  kRing,
  kRings,
  kHalvingDoubling,
  kTree,
  kDirect,
  kTwoLevel,
  kRailHalving,
  kHoRing,
  kRelay,
};

struct CollectiveAlgorithmDefinition;
namespace algorithms {
extern const CollectiveAlgorithmDefinition kLibrary, kNvls, kRing, kRings, kHalvingDoubling, kTree,
    kDirect, kTwoLevel, kRailHalving, kHoRing, kRelay;
}  // namespace algorithms

/// A collective algorithm, its name in files, and its definition. This project generates schedules
/// for all algorithms but the first two (library, nvls).
struct CollectiveAlgorithmRow {
  CollectiveAlgorithm algorithm;
  std::string_view name;
  const CollectiveAlgorithmDefinition* definition;
};
inline constexpr CollectiveAlgorithmRow kAlgorithmRows[] = {
    {CollectiveAlgorithm::kLibrary, "library", &algorithms::kLibrary},
    {CollectiveAlgorithm::kNvls, "nvls", &algorithms::kNvls},
    {CollectiveAlgorithm::kRing, "ring", &algorithms::kRing},
    {CollectiveAlgorithm::kRings, "rings", &algorithms::kRings},
    {CollectiveAlgorithm::kHalvingDoubling, "halving-doubling", &algorithms::kHalvingDoubling},
    {CollectiveAlgorithm::kTree, "tree", &algorithms::kTree},
    {CollectiveAlgorithm::kDirect, "direct", &algorithms::kDirect},
    {CollectiveAlgorithm::kTwoLevel, "two-level", &algorithms::kTwoLevel},
    {CollectiveAlgorithm::kRailHalving, "rail-halving", &algorithms::kRailHalving},
    {CollectiveAlgorithm::kHoRing, "ho-ring", &algorithms::kHoRing},
    {CollectiveAlgorithm::kRelay, "relay", &algorithms::kRelay}};

template <std::size_t kFirst, class Rows>
struct AlgorithmNames;
template <std::size_t kFirst, std::size_t... kRow>
struct AlgorithmNames<kFirst, std::index_sequence<kRow...>> {
  static constexpr Named<CollectiveAlgorithm> kNames[] = {
      {kAlgorithmRows[kFirst + kRow].algorithm, kAlgorithmRows[kFirst + kRow].name}...};
};
/// Names of the collective algorithms in files, in the order of the enumerators.
inline constexpr auto& kCollectiveAlgorithmNames =
    AlgorithmNames<0, std::make_index_sequence<std::size(kAlgorithmRows)>>::kNames;
/// Names of the collective algorithms for which this project generates schedules, in the order of
/// the enumerators.
inline constexpr auto& kGeneratedCollectiveAlgorithmNames =
    AlgorithmNames<2, std::make_index_sequence<std::size(kAlgorithmRows) - 2>>::kNames;

/// How many ranks of a group are on each node, and on how many nodes.
struct GroupNodeLayout {
  std::int64_t ranks = 1;
  std::int64_t members = 1;  ///< Largest number of the group's ranks on one node.
  /// Number of nodes that the group needs if each holds `members` of its ranks, rounded up.
  std::int64_t nodes = 1;
  bool inside_adds = false;  ///< True if switches inside the nodes can add (NVLink SHARP).

  /// True if each node has the same number of the group's ranks.
  [[nodiscard]] bool has_equal_ranks_per_node() const { return members * nodes == ranks; }
};

/// True if an algorithm can carry out a collective operation; the library can carry out all.
bool supports_collective(CollectiveAlgorithm algorithm, CollectiveOperation collective);

/// True if an algorithm can run on a group with this number of ranks and nodes.
bool algorithm_suits_group(CollectiveAlgorithm algorithm, const GroupNodeLayout& form);

/// Returns what number of ranks and nodes an algorithm needs, as text to follow "needs ..."; empty:
/// any group of several ranks will do.
std::string_view algorithm_group_requirement_text(CollectiveAlgorithm algorithm);

/// Returns the algorithm that really carries out an operation if a plan asks for `algorithm`: this
/// one if it can carry out the operation on this group, else the library's.
CollectiveAlgorithm effective_collective_algorithm(CollectiveAlgorithm algorithm,
                                                   CollectiveOperation collective,
                                                   const GroupNodeLayout& form);

/// True if NCCL and similar libraries can carry out an operation by this algorithm.
bool library_supports_algorithm(CollectiveAlgorithm algorithm, CollectiveOperation collective);

/// True if this project's own process group (a c10d backend) can carry out an operation by this
/// algorithm, on tensors in host memory.
bool own_process_group_supports_algorithm(CollectiveAlgorithm algorithm,
                                          CollectiveOperation collective);

/// True if this project generates schedules for an algorithm; false for the library's own ones.
bool algorithm_has_generated_schedule(CollectiveAlgorithm algorithm);

/// Returns a line that describes the steps of an algorithm and the bytes that it sends.
std::string_view collective_algorithm_description(CollectiveAlgorithm algorithm);

}  // namespace stepwright::collective
