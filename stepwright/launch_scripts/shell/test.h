#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace stepwright::launch_scripts {

/// Exit status of a command, success or failure, and whether it is known without running the
/// command.
struct ShellExitStatus {
  bool ok = true;
  /// False if the command's outcome depends on something that the script does not determine.
  bool known = true;
  /// Unknown parts that decide the command's outcome: "$FSDP", "-f $FILE".
  std::vector<std::string> open{};
};

/// A word of a shell test `[ ... ]` or `[[ ... ]]`.
struct ShellTestWord {
  std::string text;
  std::string pattern;  ///< The word as a shell pattern, used on the right of `==`.
  /// True for an unquoted word, which can be an operator such as `(`, `&&`, `-f` or `==`.
  bool sign = false;
};

ShellExitStatus both(ShellExitStatus a, ShellExitStatus b);
ShellExitStatus either(ShellExitStatus a, ShellExitStatus b);
ShellExitStatus opposite(ShellExitStatus status);

/// Returns the outcome of a shell test `[ words ]` or `[[ words ]]`. An unknown word counts as
/// empty, a file as missing; the outcome of a test that depends on them is marked as not known.
/// `is_set` answers the test `-v NAME`.
ShellExitStatus shell_test_outcome(std::span<const ShellTestWord> words,
                                   const std::function<bool(const std::string&)>& is_set);

}  // namespace stepwright::launch_scripts
