#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright {

/// A word of a command after quotes are gone and variables that the script sets are filled in. What
/// it does not set stays as it was written (`$MASTER_ADDR`).
struct ShellWord {
  std::string text;
  std::uint32_t line = 0;  ///< From 1.
};

/// The content of a shell script that starts a job. Nothing of it is executed.
struct ShellScript {
  std::vector<std::vector<ShellWord>> commands;  ///< Assignments in front are not in them.
  std::map<std::string, std::string> exported;   ///< Variables that programs see.
  std::vector<ShellWord> batch_options;          ///< Words of `#SBATCH` lines.
  std::vector<std::string> notes;                ///< What was read only in part.
};

/// Reads assignments, arrays, quotes, continued lines, `$NAME`, `${NAME}`, `${NAME:-default}`,
/// `${NAME[@]}` and `$((...))` of whole numbers. Of a condition the first branch is read. Fails
/// with `kInput` on quotes and parentheses that never close, and on texts beyond 1 MiB or 100,000
/// words.
ShellScript read_shell_script(std::string_view text, const std::string& name);

}  // namespace stepwright
