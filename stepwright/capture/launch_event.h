#pragma once

#include <map>
#include <string>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Name of an empty file in the temporary folder of `stepwright capture`; it exists once the script
/// has started Ray on the job's nodes.
inline constexpr const char* kRayStartedMarkerFile = "ray_started";

/// Records a command as a launch, with the environment variables, working directory and files of
/// this process.
void record_launch_command(const ScriptCaptureContext& context, const Words& argv);

/// Records a command as skipped: it was neither run nor recorded as a launch.
void record_skipped_command(const ScriptCaptureContext& context, const Words& words);

/// Returns the environment variables to record with a launch: those that differ from `before` (the
/// environment when the script started) and those that matter for training (NCCL_*, CUDA_*,
/// SLURM_*, ...), without secrets and without the variables of `stepwright capture`.
std::map<std::string, std::string> environment_to_record(
    const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now,
    const std::string& folder);

}  // namespace stepwright::capture
