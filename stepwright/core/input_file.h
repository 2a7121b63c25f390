#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "stepwright/core/descriptor.h"

namespace stepwright {

/// How long a reader waits until somebody opens the other end of a named pipe.
inline constexpr std::chrono::milliseconds kWaitForWriter{10'000};

/// A file that is read from front to back: a plain file, a pipe or standard input. Every failure is
/// an `Error` of kind `kInput` with one of the sentences in docs/formats.md ("Files that are
/// read").
class InputFile {
 public:
  /// The files that may be opened; kPlain: plain files only, which can be mapped or read twice.
  enum class Kind { kAny, kPlain };

  /// Opens a file. Fails if it does not exist, is a directory, is a device other than standard
  /// input, is not of the asked kind or cannot be opened. A named pipe that no process opens for
  /// writing fails at the first `read`, after `wait`.
  explicit InputFile(std::filesystem::path path, Kind kind = Kind::kAny,
                     std::chrono::milliseconds wait = kWaitForWriter);

  /// Reads the next bytes into `into`. Returns their number: as many as fit, fewer at the end of
  /// the file, 0 beyond it. Waits for a pipe as long as a process has it open for writing. Fails if
  /// the system cannot continue, and if a plain file is a kernel stream that has no data now.
  std::size_t read(std::span<char> into);

  /// Reads the rest of the file. Fails if it has more than `most_bytes`.
  std::string rest(std::size_t most_bytes);

  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// Returns the size of a plain file when it was opened, in bytes; 0 for pipes.
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::size_t read_some(std::span<char> into);

  std::filesystem::path path_;
  Descriptor file_;
  std::size_t size_bytes_ = 0;
  bool may_be_silent_ = false;  ///< True for pipes and devices, where a read waits for a writer.
  /// Time to wait for a writer to open the pipe; nullopt: do not wait.
  std::optional<std::chrono::milliseconds> wait_;
};

/// Reads a whole file of at most `most_bytes`. Fails as `InputFile` does.
std::string read_input(const std::filesystem::path& path, std::size_t most_bytes);

/// Reads a plain file if possible; nullopt if the path is not a plain file, cannot be read or has
/// more than `most_bytes`.
std::optional<std::string> read_regular_file(const std::filesystem::path& path,
                                             std::size_t most_bytes);

/// Reads at most the given number of first bytes of a plain file; nullopt as `read_regular_file`.
std::optional<std::string> read_regular_file_start(const std::filesystem::path& path,
                                                   std::size_t most_bytes);

/// True if a file, folder or device exists at a path, with links followed. Fails with `kInput` if
/// the system cannot tell: a loop of links, a folder that may not be entered.
bool path_exists(const std::filesystem::path& path);

/// True if a path is a directory, links followed. Fails as `path_exists` does.
bool is_folder(const std::filesystem::path& path);

/// True if a path is a plain file, links followed. Fails as `path_exists` does.
bool is_plain_file(const std::filesystem::path& path);

}  // namespace stepwright
