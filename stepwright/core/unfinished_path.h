#pragma once

#include <cstddef>
#include <filesystem>

namespace stepwright {

/// The most paths that are unfinished at a time; those beyond are not removed by a signal.
inline constexpr std::size_t kMostUnfinished = 32;

/// Name of a file or folder that is being written, and must not stay where the program is ended
/// before it is whole. A signal removes it (`remove_unfinished_at_signals`): register the name
/// before the file is made.
class UnfinishedPath {
 public:
  explicit UnfinishedPath(const std::filesystem::path& path);
  /// Forgets the name; whoever registered it has finished or removed the file.
  ~UnfinishedPath();
  UnfinishedPath(const UnfinishedPath&) = delete;
  UnfinishedPath& operator=(const UnfinishedPath&) = delete;

 private:
  std::size_t slot_ = kMostUnfinished;  ///< Slot of the path; `kMostUnfinished`: not registered.
};

/// The path in a slot of the table; null if the slot is free. Safe in handlers of signals.
const char* unfinished_path(std::size_t slot);

/// From now on SIGINT, SIGTERM and SIGHUP, where they end this process, first remove its unfinished
/// files and folders (with the files in them). A signal that is ignored stays ignored, and a child
/// process that has not started its program removes nothing. For commands; a library leaves signals
/// to its owner.
void remove_unfinished_at_signals();

}  // namespace stepwright
