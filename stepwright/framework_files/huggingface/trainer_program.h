#pragma once

#include <string>

#include "stepwright/cluster/cluster.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/python/config.h"
#include "stepwright/launch_scripts/python/program_options.h"

namespace stepwright::framework_files {

/// A Python program that configures transformers' Trainer in its own code.
struct TrainerProgram {
  /// The arguments, under the names of TrainingArguments and of TRL's scripts. Values that are not
  /// literals are null and listed in `config.unread`.
  launch_scripts::PythonConfig config;
  std::string method;         ///< A method of TRL, such as "sft"; empty: transformers' Trainer.
  bool trl_defaults = false;  ///< True if the class of the arguments is TRL's.
};

/// True if a file is such a program: it calls a class of training arguments.
bool is_trainer_program(const SourceFile& file);

/// Interprets such a program for a cluster as far as literals determine it; nothing is executed.
/// `options` are the options of its command, to which the program's own ones are added. Fails with
/// `kInput` if no call of a class of training arguments can be read.
TrainerProgram read_trainer_program(const SourceFile& file, const cluster::Cluster& cluster,
                                    launch_scripts::ProgramOptions& options);

/// Returns the file of the Trainer program that a command starts; null if it starts none.
const SourceFile* started_trainer_program(Words words, Sources files);

}  // namespace stepwright::framework_files
