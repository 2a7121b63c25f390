#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/lack.h"

namespace stepwright::runtime {

/// The place of a process among those that a launcher started.
struct LaunchedRank {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::string launcher;  ///< "torchrun", "slurm" or "mpirun".
};

/// Reads RANK and WORLD_SIZE (torchrun), SLURM_PROCID and SLURM_NTASKS, OMPI_COMM_WORLD_RANK and
/// _SIZE; nullopt if no launcher started this process. Fails with `kInput` for a rank that is
/// outside of its world, and for the number of `local_rank` outside of its machine.
std::optional<LaunchedRank> launched_rank();

/// The number of this process among those of its machine, as its launcher says (LOCAL_RANK,
/// SLURM_LOCALID, OMPI_COMM_WORLD_LOCAL_RANK); 0 without one.
std::int64_t local_rank();

/// The lack of the program that trains beside this one, and how to build it; nullopt if it is
/// there.
std::optional<Lack> missing_rank_program();

/// The program that trains, beside this one. Fails with `kUnsupported`, saying how to build it,
/// when it is not there.
std::filesystem::path rank_program();

/// A rank that a signal ended.
struct KilledRank {
  std::int64_t rank = 0;
  int signal = 0;
  bool out_of_memory = false;  ///< The kernel ended processes for lack of memory meanwhile.
};

/// "rank 1 was ended by signal 9 (Killed)", and why where that is known.
std::string killed_rank_text(const KilledRank& killed);

/// How the ranks of a run ended.
struct RanksEnding {
  int code = 0;                      ///< Exit code of the first that failed; 0: none did.
  std::optional<KilledRank> killed;  ///< The first that no one asked to end.
  int interrupted = 0;               ///< The signal by which this process was asked to end, or 0.
};

/// Starts `ranks` processes of a program on this machine with RANK, WORLD_SIZE, MASTER_ADDR and
/// MASTER_PORT set, and waits for them. When one fails, the others get `grace` to end by
/// themselves and are then killed; when this process is asked to end, they are asked too.
RanksEnding run_ranks(const std::filesystem::path& program,
                      const std::vector<std::string>& arguments, std::int64_t ranks,
                      std::chrono::seconds grace);

/// Replaces this process by the program. Does not return; fails with `kRuntime`.
[[noreturn]] void become(const std::filesystem::path& program,
                         const std::vector<std::string>& arguments);

}  // namespace stepwright::runtime
