#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/syntax/shell_script.h"

namespace stepwright {

bool is_shell_name_char(char c);
bool is_shell_name(std::string_view text);
/// Words with a blank between them.
std::string joined(const std::vector<std::string>& words);

/// The state of a script whose commands, one after the other, set and start things. Nothing of it
/// is executed.
class ShellCommands {
 public:
  using Words = std::vector<std::string>;

  /// `name`: of the script, for messages; must outlive this.
  explicit ShellCommands(const std::string& name) : name_(name) {}

  [[noreturn]] void fail(std::uint32_t line, std::string_view what) const;
  /// Counts words, of which a script may have 100,000.
  void count(std::size_t words, std::uint32_t line);
  /// The value of a variable; null where the script has not set it.
  [[nodiscard]] const Words* value_of(const std::string& name) const;

  /// A whole command: an assignment, a word of the shell, or a program that is started.
  void take(std::vector<ShellWord> command);
  /// `NAME=(...)` or `NAME+=(...)`; `head` is "NAME" or "NAME+".
  void set_array(std::string head, const Words& words, std::uint32_t line);
  /// `;;` of a case.
  void end_branch(std::uint32_t line);

  /// The script found so far, for those who add to it.
  [[nodiscard]] ShellScript& script() { return script_; }
  /// The same with the variables that programs see, when all is read.
  ShellScript finish();

 private:
  void enter_or_leave(const ShellWord& word);
  void pass_over_rest(std::uint32_t line);
  bool passes_over(std::vector<ShellWord>& command);
  bool take_assignment(const ShellWord& word, bool exported);
  void run(const std::vector<ShellWord>& command);

  const std::string& name_;
  std::map<std::string, Words> values_;
  std::vector<std::string> exports_;
  std::vector<std::string> blocks_;  ///< Open ones: "if" or "case".
  std::size_t passed_depth_ = 0;     ///< Of the block whose further branches are left out; 0: none.
  std::uint32_t skipped_else_ = 0;
  std::size_t words_ = 0;
  ShellScript script_;
};

}  // namespace stepwright
