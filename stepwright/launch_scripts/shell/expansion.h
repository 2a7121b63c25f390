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

/// Fills variables, arithmetic and what commands would print into words, as far as it is known.
class ShellExpansion {
 public:
  /// Returns what a command would print; nullopt where only running it would tell.
  using Substitute = std::function<std::optional<std::string>(const std::string& command)>;

  ShellExpansion(ShellVariables& variables, ShellBudget& budget,
                 const std::vector<std::string>& files, Substitute substitute);

  /// The file of the words to come.
  void go_to(std::uint32_t file) { file_ = file; }
  [[nodiscard]] std::uint32_t file() const { return file_; }

  /// The words that a word becomes: none, one, or several.
  std::vector<ShellWord> words(const ShellTerm& term);
  std::vector<ShellWord> words(const std::vector<ShellTerm>& terms);
  /// A word that stays one, as on the right of `=`.
  std::string text(const ShellTerm& term);
  /// Fills a term as a pattern, in which quoted characters stand for themselves.
  std::string pattern(const ShellTerm& term);
  /// The variable that leaves an arithmetic text open, by that text: "N" for "$((N * 8))"; another
  /// open place ("$(nproc)") where no variable does.
  [[nodiscard]] const std::map<std::string, std::string>& open_arithmetic() const {
    return open_arithmetic_;
  }
  /// The value of what stands between `((` and `))`.
  std::optional<ArithmeticResult> arithmetic(const std::string& text, std::uint32_t line);

 private:
  struct Filled {
    std::vector<ShellWord> words;
    bool each = false;  ///< In quotes, each stays a word of its own.
  };

  Filled fill(const ShellPiece& piece, std::uint32_t line);
  Filled one(std::string text, std::uint32_t line) const;
  Filled variable(const ShellPiece& piece, std::uint32_t line);
  std::optional<Filled> value_of(const std::string& name, const std::optional<std::string>& index,
                                 std::uint32_t line);
  Filled operated(const ShellPiece& piece, const std::string& name, std::optional<Filled> value,
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
  ShellBudget& budget_;
  const std::vector<std::string>& files_;
  Substitute substitute_;
  std::uint32_t file_ = 0;
  int depth_ = 0;
  std::string open_name_;  ///< The first open variable of the arithmetic that is worked out.
  std::map<std::string, std::string> open_arithmetic_;
};

}  // namespace stepwright::launch_scripts
