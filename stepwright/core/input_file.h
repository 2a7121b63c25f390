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
/// an `Error` of kind `kInput` with one of the sentences of docs/formats.md ("Files that are
/// read").
class InputFile {
 public:
  /// Which files are opened. Only a plain file can be mapped or read twice.
  enum class Kind { kAny, kPlain };

  /// Opens a file. Fails when it is not there, is a directory, is a device other than standard
  /// input, is not of the kind or cannot be opened. A pipe that nobody has opened for writing fails
  /// at the first `read`, after `wait`.
  explicit InputFile(std::filesystem::path path, Kind kind = Kind::kAny,
                     std::chrono::milliseconds wait = kWaitForWriter);

  /// Reads the next bytes: as many as fit, fewer at the end, 0 behind it. Waits for a pipe as long
  /// as somebody has it open for writing. Fails when the system cannot read on, and where a plain
  /// file is a stream of the kernel that has nothing to say now.
  std::size_t read(std::span<char> into);

  /// Reads all that is left. Fails when that is more than `most_bytes`.
  std::string rest(std::size_t most_bytes);

  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// Bytes of a plain file when it was opened; 0 for pipes.
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::size_t read_some(std::span<char> into);

  std::filesystem::path path_;
  Descriptor file_;
  std::size_t size_bytes_ = 0;
  bool may_be_silent_ = false;  ///< A reader waits for those who write: no plain file.
  /// Time to wait for a writer; nullopt: none is waited for.
  std::optional<std::chrono::milliseconds> wait_;
};

/// Reads a whole file of at most `most_bytes`. Fails as `InputFile` does.
std::string read_input(const std::filesystem::path& path, std::size_t most_bytes);

/// Reads a plain file that need not be one: nullopt for anything else, for a file that cannot be
/// read and for one of more than `most_bytes`.
std::optional<std::string> read_if_plain(const std::filesystem::path& path, std::size_t most_bytes);

/// Reads the first bytes of a plain file, at most so many; nullopt as `read_if_plain`.
std::optional<std::string> start_if_plain(const std::filesystem::path& path,
                                          std::size_t most_bytes);

/// True if something is at a path, links followed. Fails with `kInput` when the system cannot say:
/// a loop of links, a folder that may not be entered.
bool is_there(const std::filesystem::path& path);

/// True if a path is a directory, links followed. Fails as `is_there` does.
bool is_folder(const std::filesystem::path& path);

/// True if a path is a plain file, links followed. Fails as `is_there` does.
bool is_plain_file(const std::filesystem::path& path);

}  // namespace stepwright
