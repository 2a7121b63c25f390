#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "stepwright/checkpoint/index.h"

namespace stepwright::checkpoint {

/// The name of a committed checkpoint: `step-00000010`.
std::string checkpoint_name(std::int64_t step);

/// The committed checkpoint of the highest step in a directory; nullopt if there is none.
std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& directory);

/// A checkpoint's directory itself, or the last one in a directory of checkpoints. Fails with
/// `kInput` when there is neither.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

/// Held by one run at a time, also across machines that share the directory.
class DirectoryLock {
 public:
  /// Makes the directory where needed. Fails with `kInput` while another run holds the lock or when
  /// the directory cannot be written.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int file_ = -1;
};

/// The folder into which a run's ranks write a checkpoint before it is committed. `run` differs
/// from run to run, so that a left-over rank of a dead run never writes into a living one's.
std::filesystem::path writing_directory(const std::filesystem::path& directory, std::int64_t step,
                                        const std::string& run);

/// Removes what was not committed. The caller holds the lock.
void remove_uncommitted(const std::filesystem::path& directory);

/// Makes what ranks wrote a checkpoint: index, sync, rename, sync. Either all of it is there after
/// a crash or nothing is. Fails with `kRuntime`.
void commit(const std::filesystem::path& writing, const std::filesystem::path& directory,
            const CheckpointIndex& index);

/// Removes all but the last `keep` committed checkpoints; each is renamed first, so that a crash
/// leaves it whole or uncommitted. The caller holds the lock.
void remove_old_checkpoints(const std::filesystem::path& directory, std::int64_t keep);

}  // namespace stepwright::checkpoint
