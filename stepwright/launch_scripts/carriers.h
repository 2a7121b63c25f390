#pragma once

#include <optional>

#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {

/// The commands that a file of a scheduler starts, as a script with its words on the lines where
/// they stand: containers of Kubernetes (Job, PyTorchJob, MPIJob, JobSet, RayJob, ...), a task of
/// SkyPilot or dstack, a command job of AzureML, services of Docker Compose. Nodes and devices that
/// it asks for become `#SBATCH` options, its environment becomes exported variables. Nothing for
/// any other file.
std::optional<SourceFile> carried_script(const SourceFile& file);

}  // namespace stepwright::launch_scripts
