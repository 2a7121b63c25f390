#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace stepwright::launch_scripts {

/// True if a command succeeds, and whether that is known.
struct ShellStatus {
  bool ok = true;
  /// False if the outcome depends on something that the script does not determine.
  bool known = true;
  std::vector<std::string> open{};  ///< Unknown parts that decide the outcome: "$FSDP", "-f $FILE".
};

/// A word of a test between brackets.
struct TestWord {
  std::string text;
  std::string pattern;  ///< The word as a shell pattern, used on the right of `==`.
  /// True for an unquoted word, which can be an operator such as `(`, `&&`, `-f` or `==`.
  bool sign = false;
};

ShellStatus both(ShellStatus a, ShellStatus b);
ShellStatus either(ShellStatus a, ShellStatus b);
ShellStatus opposite(ShellStatus status);

/// Returns the outcome of `[ words ]` or `[[ words ]]`. An unknown word counts as empty, a file as
/// missing; the outcome of a test that depends on them is not known. `is_set` answers `-v NAME`.
ShellStatus test_status(std::span<const TestWord> words,
                        const std::function<bool(const std::string&)>& is_set);

}  // namespace stepwright::launch_scripts
