#pragma once

#include <string>

#include "stepwright/cluster/cluster.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/python/config.h"
#include "stepwright/launch_scripts/python/program_options.h"

namespace stepwright::framework_files {

/// A Python program that tells transformers' Trainer in its own code what to do.
struct TrainerProgram {
  /// The arguments under the names of TrainingArguments and of TRL's scripts; values that are no
  /// literals are null, and `config.unread` has them.
  launch_scripts::PythonConfig config;
  std::string method;         ///< A method of TRL, such as "sft"; empty: the Trainer alone.
  bool trl_defaults = false;  ///< True if its arguments are of a class of TRL.
};

/// True if a file is such a program: it calls a class of arguments.
bool is_trainer_program(const SourceFile& file);

/// Follows such a program on a cluster as far as literals say what happens; nothing is executed.
/// `options` are those of its command, and learn which ones it has. Fails with `kInput` where no
/// call of a class of arguments can be read.
TrainerProgram read_trainer_program(const SourceFile& file, const cluster::Cluster& cluster,
                                    launch_scripts::ProgramOptions& options);

/// The program among files that a command starts; null where it starts none.
const SourceFile* started_trainer_program(Words words, Sources files);

}  // namespace stepwright::framework_files
