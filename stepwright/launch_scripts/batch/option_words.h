#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// Option syntax of a program such as srun, whose options stand before the command that it starts.
/// Options that are in none of these lists take one value.
struct CommandOptionRules {
  /// Options of the program that take no value, in one text, separated by blanks: "--label -l".
  std::string_view flags;
  /// Options of the program that take two values, in one text, separated by blanks: "-mca -genv".
  std::string_view pairs;
  /// True if a long option can begin with one dash: `-npernode 8` is one option, not a group of
  /// one-letter options.
  bool long_with_one_dash = false;
  /// More options of the program that take no value, separated by blanks, in addition to `flags`.
  std::string_view more_flags;
};

/// An option that a command was given.
struct GivenCommandOption {
  std::string name;                  ///< Name of the option with its dashes.
  std::optional<std::string> value;  ///< Value of the option; nullopt for a flag.
  /// Second value of an option that takes two, such as `-mca NAME VALUE`; empty for other options.
  std::string second;
};

/// The options of a command, and the index of the first word after the options.
struct SplitCommandOptions {
  std::vector<GivenCommandOption> options;
  /// Index of the first word that is not an option; the number of words if all words are options.
  std::size_t rest = 0;
};

/// Splits a command into its options and the rest. Options begin at index `start`, after the
/// program or subcommand `words[start - 1]`; `--` ends them.
SplitCommandOptions split_command_options(std::span<const std::string> words, std::size_t start,
                                          const CommandOptionRules& rules);

/// Returns the value of the last option whose name is one of `names` ("-N --nodes"), "" for a flag;
/// nullopt if no option has such a name.
std::optional<std::string> last_option_value(std::span<const GivenCommandOption> options,
                                             std::string_view names);

/// True if `list`, words separated by blanks, contains the word.
bool word_list_contains(std::string_view list, std::string_view word);

}  // namespace stepwright::launch_scripts
