#pragma once

#include <span>
#include <string_view>

namespace stepwright::fit {

/// A machine on which collectives were timed, and how tables name it.
struct SampledMachine {
  std::string_view name;     ///< Name of the machine, and of its profile.
  std::string_view cluster;  ///< Name of the built-in cluster that describes the machine.
  std::string_view gpu;      ///< Name of the GPU in tables; empty if tables name no machine.
  /// Text with which the network's name in tables begins; empty: rows are measured inside one node.
  std::string_view network;
  /// Name of the machine with the same devices that was timed inside a node; empty: none.
  std::string_view inside;
  /// True if "nodes" in the tables are trays of one NVLink domain (NVL72), not separate nodes.
  bool trays = false;
};

/// Returns the machines that tables of timed collectives can name: those with published samples,
/// and each other built-in cluster, so that samples of a user's own cluster can name it.
std::span<const SampledMachine> sampled_machines();

/// Returns the machine with this name; null if there is none.
const SampledMachine* find_sampled_machine(std::string_view name);

/// Returns the machine that the columns of a table name. If no listed machine has the network: a
/// machine with the same devices, else one with devices of the same family ("H100"); null if there
/// is none.
const SampledMachine* sampled_machine_of_columns(std::string_view gpu, std::string_view network,
                                                 bool many_nodes);

}  // namespace stepwright::fit
