#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace stepwright::capture {

/// Returns all descendants of a process, without zombies (processes that ended but were not waited
/// for).
std::vector<pid_t> descendants_of(pid_t root);

/// Returns the processes whose environment names this capture folder, except this process.
std::vector<pid_t> processes_of(const std::filesystem::path& folder);

/// Sends a signal to each of these processes.
void signal_all(const std::vector<pid_t>& processes, int signal);

/// Opens /dev/null for each of standard input, output and error that is closed, since the next
/// opened file would get its number.
void open_standard_descriptors();

/// Returns a shell's exit code for a waitpid status; for a process that a signal ended, 128 plus
/// the signal.
int exit_code_of(int status);

}  // namespace stepwright::capture
