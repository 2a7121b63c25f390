#pragma once

#include <string>

#include "stepwright/cluster/cluster.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"
#include "stepwright/launch_scripts/python/config.h"
#include "stepwright/launch_scripts/python/program_options.h"

namespace stepwright::framework_files {

/// A Python program that configures transformers' Trainer in its own code.
struct TrainerProgram {
  /// Training arguments of the program, named as in TrainingArguments and TRL's scripts. Values
  /// that are not literals are null and listed in `config.unread`.
  launch_scripts::PythonConfig config;
  /// Training method of TRL, such as "sft"; empty: the program uses transformers' own Trainer.
  std::string method;
  /// True if the arguments are of a TRL class (SFTConfig), so that TRL's defaults hold.
  bool trl_defaults = false;
  /// CUDA_VISIBLE_DEVICES as the program sets it; empty text: it does not.
  ShellWord visible_devices;
  /// True if interpreting the program's code found the object that holds its training arguments.
  bool has_arguments = false;
};

/// True if a file is a Python program that configures transformers' Trainer in its code: it calls a
/// class of training arguments (TrainingArguments, SFTConfig, ...), or has a parser fill one.
bool is_trainer_program(const SourceFile& file);

/// True if a program calls a class of training arguments (TrainingArguments, ...) in its code, so
/// that its command line alone does not state the arguments.
bool makes_own_arguments(const SourceFile& file);

/// Reads the training arguments of a Python program that configures transformers' Trainer, as far
/// as literals determine them, without executing it. `options` are its command-line options; those
/// that it declares are added.
TrainerProgram read_trainer_program(const SourceFile& file, const cluster::Cluster& cluster,
                                    launch_scripts::ArgparseOptions& options);

/// Returns the file of the Python program that a command starts, if the program configures
/// transformers' Trainer in its code; null otherwise.
const SourceFile* trainer_program_started_by_command(Words words, Sources files);

}  // namespace stepwright::framework_files
