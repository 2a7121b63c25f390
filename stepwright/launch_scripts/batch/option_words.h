#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// How a program reads the options before a command. Options that are not listed here take a value.
struct OptionRules {
  std::string_view flags;  ///< Options without a value, separated by blanks: "--label -l".
  std::string_view pairs;  ///< Options with two values: "-mca -genv".
  /// True if `-npernode 8` is one option, not a group of one-letter options.
  bool long_with_one_dash = false;
  std::string_view more_flags;  ///< More options without a value, in the form of `flags`.
};

/// An option that a command was given.
struct Option {
  std::string name;                  ///< Name of the option with its dashes.
  std::optional<std::string> value;  ///< Value of the option; nullopt for a flag.
  /// Second value of an option in `pairs`; empty for other options.
  std::string second;
};

/// The options of a command, and the index of the word after them.
struct SplitCommand {
  std::vector<Option> options;
  std::size_t rest =
      0;  ///< Index of the first word that is not an option; the number of words if all are.
};

/// Splits the words of a command from index `start`, where the options of the program or subcommand
/// `words[start - 1]` begin. `--` ends the options.
SplitCommand split_options(std::span<const std::string> words, std::size_t start,
                           const OptionRules& rules);

/// Returns the value of the last option that has one of these names ("-N --nodes"), "" for a flag;
/// nullopt if no option has.
std::optional<std::string> option_value(std::span<const Option> options, std::string_view names);

/// True if a list of words, separated by blanks, contains the word.
bool holds_word(std::string_view list, std::string_view word);

}  // namespace stepwright::launch_scripts
