#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/lack.h"

namespace stepwright::runtime {

/// The rank of a process among those that a launcher started.
struct LaunchedRank {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::string launcher;  ///< Name of the launcher: "torchrun", "slurm" or "mpirun".
};

/// Reads RANK and WORLD_SIZE (torchrun), SLURM_PROCID and SLURM_NTASKS, or OMPI_COMM_WORLD_RANK and
/// _SIZE; nullopt if no launcher started this process. Fails with `kInput` for a rank outside of
/// its world, or a local rank outside of its machine.
std::optional<LaunchedRank> launched_rank();

/// Returns the number of this process among those of its machine, from its launcher (LOCAL_RANK,
/// SLURM_LOCALID, OMPI_COMM_WORLD_LOCAL_RANK); 0 without a launcher.
std::int64_t local_rank();

/// Says that the training program is missing next to this one, and how to build it; nullopt if it
/// is there.
std::optional<MissingRequirement> missing_rank_program();

/// Returns the path of the training program, next to this one. Fails with `kUnsupported`, saying
/// how to build it, if it is missing.
std::filesystem::path rank_program();

/// A rank that was ended by a signal.
struct KilledRank {
  std::int64_t rank = 0;
  int signal = 0;
  /// True if the kernel killed processes for lack of memory in the meantime.
  bool out_of_memory = false;
};

/// Returns a text about a killed rank: "rank 1 was ended by signal 9 (Killed)", with the reason
/// where it is known.
std::string killed_rank_text(const KilledRank& killed);

/// How the ranks of a run ended.
struct RanksEnding {
  int code = 0;  ///< Exit code of the first rank that failed; 0: none did.
  /// The first rank killed by a signal that this process did not send; nullopt: none.
  std::optional<KilledRank> killed;
  int interrupted = 0;  ///< The signal by which this process was asked to end; 0: none.
};

/// Starts `ranks` processes of a program on this machine with RANK, WORLD_SIZE, MASTER_ADDR and
/// MASTER_PORT set, and waits for them. When one fails, the others have `grace` to end by
/// themselves and are then killed; when this process is asked to end, it asks them to end, too.
RanksEnding run_ranks(const std::filesystem::path& program,
                      const std::vector<std::string>& arguments, std::int64_t ranks,
                      std::chrono::seconds grace);

/// Replaces this process by `program`. Does not return; fails with `kRuntime`.
[[noreturn]] void exec_in_place(const std::filesystem::path& program,
                                const std::vector<std::string>& arguments);

}  // namespace stepwright::runtime
