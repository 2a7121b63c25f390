#pragma once

#include <span>
#include <string_view>

namespace stepwright::fit {

/// A machine on which collectives were sampled.
struct SampledMachine {
  std::string_view name;     ///< Name of the machine's profile.
  std::string_view cluster;  ///< The built-in cluster that describes it.
  std::string_view gpu;      ///< GPU as tables write it; empty when tables name no machine.
  /// Beginning of the network's name in tables; empty: rows are inside one node.
  std::string_view network;
  /// The machine with the same devices that was sampled inside a node; empty: none.
  std::string_view inside;
  /// True if "nodes" in the tables are trays of one fast domain.
  bool trays = false;
};

/// Returns all sampled machines, and every other built-in cluster under its own name.
std::span<const SampledMachine> sampled_machines();

/// Returns the machine of that name; null when there is none.
const SampledMachine* find_machine(std::string_view name);

/// Returns the machine that a table's columns mean. On a network that no listed machine has: one
/// with the same devices, else one with devices of the same family ("H100"); null when there is
/// none.
const SampledMachine* machine_of(std::string_view gpu, std::string_view network, bool many_nodes);

}  // namespace stepwright::fit
