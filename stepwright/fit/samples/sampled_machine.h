#pragma once

#include <span>
#include <string_view>

namespace stepwright::fit {

/// A machine on which collectives were sampled.
struct SampledMachine {
  std::string_view name;     ///< Name of the machine's profile.
  std::string_view cluster;  ///< The built-in cluster that describes it.
  std::string_view gpu;      ///< GPU as tables write it; empty when the table names no machine.
  std::string_view network;  ///< Begins what tables write of the network; empty: rows in one node.
  /// The machine that was sampled inside a node and has the same devices; empty: none.
  std::string_view inside;
  /// "Nodes" of the tables are trays of one fast domain.
  bool trays = false;
};

/// All of them, and every other built-in cluster under its own name.
std::span<const SampledMachine> sampled_machines();

/// The machine of that name; null when there is none.
const SampledMachine* find_machine(std::string_view name);

/// The machine that a table means by its columns; on a network that nobody here has seen one with
/// the same devices, else one with devices of the same family ("H100"); null when there is none.
const SampledMachine* machine_of(std::string_view gpu, std::string_view network, bool many_nodes);

}  // namespace stepwright::fit
