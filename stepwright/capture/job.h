#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// A batch job as a scheduler such as Slurm would start it on its first node.
struct Job {
  BatchJobAllocation allocation;
  std::filesystem::path script;  ///< Absolute path of the batch script; empty: none.
};

/// Completes a batch job of a script under `stepwright capture`: sets the nodes and devices that
/// the user states (which override the script's options), the job's name, and a job number that no
/// other job of the script has.
void fill_in_batch_job(const ScriptCaptureContext& context, Job& job);

/// Turns this process into the batch step of a job: sets the environment variables that the
/// scheduler would set.
void set_batch_job_environment(ScriptCaptureContext& context, const Job& job);

/// Returns the batch job of a command that runs a batch script without its scheduler: `bash FILE`
/// or `./FILE` where FILE has `#SBATCH`, `#PBS`, `#BSUB` or `#$` lines, or uses SLURM_ variables
/// while the user states the nodes. nullopt: not a batch script, or this process is already in a
/// job.
std::optional<Job> batch_job_of_command(const ScriptCaptureContext& context, const Words& words);

/// Returns the task indices of a job array's option: "0-6:2,9%4" gives 0, 2, 4, 6, 9. At most
/// 10,000.
std::vector<std::string> job_array_task_indices(std::string_view array);

/// Returns the text of a script file; empty if it cannot be read.
std::string read_script_file_text(const std::filesystem::path& path);

}  // namespace stepwright::capture
