#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// How to recognise and read commands of a training program whose arguments have the form
/// `a.b=value`.
struct KeyValueProgram {
  std::string_view framework;  ///< Name of the training framework, for error messages.
  /// Name of the program's import target ("maxtext"); the rules in its `target.yaml` recognise
  /// commands that start the program.
  std::string_view target;
  /// Function that is true if the user's setting of this name is one of the program's, false if it
  /// is a shell variable of a script.
  bool (*has_setting)(std::string_view name);
  /// Options of the program that take one value ("--config"); the value is stored under the
  /// option's name.
  std::array<std::string_view, 2> options{};
  /// True if the program is started by a launcher such as torchrun, which decides the number of
  /// ranks.
  bool launched = false;
  /// True if each process uses all devices of its node, as in JAX.
  bool whole_nodes = false;
  /// True if Hydra reads the program's command line, and so refuses a word that it cannot parse.
  bool hydra = false;
  /// Table of the program's settings ("rl/verl") that says which arguments matter if commands
  /// differ; empty: every argument can matter.
  std::string_view settings = {};
  /// Name of a configuration file that belongs to the program itself ("base.yml"): its values are
  /// known, so the user need not give it.
  std::string_view built_in_file = {};
};

/// Returns the arguments `a.b=value` of the command that starts a program in shell scripts,
/// overridden by the user's settings. Sets `extent` and `start`, and `configuration` (unless null)
/// to the YAML file that the command names, given or written by a script. Fails with `kInput` if no
/// command starts the program, or if that file is neither given nor the program's own.
YamlJsonDocument read_key_value_command(Sources files, const KeyValueProgram& program,
                                        const UserFacts& given, JobRankCounts& extent,
                                        StartedTrainingProgram& start, ImportReport& report,
                                        std::optional<SourceFile>* configuration = nullptr);

}  // namespace stepwright::framework_files
