#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace stepwright {

/// Where the bytes of an output go.
struct OutputTarget {
  std::filesystem::path path;  ///< The path with its links followed, also to a missing file.
  /// Descriptor to write to, for /dev/stdout and its like; nullopt: a path.
  std::optional<int> descriptor;
  bool is_plain = true;  ///< False: a pipe or a device, which is written to directly.
};

/// Finds where an output goes. Fails with `kRuntime`, naming the file and the reason, when that is
/// a directory, a disk, a socket, a loop of links or in a folder that is none; with `kInput` for
/// "-".
OutputTarget output_target(const std::filesystem::path& path);

/// True if two outputs are one plain file, whatever links and spellings name it. Fails as
/// `output_target`.
bool is_same_output(const std::filesystem::path& a, const std::filesystem::path& b);

/// Fails as `output_target` does, and when a file of that path cannot be written: its folder does
/// not exist or may not be written to, or the file itself may not be. Nothing is touched, so that
/// it can be asked before the work whose result goes there.
void check_writable(const std::filesystem::path& path);

/// Fails with `kInput` when something has this name already, also a link to nothing.
void check_absent(const std::filesystem::path& path);

/// Fails with `kRuntime`: "FILE: cannot be written: REASON"; the reason is that of `errno` if not
/// given, with what to do where a folder is missing or takes no files.
[[noreturn]] void fail_to_write(const std::filesystem::path& path);
[[noreturn]] void fail_to_write(const std::filesystem::path& path, std::string_view reason);

}  // namespace stepwright
