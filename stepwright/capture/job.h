#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// A batch job as a scheduler would start it on its first node.
struct Job {
  Allocation allocation;
  std::filesystem::path script;  ///< Absolute path of the script; empty: none.
};

/// Completes a job: nodes and devices that the user states (they override the job's options), the
/// name, and a job number that is unique in the capture.
void fill_in_batch_job(const CaptureContext& context, Job& job);

/// Makes this process the batch step of a job: sets the scheduler's variables and the context.
void become_batch_job(CaptureContext& context, const Job& job);

/// Returns the job that a command starts as a batch script without its scheduler: `bash FILE` or
/// `./FILE` with `#SBATCH`, `#PBS`, `#BSUB` or `#$` lines, or with SLURM_ variables if the user
/// states the nodes. nullopt if it starts none, or if this process runs in a job already.
std::optional<Job> batch_job_of_command(const CaptureContext& context, const Words& words);

/// Returns the indices of a job array: "0-6:2,9%4" gives 0, 2, 4, 6, 9. At most 10,000.
std::vector<std::string> array_indices(std::string_view array);

/// Returns the contents of a file; empty if it cannot be read.
std::string script_text(const std::filesystem::path& path);

}  // namespace stepwright::capture
