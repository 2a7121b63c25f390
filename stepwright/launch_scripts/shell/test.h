#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace stepwright::launch_scripts {

/// Whether a command succeeds.
struct ShellStatus {
  bool ok = true;
  bool known = true;                ///< Not where it hangs on what the script does not say.
  std::vector<std::string> open{};  ///< Open parts of the word: "$FSDP", "-f $FILE".
};

/// A word between brackets.
struct TestWord {
  std::string text;
  std::string pattern;  ///< The word as a pattern, on the right of `==`.
  bool sign = false;    ///< Unquoted, so that it may be `(`, `&&`, `-f` or `==`.
};

ShellStatus both(ShellStatus a, ShellStatus b);
ShellStatus either(ShellStatus a, ShellStatus b);
ShellStatus opposite(ShellStatus status);

/// Outcome of `[ words ]` or `[[ words ]]`. An open word counts as empty, a file as missing; a test
/// that depends on them is not known. `is_set` answers `-v NAME`.
ShellStatus test_status(std::span<const TestWord> words,
                        const std::function<bool(const std::string&)>& is_set);

}  // namespace stepwright::launch_scripts
