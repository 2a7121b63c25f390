#pragma once

#include <map>
#include <string>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// File in a capture's folder whose existence says that the script started Ray on the job's nodes.
inline constexpr const char* kRayStartedFile = "ray_started";

/// Records a command as a launch, with the environment, folder and files of this process.
void record_launch(const CaptureContext& context, const Words& argv);

/// Records a command as one that did nothing.
void record_skipped_command(const CaptureContext& context, const Words& words);

/// Returns the variables to record, without secrets and without the capture's own: those that
/// differ from the environment in which the capture was started (`before`), and those that matter
/// for training (NCCL_*, CUDA_*, SLURM_*, ...).
std::map<std::string, std::string> recorded_environment(
    const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now,
    const std::string& folder);

}  // namespace stepwright::capture
