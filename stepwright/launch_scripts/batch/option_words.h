#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// How a program reads the options in front of a command. Options that are not named take a value.
struct OptionRules {
  std::string_view flags;           ///< Options without a value: "--label -l", blanks between them.
  std::string_view pairs;           ///< Options with two values: "-mca -genv".
  bool long_with_one_dash = false;  ///< `-npernode 8` is one option, not letters.
  std::string_view more_flags;      ///< More flags, as in `flags`.
};

/// An option of a command.
struct Option {
  std::string name;                  ///< Name with its dashes.
  std::optional<std::string> value;  ///< nullopt for a flag.
  std::string second;                ///< The second value of a pair.
};

/// The options of a command, and the place of the word behind them.
struct SplitCommand {
  std::vector<Option> options;
  std::size_t rest =
      0;  ///< Index of the first word that is no option; the number of words if there is none.
};

/// Splits the words of a command, of which `words[start - 1]` is the program or subcommand whose
/// options follow. `--` ends the options.
SplitCommand split_options(std::span<const std::string> words, std::size_t start,
                           const OptionRules& rules);

/// Returns the value of the last option that has one of these names ("-N --nodes"); nullopt: none
/// has. A flag has the value "".
std::optional<std::string> option_value(std::span<const Option> options, std::string_view names);

/// True if a list of words with blanks between them holds the word.
bool holds_word(std::string_view list, std::string_view word);

}  // namespace stepwright::launch_scripts
