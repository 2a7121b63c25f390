#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "stepwright/core/descriptor.h"

namespace stepwright {

/// Time that a reader of a named pipe waits until some process opens the pipe for writing.
inline constexpr std::chrono::milliseconds kNamedPipeWriterTimeout{10'000};

/// Reads a file from front to back: a plain file, a pipe or standard input. Every failure is an
/// `Error` of kind `kInput` with one of the sentences in docs/formats.md ("Files that are read").
class InputFileReader {
 public:
  /// Files that may be opened. kPlain: only plain files, which can be mapped or read twice.
  enum class FileKindToOpen { kAny, kPlain };

  /// Opens a file for reading. Fails if it does not exist, is a directory or a device other than
  /// standard input, is not of the required kind, or cannot be opened. A named pipe that no process
  /// opens for writing fails at the first `read_file_bytes`, after `wait`.
  explicit InputFileReader(std::filesystem::path path, FileKindToOpen kind = FileKindToOpen::kAny,
                           std::chrono::milliseconds wait = kNamedPipeWriterTimeout);

  /// Reads the next bytes of the file into `into`. Returns their number: as many as fit, fewer at
  /// the end of the file, 0 beyond it. Waits for a pipe while a process has it open for writing.
  /// Fails if the system cannot read, or if a plain file is a kernel stream without data now.
  std::size_t read_file_bytes(std::span<char> into);

  /// Returns the rest of the file. Fails if that is more than `most_bytes`.
  std::string read_rest_of_file(std::size_t most_bytes);

  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// Returns the size of a plain file when it was opened, in bytes; 0 for pipes.
  [[nodiscard]] std::size_t file_size_bytes() const { return size_bytes_; }

 private:
  std::size_t read_some(std::span<char> into);

  std::filesystem::path path_;
  FileDescriptor file_;
  std::size_t size_bytes_ = 0;
  /// True if the file is a pipe or device, where a read can wait for a writer.
  bool may_be_silent_ = false;
  /// Time to wait for a process to open the pipe for writing; nullopt: do not wait.
  std::optional<std::chrono::milliseconds> wait_;
};

/// Returns the content of a file, pipe or standard input. Fails with `kInput` if it cannot be read
/// or has more than `most_bytes`.
std::string read_file_or_standard_input(const std::filesystem::path& path, std::size_t most_bytes);

/// Returns the content of a plain file; nullopt if the path is no plain file, or the file cannot be
/// read or has more than `most_bytes`.
std::optional<std::string> read_regular_file(const std::filesystem::path& path,
                                             std::size_t most_bytes);

/// Returns the first bytes of a plain file, at most `most_bytes`; nullopt if the path is no plain
/// file or cannot be read.
std::optional<std::string> read_first_bytes_of_regular_file(const std::filesystem::path& path,
                                                            std::size_t most_bytes);

/// True if a file, folder or device exists at a path; links are followed. Fails with `kInput` if
/// the system cannot tell, because of a loop of links or a folder that may not be entered.
bool path_exists(const std::filesystem::path& path);

/// True if a path is a directory; links are followed. Fails with `kInput` if the system cannot
/// tell.
bool is_folder(const std::filesystem::path& path);

/// True if a path is a plain file; links are followed. Fails with `kInput` if the system cannot
/// tell.
bool is_plain_file(const std::filesystem::path& path);

}  // namespace stepwright
