#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "stepwright/checkpoint/index.h"

namespace stepwright::checkpoint {

/// Returns the name of a committed checkpoint: `step-00000010`.
std::string checkpoint_name(std::int64_t step);

/// Returns the committed checkpoint of the highest step in a directory; nullopt if there is none.
std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& directory);

/// Returns `path` if it is a checkpoint's directory, else the last checkpoint in that directory.
/// Fails with `kInput` when there is neither.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

/// A lock on a directory that one run holds at a time, also across machines that share the
/// directory.
class DirectoryLock {
 public:
  /// Creates the directory if needed, and locks it. Fails with `kInput` while another run holds the
  /// lock or when the directory cannot be written.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int file_ = -1;
};

/// Returns the folder into which a run's ranks write a checkpoint before it is committed. `run`
/// differs between runs, so that a left-over rank of a dead run never writes into the folder of a
/// live one.
std::filesystem::path writing_directory(const std::filesystem::path& directory, std::int64_t step,
                                        const std::string& run);

/// Removes folders that were not committed. The caller holds the lock.
void remove_uncommitted(const std::filesystem::path& directory);

/// Turns the files that ranks wrote into a committed checkpoint: index, sync, rename, sync. After a
/// crash the checkpoint is either complete or absent. Fails with `kRuntime`.
void commit(const std::filesystem::path& writing, const std::filesystem::path& directory,
            const CheckpointIndex& index);

/// Removes all but the last `keep` committed checkpoints; each is renamed first, so that a crash
/// leaves it whole or uncommitted. The caller holds the lock.
void remove_old_checkpoints(const std::filesystem::path& directory, std::int64_t keep);

}  // namespace stepwright::checkpoint
