#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// An argument of a command, or a variable that it sees, which another command has otherwise.
struct CommandChange {
  std::string name;                   ///< "--micro-batch-size"; empty: words in front of all.
  std::optional<std::string> before;  ///< The old value; nullopt if absent.
  std::optional<std::string> after;
};

/// How the second of two commands differs, in the order of names.
std::vector<CommandChange> changes(const ShellCommand& before, const ShellCommand& after);

/// "--micro-batch-size 2 instead of 1, --bf16, no --fp16".
std::string changes_text(const std::vector<CommandChange>& changes);

}  // namespace stepwright::framework_files
