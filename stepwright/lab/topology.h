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
/// Returns the namespaces of a lab, the switch first.
std::vector<std::string> namespaces_of(const LabSpec& spec, const std::string& lab);

/// Returns the name of a NIC's interface in its node.
std::string nic_name(std::int64_t rail);
/// Returns the address of a NIC: 10.0.RAIL.(NODE + 1).
std::string nic_address(std::int64_t node, std::int64_t rail);

/// Returns the commands that make the namespaces and connect them by links without limited rates.
std::vector<CommandLine> network_commands(const LabSpec& spec, const std::string& lab);

/// Returns the commands that limit these links to their rates.
std::vector<CommandLine> shaping_commands(const LabSpec& spec, const std::string& lab);

/// Returns the command that limits one device of a network namespace to its rate.
CommandLine shape_command(const std::string& network, const std::string& device,
                          const ShapedLink& link);

/// Returns the environment of a rank: the variables that torchrun sets, the interface for Gloo, and
/// `STEPWRIGHT_LAB_NODE`, `STEPWRIGHT_LAB_ADDRESS` (of its NIC), `STEPWRIGHT_LAB_ADDRESSES` (of
/// every rank's NIC, separated by commas).
std::map<std::string, std::string> rank_environment(const LabSpec& spec, std::int64_t rank);

}  // namespace stepwright::lab
