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

/// A file that is written whole or not at all: into a new file beside it (PATH.part-XXXXXXXX),
/// which is on the disk when it takes the name. It keeps the mode, and where this user may set it
/// the owner, of the file that it replaces. A symbolic link stays, and its target is replaced or
/// made. Pipes and devices are written to directly, /dev/stdout through the open descriptor.
///
/// Every member fails with `kRuntime`, naming the file and the reason; then the old file is whole
/// and nothing is left beside it. A signal that ends a command leaves nothing there either
/// (`unfinished_path.h`).
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  /// Removes what was not finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Gives the file its name. Nothing can be written after it.
  void finish();

 private:
  std::filesystem::path path_;    ///< Path as the person gave it, for messages.
  std::filesystem::path target_;  ///< The name to take.
  std::filesystem::path part_;    ///< The file beside it; empty: written directly, or finished.
  std::optional<UnfinishedPath> unfinished_;  ///< Removes `part_` if a signal ends the program.
  Descriptor file_;
};

/// Writes a whole file as `OutputFile` does.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& path, std::string_view text);

/// A file to which lines are added while a program runs. It is found where `OutputFile` would write
/// it. Every member fails with `kRuntime`, naming the file and the reason.
class AppendedFile {
 public:
  /// Opens the file at its end, and makes it if it is not there.
  explicit AppendedFile(std::filesystem::path path);

  /// Adds a text whole: if the disk takes a part of it only, that part is removed again.
  void add(std::string_view text);
  /// Ends the file. Some file systems report only here what they could not write.
  void close();

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace stepwright
