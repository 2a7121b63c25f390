#pragma once

#include <optional>
#include <span>
#include <string>

#include "stepwright/lab/topology.h"

namespace stepwright::lab {

/// Runs a system program (`ip`, `tc`) and waits for its end, without a shell and without input.
/// Returns nullopt if it succeeded, else its output or the message that it cannot be found.
std::optional<std::string> run_program_for_error_text(const CommandLine& command);

/// Runs system programs one after the other. Fails with `kRuntime`, naming the failed command and
/// its output.
void run_system_programs(std::span<const CommandLine> commands);

}  // namespace stepwright::lab
