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
      out;  ///< Stream of the command's answer; an `EscapedTextStream` if it is a terminal.
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
  /// `capture::run_launcher_stand_in` first. Empty: the running program.
  std::filesystem::path stand_in = {};
};

/// Base class of the program's subcommands, such as `tune`.
class Subcommand {
 public:
  /// Adds the subcommand to the program. `examples`: text at the end of the subcommand's help.
  Subcommand(CLI::App& program, const std::string& name, const std::string& description,
             const std::string& examples);
  virtual ~Subcommand() = default;
  Subcommand(const Subcommand&) = delete;
  Subcommand& operator=(const Subcommand&) = delete;

  /// True if the command line names this subcommand.
  [[nodiscard]] bool is_subcommand_chosen() const;
  /// Runs the subcommand and writes its answer to the console. Throws `Error` if it fails.
  virtual void run_subcommand(const Console& console) = 0;

 protected:
  [[nodiscard]] CLI::App& app() { return *app_; }
  /// True if `--json` was given: the answer is one JSON document instead of text for people.
  [[nodiscard]] bool wants_json_output() const { return json_; }
  /// Fails with `kInput` if one of these options was given. `belongs_to`: what the options can be
  /// used with, for the message.
  void refuse_options(std::span<const char* const> options, std::string_view belongs_to) const;

 private:
  CLI::App* app_;
  bool json_ = false;
};

std::unique_ptr<Subcommand> init_command(CLI::App& program);
std::unique_ptr<Subcommand> tune_command(CLI::App& program);
std::unique_ptr<Subcommand> predict_command(CLI::App& program);
std::unique_ptr<Subcommand> whole_run_command(CLI::App& program);
std::unique_ptr<Subcommand> phases_command(CLI::App& program);
std::unique_ptr<Subcommand> traffic_command(CLI::App& program);
std::unique_ptr<Subcommand> memory_command(CLI::App& program);
std::unique_ptr<Subcommand> explain_command(CLI::App& program);
std::unique_ptr<Subcommand> study_command(CLI::App& program);
std::unique_ptr<Subcommand> interleave_command(CLI::App& program);
std::unique_ptr<Subcommand> fit_command(CLI::App& program);
std::unique_ptr<Subcommand> validate_command(CLI::App& program);
std::unique_ptr<Subcommand> lab_command(CLI::App& program);
std::unique_ptr<Subcommand> characterize_command(CLI::App& program);
std::unique_ptr<Subcommand> compare_command(CLI::App& program);
std::unique_ptr<Subcommand> diagnose_command(CLI::App& program);
std::unique_ptr<Subcommand> train_command(CLI::App& program);
std::unique_ptr<Subcommand> sample_command(CLI::App& program);
std::unique_ptr<Subcommand> export_command(CLI::App& program);
std::unique_ptr<Subcommand> import_command(CLI::App& program);
std::unique_ptr<Subcommand> capture_command(CLI::App& program);
std::unique_ptr<Subcommand> check_command(CLI::App& program);
std::unique_ptr<Subcommand> checkpoint_command(CLI::App& program);
std::unique_ptr<Subcommand> serve_command(CLI::App& program);
std::unique_ptr<Subcommand> mcp_command(CLI::App& program);
std::unique_ptr<Subcommand> lengths_command(CLI::App& program);
std::unique_ptr<Subcommand> list_command(CLI::App& program);
std::unique_ptr<Subcommand> doctor_command(CLI::App& program);
std::unique_ptr<Subcommand> completion_command(CLI::App& program);

}  // namespace stepwright::cli
