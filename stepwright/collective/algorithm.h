#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "stepwright/core/named.h"

namespace stepwright::collective {

/// Collective operations, and transfers between neighbours, that a group of ranks carries out.
enum class Collective : std::uint8_t {
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
enum class Algorithm : std::uint8_t {
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

struct AlgorithmDefinition;
namespace algorithms {
extern const AlgorithmDefinition kLibrary, kNvls, kRing, kRings, kHalvingDoubling, kTree, kDirect,
    kTwoLevel, kRailHalving, kHoRing, kRelay;
}  // namespace algorithms

/// A collective algorithm, its name in files, and its definition. This project generates schedules
/// for all algorithms but the first two (library, nvls).
struct CollectiveAlgorithmRow {
  Algorithm algorithm;
  std::string_view name;
  const AlgorithmDefinition* definition;
};
inline constexpr CollectiveAlgorithmRow kAlgorithmRows[] = {
    {Algorithm::kLibrary, "library", &algorithms::kLibrary},
    {Algorithm::kNvls, "nvls", &algorithms::kNvls},
    {Algorithm::kRing, "ring", &algorithms::kRing},
    {Algorithm::kRings, "rings", &algorithms::kRings},
    {Algorithm::kHalvingDoubling, "halving-doubling", &algorithms::kHalvingDoubling},
    {Algorithm::kTree, "tree", &algorithms::kTree},
    {Algorithm::kDirect, "direct", &algorithms::kDirect},
    {Algorithm::kTwoLevel, "two-level", &algorithms::kTwoLevel},
    {Algorithm::kRailHalving, "rail-halving", &algorithms::kRailHalving},
    {Algorithm::kHoRing, "ho-ring", &algorithms::kHoRing},
    {Algorithm::kRelay, "relay", &algorithms::kRelay}};

template <std::size_t kFirst, class Rows>
struct AlgorithmNames;
template <std::size_t kFirst, std::size_t... kRow>
struct AlgorithmNames<kFirst, std::index_sequence<kRow...>> {
  static constexpr Named<Algorithm> kNames[] = {
      {kAlgorithmRows[kFirst + kRow].algorithm, kAlgorithmRows[kFirst + kRow].name}...};
};
/// Names of the collective algorithms in files, in the order of the enumerators.
inline constexpr auto& kCollectiveAlgorithmNames =
    AlgorithmNames<0, std::make_index_sequence<std::size(kAlgorithmRows)>>::kNames;
/// Names of the collective algorithms for which this project generates schedules, in the order of
/// the enumerators.
inline constexpr auto& kGeneratedAlgorithmNames =
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
bool covers(Algorithm algorithm, Collective collective);

/// True if an algorithm can run on a group with this number of ranks and nodes.
bool is_suited_to_group(Algorithm algorithm, const GroupNodeLayout& form);

/// Returns what number of ranks and nodes an algorithm needs, as text to follow "needs ..."; empty:
/// any group of several ranks will do.
std::string_view group_requirement_text(Algorithm algorithm);

/// Returns the algorithm that really carries out an operation if a plan asks for `algorithm`: this
/// one if it can carry out the operation on this group, else the library's.
Algorithm algorithm_in_effect(Algorithm algorithm, Collective collective,
                              const GroupNodeLayout& form);

/// True if NCCL and similar libraries can carry out an operation by this algorithm.
bool in_library(Algorithm algorithm, Collective collective);

/// True if this project's own process group (a c10d backend) can carry out an operation by this
/// algorithm, on tensors in host memory.
bool is_run_by_own_process_group(Algorithm algorithm, Collective collective);

/// True if this project generates schedules for an algorithm; false for the library's own ones.
bool has_generated_schedule(Algorithm algorithm);

/// Returns a line that describes the steps of an algorithm and the bytes that it sends.
std::string_view described(Algorithm algorithm);

}  // namespace stepwright::collective
