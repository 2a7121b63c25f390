#pragma once

#include <cstddef>
#include <filesystem>

namespace stepwright {

/// The most unfinished files and folders that a signal handler can remove; further ones are not
/// removed.
inline constexpr std::size_t kMaxUnfinishedPaths = 32;

/// The path of a file or folder that is being written. If a signal ends the program before the
/// object is destroyed, the file is removed (`remove_unfinished_at_signals`). Construct it before
/// the file is created.
class UnfinishedPath {
 public:
  explicit UnfinishedPath(const std::filesystem::path& path);
  /// Forgets the path; the owner has already completed or removed the file.
  ~UnfinishedPath();
  UnfinishedPath(const UnfinishedPath&) = delete;
  UnfinishedPath& operator=(const UnfinishedPath&) = delete;

 private:
  /// Index in the table of paths; `kMaxUnfinishedPaths`: not registered.
  std::size_t slot_ = kMaxUnfinishedPaths;
};

/// Returns the path in a slot of the table of unfinished paths; null if the slot is free. Safe in
/// signal handlers.
const char* unfinished_path(std::size_t slot);

/// Installs handlers: SIGINT, SIGTERM and SIGHUP, if they end this process, first remove its
/// unfinished files and folders (with the files in them). A signal that is ignored stays ignored,
/// and a forked child that has not started its program removes nothing. For commands only; a
/// library leaves signals to its owner.
void remove_unfinished_at_signals();

}  // namespace stepwright
