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

/// A file that is written whole or not at all: bytes go to a temporary file beside it
/// (PATH.part-XXXXXXXX), which is flushed to disk and then renamed. Mode and, where allowed, owner
/// of a replaced file are kept. A symbolic link stays, and its target is replaced. Pipes and
/// devices are written to directly.
///
/// Every member fails with `kRuntime`, naming the file and the reason. After a failure or a signal
/// that ends a command, the old file is unchanged and no temporary file is left.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  /// Removes the temporary file, so that the old file stays unchanged, if `finish` was not called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Ends the writing: renames the temporary file to the output's final name. Nothing can be
  /// written afterwards.
  void finish();

 private:
  std::filesystem::path path_;    ///< Path of the file as the user gave it, for messages.
  std::filesystem::path target_;  ///< Path of the final file, with links followed.
  /// Path of the temporary file; empty: written directly, or finished.
  std::filesystem::path part_;
  /// Removes the temporary file if a signal ends the program.
  std::optional<UnfinishedPath> unfinished_;
  FileDescriptor file_;
};

/// Writes a whole file or nothing: `write` produces the content, which replaces an existing file
/// only if all of it was written. Fails with `kRuntime`.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& path, std::string_view text);

/// A file to which texts are appended while a program runs. Every member fails with `kRuntime`,
/// naming the file and the reason.
class AppendedFile {
 public:
  /// Opens the file at its end, and creates it if it does not exist.
  explicit AppendedFile(std::filesystem::path path);

  /// Appends a text completely or not at all: if the disk accepts only a part, that part is removed
  /// again.
  void add(std::string_view text);
  /// Closes the file. Fails if the file system reports only now that bytes could not be written.
  void close();

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace stepwright
