#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "stepwright/core/named.h"

namespace stepwright::collective {

/// The operations of a communicator for which volumes are computed.
enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPointToPoint,  ///< Every rank sends to the next one: a pipeline transfer, a step of a ring.
  kBroadcast,  ///< A broadcast from the first rank of the group; used only in collective schedules.
  kReduce,     ///< A reduction to the first rank of the group; used only in collective schedules.
};

/// The algorithms of a collective, as named in plans, prices, traffic, schedules and process
/// groups. To add one: an enumerator, a file in `algorithms/` that defines it, and a row in
/// `kAlgorithmRows`.
enum class Algorithm : std::uint8_t {
  kLibrary,  ///< The algorithm that the collective library (NCCL) chooses for the message size.
  kNvls,     ///< Switches inside nodes do the additions (NVLink SHARP).
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

/// An algorithm, its word in files, and its definition (`definition.h`). Schedules are generated
/// for all but the first two.
struct AlgorithmRow {
  Algorithm algorithm;
  std::string_view name;
  const AlgorithmDefinition* definition;
};
inline constexpr AlgorithmRow kAlgorithmRows[] = {
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
/// The words of algorithms, in the order of the enumerators.
inline constexpr auto& kAlgorithmNames =
    AlgorithmNames<0, std::make_index_sequence<std::size(kAlgorithmRows)>>::kNames;
/// Names of the algorithms for which a schedule can be generated, in the order of the enumerators.
inline constexpr auto& kGeneratedNames =
    AlgorithmNames<2, std::make_index_sequence<std::size(kAlgorithmRows) - 2>>::kNames;

/// How the ranks of a group are distributed over the nodes of a cluster.
struct GroupNodeLayout {
  std::int64_t ranks = 1;
  std::int64_t members = 1;  ///< Largest number of the group's ranks in a node.
  std::int64_t nodes = 1;    ///< Number of nodes if each holds `members` ranks, rounded up.
  bool inside_adds = false;  ///< True if switches inside the nodes do additions.

  /// True if each node has equally many of the group's ranks.
  [[nodiscard]] bool even() const { return members * nodes == ranks; }
};

/// True if an algorithm can carry out an operation; the library can carry out all.
bool covers(Algorithm algorithm, Collective collective);

/// True if a group has the shape that an algorithm needs (`needs`).
bool suits(Algorithm algorithm, const GroupNodeLayout& form);

/// The group shape that an algorithm needs, to follow "needs ..."; empty if any group of several
/// ranks will do.
std::string_view needs(Algorithm algorithm);

/// Returns the algorithm that carries out an operation of a group if a plan asks for `algorithm`:
/// that one if it supports the operation and the group, else the library.
Algorithm settled(Algorithm algorithm, Collective collective, const GroupNodeLayout& form);

/// True if NCCL and similar libraries have the algorithm for an operation.
bool in_library(Algorithm algorithm, Collective collective);

/// True if this project's c10d process group runs the algorithm for an operation, on tensors in
/// host memory.
bool in_process_group(Algorithm algorithm, Collective collective);

/// True if schedules are generated for the algorithm.
bool is_generated(Algorithm algorithm);

/// Describes the steps and bytes of an algorithm in one line.
std::string_view described(Algorithm algorithm);

}  // namespace stepwright::collective
