#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace stepwright {

/// Where the bytes of an output are written.
struct OutputTarget {
  std::filesystem::path path;  ///< Path with links followed, even if the file does not exist.
  /// Descriptor to write to, for /dev/stdout and similar paths; nullopt: write to `path`.
  std::optional<int> descriptor;
  bool is_plain = true;  ///< False: a pipe or a device, which is written to directly.
};

/// Finds where an output is written. Fails with `kRuntime`, naming the file and the reason, if the
/// path is a directory, a disk, a socket, a loop of links or in something that is not a folder;
/// with `kInput` for "-".
OutputTarget output_target(const std::filesystem::path& path);

/// True if two outputs are the same plain file, also through links or different spellings. Fails as
/// `output_target`.
bool is_same_output(const std::filesystem::path& a, const std::filesystem::path& b);

/// Checks that a file can be written at a path, without touching it, before the work that computes
/// its content. Fails as `output_target`, and if its folder does not exist or may not be written
/// to, or the file itself may not be written to.
void check_writable(const std::filesystem::path& path);

/// Fails with `kInput` if anything exists under this path, even a link whose target is missing.
void check_path_absent(const std::filesystem::path& path);

/// Throws an error of kind `kRuntime`: "FILE: cannot be written: REASON". Without `reason`, it is
/// taken from `errno`, with what to do if a folder is missing or refuses files.
[[noreturn]] void fail_to_write(const std::filesystem::path& path);
[[noreturn]] void fail_to_write(const std::filesystem::path& path, std::string_view reason);

}  // namespace stepwright
