#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// A difference between two commands: an argument or an environment variable with its two values.
struct CommandDifference {
  /// Name of the argument or variable ("--micro-batch-size"); empty: the words before the first
  /// argument.
  std::string name;
  std::optional<std::string> before;  ///< Value in the first command; nullopt if absent.
  std::optional<std::string> after;
};

/// Returns the arguments and environment variables that differ between two commands, sorted by
/// name.
std::vector<CommandDifference> command_differences(const ShellCommand& before,
                                                   const ShellCommand& after);

/// Returns the differences between two commands as a text: "--micro-batch-size 2 instead of 1,
/// --bf16, no --fp16".
std::string command_differences_text(const std::vector<CommandDifference>& command_differences);

}  // namespace stepwright::framework_files
