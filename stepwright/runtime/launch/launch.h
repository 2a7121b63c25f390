#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/lack.h"

namespace stepwright::runtime {

/// Rank and world size that a launcher (torchrun, Slurm, mpirun) gave to this process.
struct LaunchedRank {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::string launcher;  ///< Name of the launcher: "torchrun", "slurm" or "mpirun".
};

/// Reads rank and world size from the launcher's environment: RANK and WORLD_SIZE (torchrun),
/// SLURM_PROCID and SLURM_NTASKS, or OMPI_COMM_WORLD_RANK and _SIZE. nullopt: no launcher started
/// this process. Fails with `kInput` for a rank outside of its world or a local rank outside of its
/// machine.
std::optional<LaunchedRank> rank_from_launcher_environment();

/// Returns the index of this process among the ranks on its machine, from the launcher's
/// environment (LOCAL_RANK, SLURM_LOCALID, OMPI_COMM_WORLD_LOCAL_RANK); 0 without a launcher.
std::int64_t rank_on_this_machine();

/// Checks that the program `stepwright-rank` exists beside the running program. Returns what is
/// missing and how to build it; nullopt: it is there.
std::optional<MissingRequirement> missing_rank_program();

/// Returns the path of the program `stepwright-rank`, beside the running program. Fails with
/// `kUnsupported`, saying how to build it, if it is missing.
std::filesystem::path find_rank_program_path();

/// A rank process that was ended by a signal.
struct KilledRank {
  std::int64_t rank = 0;
  int signal = 0;
  /// True if the kernel's out-of-memory killer ended processes while the ranks ran.
  bool out_of_memory = false;
};

/// Describes how a rank was killed: "rank 1 was ended by signal 9 (Killed)", with the reason if it
/// is known.
std::string killed_rank_text(const KilledRank& killed);

/// Result of running several rank processes on this machine: which failed, and how.
struct RankProcessesOutcome {
  int code = 0;  ///< Exit code of the first rank that failed; 0: no rank failed.
  /// First rank killed by a signal that the launcher did not send; nullopt: none was.
  std::optional<KilledRank> killed;
  int interrupted = 0;  ///< Signal that asked this process, the launcher, to end; 0: none.
};

/// Starts `ranks` processes of a program on this machine, with RANK, WORLD_SIZE, MASTER_ADDR and
/// MASTER_PORT set, and waits for them. If one fails, the others have `grace` to end by themselves
/// before they are killed. If this process is asked to end, it asks the ranks to end.
RankProcessesOutcome run_rank_programs(const std::filesystem::path& program,
                                       const std::vector<std::string>& arguments,
                                       std::int64_t ranks, std::chrono::seconds grace);

/// Replaces this process by another program (exec). Does not return; fails with `kRuntime` if the
/// program cannot be started.
[[noreturn]] void exec_program_without_return(const std::filesystem::path& program,
                                              const std::vector<std::string>& arguments);

}  // namespace stepwright::runtime
