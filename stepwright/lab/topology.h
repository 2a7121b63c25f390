#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stepwright/lab/spec.h"

namespace stepwright::lab {

// How a lab named `L` is built. Nothing here touches the machine.
//
//     namespace L-node0                   namespace L-switch
//       lo    tbf: the bus of the node      rail0   a bridge
//       nic0  tbf: what the NIC sends  ===  n0r0    tbf: what the NIC receives
//       nic1  with a NIC per rank      ===  n0r1    on rail1: rails do not meet

/// A program and its arguments.
using CommandLine = std::vector<std::string>;

std::string switch_namespace(const std::string& lab);
std::string node_namespace(const std::string& lab, std::int64_t node);
/// Returns the names of the network namespaces that emulate a cluster: the switch, then the nodes.
std::vector<std::string> cluster_namespace_names(const EmulatedClusterSpec& spec,
                                                 const std::string& lab);

/// Returns the name of the network interface of NIC number `rail` in its node.
std::string nic_interface_name(std::int64_t rail);
/// Returns the IP address of a NIC of an emulated node: 10.0.RAIL.(NODE + 1).
std::string nic_address(std::int64_t node, std::int64_t rail);

/// Returns the commands (`ip ...`) that make the network namespaces of an emulated cluster and
/// connect them by links without rate limits.
std::vector<CommandLine> namespace_network_commands(const EmulatedClusterSpec& spec,
                                                    const std::string& lab);

/// Returns the commands (`tc ...`) that limit the links of an emulated cluster to their rates.
std::vector<CommandLine> traffic_control_commands(const EmulatedClusterSpec& spec,
                                                  const std::string& lab);

/// Returns the command (`tc ...`) that limits the rate of one network interface in a namespace.
CommandLine traffic_control_command(const std::string& network, const std::string& device,
                                    const RateLimitedLink& link);

/// Returns the environment variables of a rank in an emulated cluster: those that torchrun sets,
/// Gloo's interface, and `STEPWRIGHT_LAB_NODE`, `STEPWRIGHT_LAB_ADDRESS` (the rank's NIC) and
/// `STEPWRIGHT_LAB_ADDRESSES` (all ranks' NICs, separated by commas).
std::map<std::string, std::string> rank_environment_variables(const EmulatedClusterSpec& spec,
                                                              std::int64_t rank);

}  // namespace stepwright::lab
