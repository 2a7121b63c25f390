#pragma once

#include <cstddef>
#include <filesystem>

namespace stepwright {

/// Largest number of unfinished files and folders that a signal handler can remove; further ones
/// stay.
inline constexpr std::size_t kMaxUnfinishedPaths = 32;

/// Registers a file or folder that is being written, so that it is removed if a signal ends the
/// program before this object is destroyed (`remove_unfinished_files_at_signals`). Construct it
/// before the file is created.
class UnfinishedPath {
 public:
  explicit UnfinishedPath(const std::filesystem::path& path);
  /// Unregisters the path, because its owner has completed or removed the file.
  ~UnfinishedPath();
  UnfinishedPath(const UnfinishedPath&) = delete;
  UnfinishedPath& operator=(const UnfinishedPath&) = delete;

 private:
  /// Index of the path in the table of unfinished paths; `kMaxUnfinishedPaths`: not registered,
  /// because the table is full.
  std::size_t slot_ = kMaxUnfinishedPaths;
};

/// Returns the unfinished path at an index of the table; null if the entry is free. May be called
/// in signal handlers.
const char* unfinished_path(std::size_t slot);

/// Installs signal handlers: if SIGINT, SIGTERM or SIGHUP ends this process, its unfinished files
/// and folders (`UnfinishedPath`) are removed first. Ignored signals stay ignored, and a forked
/// child that has not started its program removes nothing. For commands only; a library leaves
/// signals to its owner.
void remove_unfinished_files_at_signals();

}  // namespace stepwright
