#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "stepwright/core/named.h"

namespace stepwright::collective {

/// The operations of a communicator whose volumes are known here.
enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPointToPoint,  ///< Every member sends to the next one: a pipeline transfer, a step of a ring.
  kBroadcast,     ///< A broadcast from the first rank; only in schedules.
  kReduce,        ///< A reduction to the first rank; only in schedules.
};

/// The ways in which a collective is carried out, wherever one is named: in plans, prices, traffic,
/// schedules and process groups. To add one: an enumerator, a file in `algorithms/` that defines
/// it, and a row in `kAlgorithmRows`.
enum class Algorithm : std::uint8_t {
  kLibrary,  ///< The algorithm that the machine's library chooses at that size.
  kNvls,     ///< Switches inside nodes add (NVLink SHARP).
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

/// An algorithm, its word, and what defines it (`definition.h`). Schedules are generated for all
/// but the first two.
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
/// The words alone, in the order of the enumerators.
inline constexpr auto& kAlgorithmNames =
    AlgorithmNames<0, std::make_index_sequence<std::size(kAlgorithmRows)>>::kNames;
/// Names of the algorithms for which a schedule can be generated, in the same order.
inline constexpr auto& kGeneratedNames =
    AlgorithmNames<2, std::make_index_sequence<std::size(kAlgorithmRows) - 2>>::kNames;

/// How a group lies over the nodes of a cluster, as far as algorithms ask.
struct GroupForm {
  std::int64_t ranks = 1;
  std::int64_t members = 1;  ///< Most members of a node.
  std::int64_t nodes = 1;    ///< Least number of nodes, where they have as many members.
  bool inside_adds = false;  ///< Switches inside the nodes add.

  /// Whether each node has as many ranks as any other.
  [[nodiscard]] bool even() const { return members * nodes == ranks; }
};

/// Whether an algorithm carries out an operation at all; the library carries out all.
bool covers(Algorithm algorithm, Collective collective);

/// Whether a group lies as an algorithm needs it (`needs`).
bool suits(Algorithm algorithm, const GroupForm& form);

/// The shape that a group must have, as in "needs ..."; empty where any group of several ranks will
/// do.
std::string_view needs(Algorithm algorithm);

/// The algorithm that carries out an operation of a group whose plan names one: that one where it
/// covers the operation and suits the group, else the library.
Algorithm settled(Algorithm algorithm, Collective collective, const GroupForm& form);

/// Whether NCCL and its like have the algorithm for an operation.
bool in_library(Algorithm algorithm, Collective collective);

/// Whether c10d's process group here runs it for an operation, on tensors in host memory.
bool in_process_group(Algorithm algorithm, Collective collective);

/// Whether schedules are generated for it.
bool is_generated(Algorithm algorithm);

/// The steps and bytes of an algorithm in one line.
std::string_view described(Algorithm algorithm);

}  // namespace stepwright::collective
