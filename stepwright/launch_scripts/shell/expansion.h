#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/shell/arithmetic.h"
#include "stepwright/launch_scripts/shell/state.h"
#include "stepwright/launch_scripts/shell/syntax.h"

namespace stepwright::launch_scripts {

/// Expands variables, arithmetic and command substitutions in the words of a shell script, as far
/// as their values are known.
class ShellExpansion {
 public:
  /// A function that returns the text that a shell command would print; nullopt if only running the
  /// command would tell.
  using Substitute = std::function<std::optional<std::string>(const std::string& command)>;

  ShellExpansion(ShellVariables& variables, ShellWorkBudget& budget,
                 const std::vector<std::string>& files, Substitute substitute);

  /// Sets the script file, by its index, from which the words to be expanded come.
  void set_current_script_file(std::uint32_t file) { file_ = file; }
  [[nodiscard]] std::uint32_t file() const { return file_; }

  /// Expands a word of a script as the shell does: into none, one or several words.
  std::vector<ShellWord> expand_to_shell_words(const UnexpandedShellWord& term);
  std::vector<ShellWord> expand_to_shell_words(const std::vector<UnexpandedShellWord>& terms);
  /// Expands a word of a script without splitting it at blanks, as on the right of `=`.
  std::string text(const UnexpandedShellWord& term);
  /// Expands a word of a script into a pattern (as after `case`), in which quoted characters match
  /// themselves.
  std::string expand_to_shell_pattern(const UnexpandedShellWord& term);
  /// Maps each arithmetic expression whose value is unknown, as written, to the unknown variable in
  /// it: "$((N * 8))" to "N"; to another unknown part ("$(nproc)") if no variable is unknown.
  [[nodiscard]] const std::map<std::string, std::string>& unknown_variables_of_arithmetic() const {
    return open_arithmetic_;
  }
  /// Returns the value of the arithmetic expression between `((` and `))`; nullopt if the text is
  /// not a valid one.
  std::optional<ShellArithmeticResult> value_of_arithmetic(const std::string& text,
                                                           std::uint32_t line);

 private:
  struct Filled {
    std::vector<ShellWord> words;
    /// True for the elements of a quoted array ("${A[@]}"), each of which stays one word.
    bool each = false;
  };

  Filled fill(const ShellWordPiece& piece, std::uint32_t line);
  Filled one(std::string text, std::uint32_t line) const;
  Filled variable(const ShellWordPiece& piece, std::uint32_t line);
  std::optional<Filled> value_of(const std::string& name, const std::optional<std::string>& index,
                                 std::uint32_t line);
  Filled operated(const ShellWordPiece& piece, const std::string& name, std::optional<Filled> value,
                  std::string_view operation, std::uint32_t line);
  std::optional<Filled> usual(const std::string& name, const std::optional<Filled>& value,
                              std::string_view operation, std::uint32_t line);
  std::optional<std::string> changed(const std::string& text, std::string_view operation,
                                     std::uint32_t line);
  std::optional<std::string> cut(const std::string& text, std::string_view bounds,
                                 std::uint32_t line);
  std::string inner_text(std::string_view text, std::uint32_t line);
  std::string inner_pattern(std::string_view text, std::uint32_t line);

  ShellVariables& variables_;
  ShellWorkBudget& budget_;
  const std::vector<std::string>& files_;
  Substitute substitute_;
  std::uint32_t file_ = 0;
  int depth_ = 0;
  /// The first unknown variable in the arithmetic expression that is being evaluated.
  std::string open_name_;
  std::map<std::string, std::string> open_arithmetic_;
};

}  // namespace stepwright::launch_scripts
