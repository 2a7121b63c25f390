#pragma once

#include <span>
#include <vector>

#include "stepwright/core/lack.h"
#include "stepwright/lab/topology.h"

namespace stepwright::lab {

/// Returns what this machine lacks to emulate a cluster (rights, programs, features of the kernel);
/// empty: it can.
std::vector<MissingRequirement> missing_for_emulation();

/// Runs commands that build an emulated cluster. If one fails: fails with `kUnsupported`, listing
/// what the machine lacks, or with `kRuntime` if it lacks nothing.
void run_emulation_commands(std::span<const CommandLine> commands);

}  // namespace stepwright::lab
