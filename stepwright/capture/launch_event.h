#pragma once

#include <map>
#include <string>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// File in the folder of a capture that says that a script started Ray on the nodes of its job.
inline constexpr const char* kRayStarted = "ray_started";

/// Writes a command down as a launch, with the environment, folder and files of this process.
void record_launch(const Context& context, const Words& argv);

/// Writes a command down as one that did nothing.
void record_not_run(const Context& context, const Words& words);

/// Returns the variables of a record: those that differ from the environment in which the capture
/// was called, and those that matter for training (NCCL_*, CUDA_*, SLURM_*, ...), without secrets
/// and without the capture's own.
std::map<std::string, std::string> recorded_environment(
    const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now,
    const std::string& folder);

}  // namespace stepwright::capture
