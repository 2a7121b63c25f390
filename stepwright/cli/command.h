#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/answers/given_file.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 gave itself
class App;
}

namespace stepwright::cli {

class Logger;

/// Streams and texts through which a command communicates with its caller or a terminal.
struct Console {
  std::ostream&
      out;  ///< Stream of the command's answer; a `EscapedTextStream` if it is a terminal.
  const Logger& log;  ///< Log of all messages other than the command's answer.
  /// Stream for progress and questions to a person; null: standard error is no terminal.
  std::ostream* terminal = nullptr;
  /// Stream with a person's answers to questions; null: standard input or standard error is no
  /// terminal.
  std::istream* keyboard = nullptr;
  /// Stream that receives, unchanged, the output of programs that a command runs; null: `out`.
  std::ostream* relayed = nullptr;
  /// Texts of files that the command reads from memory instead of from disk, with their names.
  std::span<const answers::UserFile> texts = {};
  /// Program to run in place of a captured script's launchers; its main() must call
  /// `capture::stand_in` first. Empty: the running program.
  std::filesystem::path stand_in = {};
};

/// Base class of the program's subcommands, such as `tune`.
class Command {
 public:
  /// Adds the subcommand to the program. `examples`: text at the end of the subcommand's help.
  Command(CLI::App& program, const std::string& name, const std::string& description,
          const std::string& examples);
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// True if the command line names this subcommand.
  [[nodiscard]] bool is_subcommand_chosen() const;
  /// Runs the subcommand and writes its answer to the console. Throws `Error` if it fails.
  virtual void run(const Console& console) = 0;

 protected:
  [[nodiscard]] CLI::App& app() { return *app_; }
  /// True if `--json` was given: the answer is one JSON document instead of text for people.
  [[nodiscard]] bool json() const { return json_; }
  /// Fails with `kInput` if one of these options was given. `belongs_to`: what the options can be
  /// used with, for the message.
  void refuse_options(std::span<const char* const> options, std::string_view belongs_to) const;

 private:
  CLI::App* app_;
  bool json_ = false;
};

std::unique_ptr<Command> init_command(CLI::App& program);
std::unique_ptr<Command> tune_command(CLI::App& program);
std::unique_ptr<Command> predict_command(CLI::App& program);
std::unique_ptr<Command> whole_run_command(CLI::App& program);
std::unique_ptr<Command> phases_command(CLI::App& program);
std::unique_ptr<Command> traffic_command(CLI::App& program);
std::unique_ptr<Command> memory_command(CLI::App& program);
std::unique_ptr<Command> explain_command(CLI::App& program);
std::unique_ptr<Command> study_command(CLI::App& program);
std::unique_ptr<Command> interleave_command(CLI::App& program);
std::unique_ptr<Command> fit_command(CLI::App& program);
std::unique_ptr<Command> validate_command(CLI::App& program);
std::unique_ptr<Command> lab_command(CLI::App& program);
std::unique_ptr<Command> characterize_command(CLI::App& program);
std::unique_ptr<Command> compare_command(CLI::App& program);
std::unique_ptr<Command> diagnose_command(CLI::App& program);
std::unique_ptr<Command> train_command(CLI::App& program);
std::unique_ptr<Command> sample_command(CLI::App& program);
std::unique_ptr<Command> export_command(CLI::App& program);
std::unique_ptr<Command> import_command(CLI::App& program);
std::unique_ptr<Command> capture_command(CLI::App& program);
std::unique_ptr<Command> check_command(CLI::App& program);
std::unique_ptr<Command> checkpoint_command(CLI::App& program);
std::unique_ptr<Command> serve_command(CLI::App& program);
std::unique_ptr<Command> mcp_command(CLI::App& program);
std::unique_ptr<Command> lengths_command(CLI::App& program);
std::unique_ptr<Command> list_command(CLI::App& program);
std::unique_ptr<Command> doctor_command(CLI::App& program);
std::unique_ptr<Command> completion_command(CLI::App& program);

}  // namespace stepwright::cli
