#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::launch_scripts {

/// A position in the shell scripts: file index and line number.
struct ShellPosition {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

/// Counts the work that interpreting a script has caused, and fails beyond a limit on time or
/// memory.
class ShellWorkBudget {
 public:
  explicit ShellWorkBudget(const std::vector<std::string>& files) : files_(files) {}

  [[noreturn]] void fail(ShellPosition place, std::string_view what) const;
  void step(ShellPosition place);
  /// Counts one expanded word towards the limit on the words of a script; fails above the limit.
  void count_expanded_word(std::string_view text, ShellPosition place);
  /// Counts the memory of an undetermined condition's text towards the limit on a script's memory;
  /// fails above the limit.
  void count_condition_memory(std::string_view text, ShellPosition place);
  /// Counts characters that the interpretation compares or copies.
  void count_processed_characters(std::size_t characters, ShellPosition place);
  /// Returns the work done so far, in interpretation steps.
  [[nodiscard]] std::size_t interpretation_effort() const {
    return steps_ + words_ + (bytes_ + work_) / 1000;
  }

 private:
  const std::vector<std::string>& files_;
  std::size_t steps_ = 0;
  std::size_t words_ = 0;
  std::size_t bytes_ = 0;
  std::size_t work_ = 0;
};

/// The value of a shell variable, which can be an array.
struct ShellVariableValue {
  /// Words of the value: one, or the elements of an array.
  std::vector<ShellWord> elements;
  std::map<std::string, ShellWord> keyed;  ///< Elements of an associative array by key.
  bool array = false;
  bool open_count = false;  ///< True if the number of elements in the array is unknown.
  std::string refers_to;    ///< Name of the variable that a name reference stands for; empty: none.

  [[nodiscard]] std::vector<ShellWord> all() const;
};

/// The arguments `$1`, `$2`, ... of a script or function. Copies share the texts, and `shift`
/// copies nothing.
class ShellArguments {
 public:
  ShellArguments() : ShellArguments(std::vector<std::string>()) {}
  ShellArguments(std::vector<std::string> texts)
      : texts_(std::make_shared<const std::vector<std::string>>(std::move(texts))) {}

  [[nodiscard]] std::span<const std::string> all() const {
    return std::span(*texts_).subspan(passed_);
  }
  [[nodiscard]] std::size_t size() const { return texts_->size() - passed_; }
  /// Drops the first `count` arguments, or all if there are fewer.
  void drop_first_arguments(std::size_t count) { passed_ += std::min(count, size()); }

 private:
  std::shared_ptr<const std::vector<std::string>> texts_;
  std::size_t passed_ = 0;
};

/// All variables of a shell script at the current point of its interpretation.
class ShellVariables {
 public:
  [[nodiscard]] const ShellVariableValue* find(const std::string& name) const;
  /// Returns a shell variable's value as one text; nullopt if the variable is unset.
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;

  /// Sets a variable to a value that no later assignment of the script changes.
  void set_fixed_variable(const std::string& name, const std::string& text);
  [[nodiscard]] bool is_fixed(const std::string& name) const { return fixed_.contains(name); }
  void set(const std::string& name, ShellVariableValue value);
  void set_text(const std::string& name, const std::string& text, ShellPosition place);
  /// Makes a variable a name reference to another one, as `declare -n NAME=TARGET` does.
  void set_shell_name_reference(const std::string& name, const std::string& target);
  void unset(const std::string& name);
  /// Returns a variable's value, to be changed in place, and creates it if absent; null if the
  /// variable is fixed.
  ShellVariableValue* editable_variable_value(const std::string& name);
  void mark_exported(const std::string& name);
  /// Returns the shell variables that are exported to started programs, as their environment.
  [[nodiscard]] std::map<std::string, ShellWord> exported_variables() const;

  /// Begins the call of a shell function: until `leave`, `make_local` saves old values of
  /// variables, which `leave` restores.
  void begin_function_call() { hidden_.emplace_back(); }
  void make_local(const std::string& name);
  void leave();

  /// Begins a subshell: `leave_subshell` undoes all changes made until then.
  void enter_subshell();
  void leave_subshell();
  /// Returns the number of characters copied to save old values of variables since the last call of
  /// this function.
  [[nodiscard]] std::size_t copied_characters_since_last_call() {
    return std::exchange(copied_, 0);
  }

  ShellArguments arguments;
  std::string zero;  ///< Name of the script, `$0`.

 private:
  /// Old values of everything that a subshell has changed, to be restored at its end.
  struct SubshellSavedValues {
    std::map<std::string, std::optional<ShellVariableValue>> values{};
    std::map<std::string, bool> exported{};
    /// Variables that became local inside the subshell: index of the function call in `hidden_`,
    /// and name of the variable.
    std::vector<std::pair<std::size_t, std::string>> local{};
    ShellArguments arguments{};
  };
  /// Saves the old value of a variable before a subshell changes it; `save_export_for_subshell`
  /// saves its export flag.
  void save_value_for_subshell(const std::string& name);
  void save_export_for_subshell(const std::string& name);
  [[nodiscard]] std::optional<ShellVariableValue> copy_of(const std::string& name);
  /// Returns the name of the variable that a name reference stands for; other names unchanged.
  [[nodiscard]] std::string referred_name(const std::string& name) const;

  std::map<std::string, ShellVariableValue> values_;
  std::map<std::string, bool> exported_;
  std::map<std::string, std::string> fixed_;
  std::vector<std::map<std::string, std::optional<ShellVariableValue>>> hidden_;
  std::vector<SubshellSavedValues> subshells_;
  std::size_t copied_ = 0;
};

/// Splits a word at blanks; an unknown part stays within one word.
std::vector<ShellWord> split_word_at_blanks(const ShellWord& text);
/// Returns the words joined by blanks.
std::string join_shell_words(const std::vector<ShellWord>& words);
/// Returns the texts of the words from index `from` on.
std::vector<std::string> texts_of_words_from(const std::vector<ShellWord>& words, std::size_t from);
/// Returns the last part of a path: "c" of "a/b/c".
std::string path_base_name(std::string_view path);

}  // namespace stepwright::launch_scripts
