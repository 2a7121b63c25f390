#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// An argument, or an environment variable, that differs between two commands.
struct CommandChange {
  /// Name such as "--micro-batch-size"; empty: the words before the first argument.
  std::string name;
  std::optional<std::string> before;  ///< Value in the first command; nullopt if absent.
  std::optional<std::string> after;
};

/// Returns how the second of two commands differs from the first, sorted by name.
std::vector<CommandChange> changes(const ShellCommand& before, const ShellCommand& after);

/// Returns changes as a text: "--micro-batch-size 2 instead of 1, --bf16, no --fp16".
std::string changes_text(const std::vector<CommandChange>& changes);

}  // namespace stepwright::framework_files
