#pragma once

#include <optional>
#include <span>
#include <string>

#include "stepwright/lab/topology.h"

namespace stepwright::lab {

/// Runs a program of the machine (`ip`, `tc`) to its end, without a shell and without input.
/// Returns nullopt if it succeeded, otherwise its output, or that it cannot be found.
std::optional<std::string> run_for_error(const CommandLine& command);

/// Runs programs one after the other. Fails with `kRuntime`, naming the command and its output.
void run_programs(std::span<const CommandLine> commands);

}  // namespace stepwright::lab
