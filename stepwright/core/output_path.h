#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace stepwright {

/// Where the bytes of an output file go: a path or an open descriptor.
struct OutputTarget {
  std::filesystem::path path;  ///< Path with links followed, even if the file does not exist yet.
  /// Open file descriptor to write to, for /dev/stdout and similar paths; nullopt: write to `path`.
  std::optional<int> descriptor;
  bool is_plain = true;  ///< False: the path is a pipe or device, which is written to directly.
};

/// Finds where an output is to be written. Fails with `kRuntime`, naming the file and the reason,
/// if the path is a directory, a disk, a socket, a loop of links or inside something that is not a
/// folder; with `kInput` for "-".
OutputTarget resolve_output_target(const std::filesystem::path& path);

/// True if two output paths are the same plain file, also through links or different spellings.
/// Fails with `kRuntime` if one of them cannot be an output.
bool is_same_output_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Checks, before the work that computes a file's content, that the file can be written; does not
/// touch it. Fails with `kRuntime` if path, folder or file cannot be written to.
void check_output_file_writable(const std::filesystem::path& path);

/// Fails with `kInput` if anything exists at a path, even a link whose target is missing.
void check_path_absent(const std::filesystem::path& path);

/// Throws an error of kind `kRuntime`: "FILE: cannot be written: REASON". Without `reason`, the
/// reason is that of `errno`, with what to do if a folder is missing or may not be written to.
[[noreturn]] void fail_to_write(const std::filesystem::path& path);
[[noreturn]] void fail_to_write(const std::filesystem::path& path, std::string_view reason);

}  // namespace stepwright
