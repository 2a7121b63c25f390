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

/// The streams that a command reads and writes.
struct Console {
  std::ostream& out;  ///< The answer; on a terminal a `TextStream`.
  const Logger& log;  ///< Log of everything else that it says.
  /// The stream on which progress is shown and questions are asked; null when standard error is no
  /// terminal.
  std::ostream* terminal = nullptr;
  /// The stream on which a person answers; null when standard input or standard error is no
  /// terminal.
  std::istream* keyboard = nullptr;
  /// Where the output of programs that a command runs is passed on as it is; null: `out`.
  std::ostream* relayed = nullptr;
  /// Texts that are read in place of the files of their names.
  std::span<const answers::GivenFile> texts = {};
  /// A program whose main() calls `capture::stand_in` first; empty: the program that runs.
  std::filesystem::path stand_in = {};
};

/// A subcommand: its options, and what it does with them.
class Command {
 public:
  /// Adds the subcommand to the program. `examples` closes its help text.
  Command(CLI::App& program, const std::string& name, const std::string& description,
          const std::string& examples);
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Whether the arguments named it.
  [[nodiscard]] bool chosen() const;
  /// Does it. Fails with `Error`.
  virtual void run(const Console& console) = 0;

 protected:
  [[nodiscard]] CLI::App& app() { return *app_; }
  /// Whether the answer is one JSON document instead of text for people.
  [[nodiscard]] bool json() const { return json_; }
  /// Fails with `kInput` when one of these options was given, saying where it belongs.
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
