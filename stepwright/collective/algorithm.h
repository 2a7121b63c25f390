#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "stepwright/core/named.h"

namespace stepwright {

/// The operations of a communicator whose volumes are known here.
enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPointToPoint,  ///< Every member sends to the next one: a pipeline transfer, a step of a ring.
  kBroadcast,     ///< As schedules only, from the first rank.
  kReduce,        ///< As schedules only, to the first rank.
};

/// The ways in which a collective is carried out, wherever one is named: in plans, prices, traffic,
/// schedules and process groups. All but the first two are generated as schedules; each of those is
/// documented in the file of its name.
enum class Algorithm : std::uint8_t {
  kLibrary,  ///< What the machine's library would choose at that size among what it has.
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
inline constexpr Named<Algorithm> kAlgorithmNames[] = {
    {Algorithm::kLibrary, "library"},
    {Algorithm::kNvls, "nvls"},
    {Algorithm::kRing, "ring"},
    {Algorithm::kRings, "rings"},
    {Algorithm::kHalvingDoubling, "halving-doubling"},
    {Algorithm::kTree, "tree"},
    {Algorithm::kDirect, "direct"},
    {Algorithm::kTwoLevel, "two-level"},
    {Algorithm::kRailHalving, "rail-halving"},
    {Algorithm::kHoRing, "ho-ring"},
    {Algorithm::kRelay, "relay"}};

namespace algorithm_table {
inline constexpr std::size_t kNotGenerated = 2;
struct Generated {
  Named<Algorithm> names[std::size(kAlgorithmNames) - kNotGenerated]{};
  constexpr Generated() {
    for (std::size_t i = 0; i < std::size(names); ++i)
      names[i] = kAlgorithmNames[i + kNotGenerated];
  }
};
inline constexpr Generated kGenerated;
}  // namespace algorithm_table

/// Those of `kAlgorithmNames` that a schedule can be generated for, in the same order.
inline constexpr auto& kGeneratedNames = algorithm_table::kGenerated.names;

/// How a group lies over the nodes of a cluster, as far as algorithms ask.
struct GroupForm {
  std::int64_t ranks = 1;
  std::int64_t members = 1;  ///< Of a node, at most.
  std::int64_t nodes = 1;    ///< At least, where they have as many.
  bool inside_adds = false;  ///< Switches inside the nodes add.

  /// As many ranks on each node.
  [[nodiscard]] bool even() const { return members * nodes == ranks; }
};

/// Whether an algorithm carries out an operation at all; the library carries out all.
bool covers(Algorithm algorithm, Collective collective);

/// Whether a group lies as an algorithm needs it (`needs`).
bool suits(Algorithm algorithm, const GroupForm& form);

/// What a group has to be like, as in "needs ..."; empty where any group of several ranks will do.
std::string_view needs(Algorithm algorithm);

/// What carries out an operation of a group whose plan names an algorithm: that one where it covers
/// the operation and suits the group, else the library.
Algorithm settled(Algorithm algorithm, Collective collective, const GroupForm& form);

/// Whether NCCL and its like have the algorithm for an operation: rings; trees and adding switches
/// of all-reduces; all-to-alls and transfers directly.
bool in_library(Algorithm algorithm, Collective collective);

/// Whether c10d's process group here runs it for an operation, on tensors in host memory.
bool in_process_group(Algorithm algorithm, Collective collective);

/// What an algorithm does, with its steps and bytes, in one line.
std::string_view described(Algorithm algorithm);

}  // namespace stepwright
