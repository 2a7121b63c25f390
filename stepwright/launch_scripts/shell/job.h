#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::launch_scripts {

/// True if a program starts training processes: `python`, `torchrun`, `mpirun`, ...
bool is_training_launcher_program(std::string_view program);

/// Returns the part of a command that submits a batch job, from the submitting program on; empty if
/// the command submits none.
std::vector<ShellWord> batch_submission_part(const std::vector<ShellWord>& words);

/// Adds to `environment` the variables that the options of a job submission set: `sbatch
/// --export=ALL,TP=4`, `qsub -v TP=4`, `bsub -env "TP=4"`.
void add_job_exported_variables(const std::vector<ShellWord>& submission,
                                std::map<std::string, ShellWord>& environment);

}  // namespace stepwright::launch_scripts
