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

/// The streams that a command reads from and writes to.
struct Console {
  std::ostream& out;  ///< Stream of the answer; a `TextStream` if it is a terminal.
  const Logger& log;  ///< Log of all messages other than the answer.
  /// Stream for progress and questions; null: standard error is no terminal.
  std::ostream* terminal = nullptr;
  /// Stream from which a person's answers are read; null: standard input or standard error is no
  /// terminal.
  std::istream* keyboard = nullptr;
  /// Stream to which the output of programs that a command runs is copied unchanged; null: `out`.
  std::ostream* relayed = nullptr;
  /// Texts to read instead of the files with their names.
  std::span<const answers::UserFile> texts = {};
  /// Program whose main() calls `capture::stand_in` first, to be run as a stand-in; empty: the
  /// running program.
  std::filesystem::path stand_in = {};
};

/// Base class of a subcommand: its options and its action.
class Command {
 public:
  /// Adds the subcommand to the program. `examples`: text at the end of its help.
  Command(CLI::App& program, const std::string& name, const std::string& description,
          const std::string& examples);
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// True if the arguments named this subcommand.
  [[nodiscard]] bool chosen() const;
  /// Runs the subcommand. Fails with `Error`.
  virtual void run(const Console& console) = 0;

 protected:
  [[nodiscard]] CLI::App& app() { return *app_; }
  /// True if the answer is one JSON document (`--json`) instead of text for people.
  [[nodiscard]] bool json() const { return json_; }
  /// Fails with `kInput` if one of the options was given; the message says with what they may be
  /// used (`belongs_to`).
  void refuse(std::span<const char* const> options, std::string_view belongs_to) const;

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
