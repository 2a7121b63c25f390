#pragma once

#include <optional>
#include <vector>

#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {

/// Returns the commands that a job file of a scheduler starts, as a shell script in which each word
/// is on the line where the job file has it. Supported files: containers of Kubernetes (Job,
/// PyTorchJob, MPIJob, JobSet, RayJob, ...), also as a template with `${NAME}`, a task of SkyPilot
/// or dstack, a command job of AzureML, an experiment of Determined, services of Docker Compose,
/// recipes of a Makefile or justfile. Requested nodes and devices become `#SBATCH` options, the
/// environment becomes exported variables. nullopt for any other file.
std::optional<SourceFile> shell_script_of_scheduler_job_file(const SourceFile& file);

/// Returns the files in the ConfigMaps of a Kubernetes file, named "FILE/KEY"; empty if it has
/// none.
std::vector<SourceFile> config_map_files(const SourceFile& file);

}  // namespace stepwright::launch_scripts
