#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/shell/expansion.h"
#include "stepwright/launch_scripts/shell/script.h"
#include "stepwright/launch_scripts/shell/state.h"
#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/launch_scripts/shell/test.h"

namespace stepwright::launch_scripts {

/// Interprets shell scripts in the order in which bash runs them, without executing anything.
class ShellInterpreter {
 public:
  ShellInterpreter(std::span<const ShellSource> sources, const ShellAssumptions& given);

  ShellScriptResult read();

 private:
  using Words = std::vector<ShellWord>;
  enum class Flow : std::uint8_t { kNext, kBreak, kContinue, kReturn, kExit };
  /// The source text of a branch's condition, as written, with its line.
  struct ShellBranchCondition {
    std::string_view source;
    std::uint32_t line = 0;
  };

  // The functions from here on are in reader.cpp: lists, pipes, conditions and loops.
  ShellExitStatus run(const ShellNode& node);
  ShellExitStatus run_kind(const ShellNode& node);
  ShellExitStatus list(const ShellNode& node);
  ShellExitStatus chain(const ShellNode& node);
  ShellExitStatus joined_commands(const ShellNode& node, std::size_t joint, ShellExitStatus left);
  ShellExitStatus pipe(const ShellNode& node);
  ShellExitStatus condition(const ShellNode& node);
  ShellExitStatus for_each(const ShellNode& node);
  ShellExitStatus count(const ShellNode& node);
  ShellExitStatus loop(const ShellNode& node);
  ShellExitStatus choice(const ShellNode& node);
  ShellExitStatus test(const ShellNode& node);
  ShellExitStatus arithmetic(const std::string& text, const std::string& source,
                             std::uint32_t line);
  ShellExitStatus apart(const ShellNode& node);
  bool decide(const ShellBranchCondition& condition, const ShellExitStatus& status, bool yes_ends,
              bool no_ends);
  std::size_t way(UndeterminedCondition open);
  [[nodiscard]] bool ends_script(const ShellNode& node, int depth = 0);
  static void leave_count_open(const ShellBranchCondition& condition, ShellExitStatus& status);
  bool leaves_loop();
  [[nodiscard]] ShellPosition place(std::uint32_t line) const { return {expansion_.file(), line}; }

  // The functions from here on are in simple.cpp: assignments, builtins and function calls.
  ShellExitStatus simple(const ShellNode& node);
  ShellExitStatus command(const ShellNode& node, Words words);
  std::optional<ShellExitStatus> builtin(const ShellNode& node, const Words& words);
  std::optional<ShellExitStatus> flow_builtin(const Words& words);
  void assign(const ShellAssignment& one);
  void assign_array(const ShellAssignment& one);
  void assign_element(const ShellAssignment& one);
  void declare(const ShellNode& node, const Words& words);
  void set_arguments(const Words& words);
  void leave_open(const Words& words, std::size_t from, std::uint32_t line, bool array = false);
  ShellExitStatus bracket(const Words& words);
  ShellExitStatus call(const ShellNode& function, std::uint32_t file, const Words& words);
  void write_file(const ShellNode& node, const Words& words);
  void record_copy(const ShellNode& node, const Words& words);
  void print_into(const Words& words);
  bool read_words(const ShellNode& node, const Words& words);
  void read_lines(const ShellNode& node, const Words& words);

  // The functions from here on are in start.cpp, job.cpp and printed.cpp: started programs, scripts
  // and batch jobs, and the text that commands print.
  ShellExitStatus start(const ShellNode& node, Words words);
  void take_out_wrappers(Words& words, std::uint32_t line);
  void run_told_command(const ShellNode& node, const Words& words);
  ShellExitStatus within_shell(const ShellNode& node, const Words& words, std::size_t shell);
  [[nodiscard]] bool has_file(const std::string& name) const;
  /// A script that another script runs, sources or submits as a batch job.
  struct NestedShellScript {
    std::string path;
    std::vector<std::string> arguments;
    /// True if the script runs in the shell of the script that calls it, as with `source`.
    bool same_shell = false;
    std::uint32_t line = 0;
    /// The command that submits the script as a batch job; empty: it is not submitted.
    Words submission{};
  };
  bool go_on_with(NestedShellScript next);
  /// Returns the index of the script file, among those that the user passed in, that a path means:
  /// among files of the same name, the one with the most matching folders; nullopt if no file has
  /// the name.
  [[nodiscard]] std::optional<std::size_t> find_passed_script(std::string_view path) const;
  void run_text(const std::string& text, std::uint32_t line);
  void run_batch(const std::string& text, std::uint32_t line, const Words& submission);
  void enter_job(std::string_view text, const Words& submission);
  void set_job_variables(bool submitted);
  void run_source(std::size_t source);
  template <class Run>
  void in_shell_of_its_own(const std::map<std::string, ShellWord>& environment,
                           std::vector<std::string> arguments, std::string zero, Run run_inside);
  [[nodiscard]] std::map<std::string, ShellWord> environment(const ShellNode& node);
  std::optional<std::string> printed(const std::string& command);
  std::optional<std::string> printed_pipe(const ShellNode& node);
  std::optional<std::string> printed_of_job(const Words& words);
  std::optional<std::string> text_of_file(const ShellNode& node, const Words& words);
  std::optional<std::string> passed_text(const ShellNode& node, std::optional<std::string> before);
  std::optional<bool> tested(const ShellNode& node);
  std::optional<std::string> printed_way(const ShellNode& node);
  std::optional<std::string> printed_by(const ShellNode& node, const Words& words);
  static std::string echoed(const Words& words);

  std::span<const ShellSource> sources_;
  const ShellAssumptions& given_;
  ShellScriptResult script_;
  ShellWorkBudget budget_;
  ShellVariables variables_;
  ShellExpansion expansion_;
  /// Syntax trees of parsed script texts; kept because functions of the script refer to parts of
  /// them.
  std::deque<ShellNode> parsed_;
  /// Syntax tree of each script file that has been run, by the file's index.
  std::map<std::size_t, const ShellNode*> programs_;
  std::map<std::string, ShellWrittenFile> written_;  ///< Files that the script writes, by name.
  /// A function of the script, and the index of its file.
  struct ShellFunctionDefinition {
    const ShellNode* body = nullptr;
    std::uint32_t file = 0;
  };
  std::map<std::string, ShellFunctionDefinition> functions_;
  /// The batch job in which the script runs; null: no job is known.
  std::shared_ptr<const BatchJobAllocation> job_;
  /// Texts of the host files (such as PBS_NODEFILE) that the batch scheduler would write, by file
  /// name.
  std::map<std::string, std::string> host_files_;
  /// Number of conditions met so far whose outcome the shell scripts do not determine.
  std::size_t undetermined_ = 0;
  std::size_t functions_made_ = 0;
  /// Number of characters in evaluated texts (`eval`, not files) that are kept because they define
  /// functions.
  std::size_t kept_ = 0;
  Words launchers_;
  Flow flow_ = Flow::kNext;
  int depth_ = 0;
  int files_deep_ = 0;
  /// Indices of the script files that are being run, the outermost first.
  std::vector<std::size_t> running_;
};

}  // namespace stepwright::launch_scripts
