#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

#include "stepwright/core/descriptor.h"
#include "stepwright/core/unfinished_path.h"

namespace stepwright {

/// A file that is written whole or not at all. The bytes go to a new file beside it
/// (PATH.part-XXXXXXXX), which is flushed to disk before it is renamed. It keeps the mode and,
/// where this user may set it, the owner of the file that it replaces. A symbolic link stays; its
/// target is replaced or created. Pipes and devices are written to directly, /dev/stdout through
/// the open descriptor.
///
/// Every member fails with `kRuntime`, naming the file and the reason; the old file is then
/// unchanged and no new file is left beside it. A signal that ends a command also leaves none
/// (`unfinished_path.h`).
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  /// Removes the new file if `finish` was not called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Renames the new file to its final name. Nothing can be written afterwards.
  void finish();

 private:
  std::filesystem::path path_;    ///< Path as the user gave it, for messages.
  std::filesystem::path target_;  ///< Final path, with links followed.
  std::filesystem::path part_;    ///< The new file beside it; empty: written directly, or finished.
  std::optional<UnfinishedPath> unfinished_;  ///< Removes `part_` if a signal ends the program.
  Descriptor file_;
};

/// Writes a whole file with the function `write`; replaces or fails as `OutputFile` does.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& path, std::string_view text);

/// A file to which lines are appended while a program runs. Links are followed as for `OutputFile`.
/// Every member fails with `kRuntime`, naming the file and the reason.
class AppendedFile {
 public:
  /// Opens the file at its end, and creates it if it does not exist.
  explicit AppendedFile(std::filesystem::path path);

  /// Appends a text whole: if the disk accepts only part of it, that part is removed again.
  void add(std::string_view text);
  /// Closes the file. Some file systems report only here that bytes could not be written.
  void close();

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace stepwright
