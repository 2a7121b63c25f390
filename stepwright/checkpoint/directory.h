#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "stepwright/checkpoint/index.h"

namespace stepwright::checkpoint {

/// Returns the folder name of the checkpoint after a step: `step-00000010`.
std::string checkpoint_folder_name(std::int64_t step);

/// Returns the path of the complete checkpoint with the highest step in a directory; nullopt if
/// there is none.
std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& directory);

/// Returns `path` if it is a checkpoint's folder, else the last complete checkpoint in the
/// directory `path`. Fails with `kInput` if there is neither.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

/// A lock on a checkpoint directory: only one training run can hold it, also across machines that
/// share the directory.
class DirectoryLock {
 public:
  /// Creates the directory if needed, and locks it. Fails with `kInput` if another run holds the
  /// lock or the directory cannot be written.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int file_ = -1;
};

/// Returns the temporary folder into which a run's ranks write a checkpoint until it is complete.
/// `run`: a word that differs between runs, so that a left-over rank of a dead run never writes
/// into a live run's folder.
std::filesystem::path uncommitted_checkpoint_directory(const std::filesystem::path& directory,
                                                       std::int64_t step, const std::string& run);

/// Removes folders of incomplete checkpoints from a directory. The caller must hold the directory's
/// lock.
void remove_uncommitted_checkpoints(const std::filesystem::path& directory);

/// Completes a checkpoint from the files that all ranks wrote: writes the index, syncs, renames the
/// folder, syncs. After a crash the checkpoint is either complete or absent. Fails with `kRuntime`.
void commit_checkpoint_folder(const std::filesystem::path& writing,
                              const std::filesystem::path& directory, const CheckpointIndex& index);

/// Removes all but the last `keep` complete checkpoints of a directory, without ever leaving a
/// half-removed one that looks complete. The caller must hold the directory's lock.
void remove_old_checkpoints(const std::filesystem::path& directory, std::int64_t keep);

}  // namespace stepwright::checkpoint
