#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace stepwright::capture {

/// Returns all descendants of a process, without zombies (processes that ended but were not waited
/// for).
std::vector<pid_t> descendant_processes(pid_t root);

/// Returns the processes of a script under `stepwright capture`: their environment names this
/// temporary folder of `stepwright capture`. This process is left out.
std::vector<pid_t> processes_of_capture(const std::filesystem::path& folder);

/// Sends a signal (such as SIGTERM) to each process of a list.
void signal_processes(const std::vector<pid_t>& processes, int signal);

/// Opens /dev/null for each of standard input, output and error that is closed, so that no later
/// opened file gets its number.
void open_closed_standard_descriptors();

/// Returns the exit code that a shell would report for a waitpid status: 128 plus the signal for a
/// process that a signal ended.
int shell_exit_code(int status);

}  // namespace stepwright::capture
