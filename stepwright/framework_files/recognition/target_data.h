#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/framework_files/recognition/marks.h"
#include "stepwright/plan/training_method.h"

namespace stepwright::framework_files {

/// Evidence that a framework reads its own files as Stepwright reads and writes them.
struct FrameworkReadingEvidence {
  /// True if a test runs the framework itself on the files that Stepwright writes or reads; false
  /// if only the framework's source code was read.
  bool judged = false;
  /// Path of the test that runs the framework on the files, relative to this repository; empty:
  /// none.
  std::string test;
  /// Package and release of the framework that the test runs ("axolotl 0.19.0"); empty: no test.
  std::string package;
  /// Repository of the framework's source code that was read; empty if a test runs the framework.
  std::string repository;
};

/// A target of `export --to` and `import --from`: a framework or launcher whose files are written
/// or read, as its `target.yaml` describes it.
struct LaunchTargetDescription {
  std::string word;  ///< Name of the target, as `--to` and `--from` accept it.
  /// Name of the framework that runs the target's files, one of `kFrameworkNames`; empty: any
  /// framework, which the job names.
  std::string framework;
  std::vector<std::string> also;  ///< Further frameworks that can run the written files.
  /// Variant of the framework (a fork, or a program built on it) that the files start; empty: none.
  std::string variant;
  std::string about;    ///< Short description for users: "Configuration of axolotl".
  std::string reads;    ///< Description of the files that can be read; empty: none can.
  std::string writes;   ///< Description of the file that can be written; empty: none can.
  std::string checked;  ///< Programs and releases against which the files were checked.
  std::string assumes;  ///< Assumptions that every written file makes, for users.
  FrameworkReadingEvidence evidence;
  /// Training methods (SFT, DPO, ...) that the written files can express.
  std::vector<plan::TrainingMethodKind> methods = {plan::TrainingMethodKind::kPretrain,
                                                   plan::TrainingMethodKind::kSft};
  /// True if the file does not state the training method, which the program that is started with
  /// the file decides.
  bool method_elsewhere = false;
  /// True if commands that code recognises, not one of the rules in `starts`, may belong to a
  /// program that does not train.
  bool unsure_starts = false;
  /// True if other frameworks have programs of the same name, so that a configuration given with a
  /// script must show which framework's program the script starts.
  bool file_decides = false;
  /// Priority among targets that recognise the same shell command: the one with the lowest number
  /// reads it.
  int order = 0;
  /// True if the written file is a script that sets environment variables.
  bool sets_environment = false;
  bool python_files = false;  ///< True if the program's configuration files can be Python.
  /// True if the written file is a complete training program of Stepwright, not a framework's file.
  bool whole_program = false;
  /// True if the target's files can have several Python functions that return configurations, of
  /// which the user names one.
  bool functions = false;
  /// File name endings of written files ("toml"), oldest first, each with the last framework
  /// release that reads it; empty release: the newest.
  std::vector<std::pair<std::string, std::string>> endings;
  /// Program whose logs of up to 64 MiB can be read; empty: no logs are.
  std::string large_logs;
  /// Rules that recognise the target's files by content; one must hold.
  std::vector<FileRecognitionRule> marks;
  /// Rules that recognise commands that start the target's program; one must hold.
  std::vector<CommandRecognitionRule> starts;
};

/// Returns the contents of all `target.yaml` files (frameworks and launchers), in no particular
/// order.
std::span<const LaunchTargetDescription> launch_target_description();

/// Returns the contents of the `target.yaml` of the target with this name ("axolotl"). Fails with
/// `kInput` if there is none.
const LaunchTargetDescription& launch_target_description(std::string_view word);

/// True if a file is recognised by content as one of this target's, by the rules in its
/// `target.yaml`. `part`: only rules of this name count; empty: all rules.
bool file_matches_target_rules(std::string_view target, const SourceFile& file,
                               std::string_view part = "");

/// True if a shell command starts this target's program, by the rules in its `target.yaml`. `part`:
/// only rules of this name count; empty: all rules.
bool command_matches_target_rules(std::string_view target, Words words, std::string_view part = "");

/// Returns a function that is true for shell commands that start this target's program, by the
/// rules in its `target.yaml`.
std::function<bool(Words)> target_command_predicate(std::string_view target);

/// A text that identifies a program or configuration which cannot be read here, and the name of the
/// framework that it belongs to, for messages.
using UnsupportedProgram = std::pair<std::string, std::string>;

/// Returns the framework to which a program of this name belongs, if `unread.yaml` lists it as one
/// whose files Stepwright cannot read; nullopt otherwise.
std::optional<std::string> unreadable_framework_of_program(std::string_view program);
/// Finds the first word of a command that names a program whose files Stepwright cannot read
/// (`unread.yaml`); returns the program and its framework, nullopt if there is none.
std::optional<UnsupportedProgram> find_unsupported_program_word(Words words);
/// Returns the framework of a configuration or Python program that Stepwright cannot read, known by
/// its text or imports (`unread.yaml`); nullopt for any other file.
std::optional<std::string> unread_file(const SourceFile& file);

/// Returns the tensor library other than PyTorch that a Python program imports; nullopt: none.
std::optional<std::string> tensor_library_beside_torch(const SourceFile& file);
/// Returns the service (SageMaker, Modal, ...) on whose machines a Python program runs another
/// program, known by its imports (`unread.yaml`); nullopt if it imports no such service.
std::optional<std::string> hosting_service(const SourceFile& file);

}  // namespace stepwright::framework_files
