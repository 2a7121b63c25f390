#pragma once

#include <span>
#include <vector>

#include "stepwright/core/lack.h"
#include "stepwright/lab/topology.h"

namespace stepwright::lab {

/// Returns what this machine lacks for a lab (rights, programs, features of the kernel); empty:
/// nothing.
std::vector<MissingRequirement> missing_for_lab();

/// Runs the commands of a lab. Fails with `kUnsupported`, naming everything that the machine lacks,
/// or with `kRuntime` when it lacks nothing.
void run_for_lab(std::span<const CommandLine> commands);

}  // namespace stepwright::lab
