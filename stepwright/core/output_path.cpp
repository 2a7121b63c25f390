#include "stepwright/core/output_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

#include "stepwright/core/error.h"
#include "stepwright/core/name.h"

namespace stepwright {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // The limit of Linux.

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Returns the open descriptor that a path such as /dev/fd/1 refers to; nullopt for other paths.
std::optional<int> descriptor_of(const fs::path& path) {
  std::error_code error;
  const std::string name = path.filename().string();
  int descriptor = -1;
  const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), descriptor);
  if (wrong != std::errc() || end != name.data() + name.size()) return std::nullopt;
  const fs::path open = fs::canonical("/proc/self/fd", error);
  if (error || fs::canonical(folder_of(path), error) != open || error) return std::nullopt;
  return descriptor;
}

}  // namespace

void fail_to_write(const fs::path& path, std::string_view reason) {
  throw Error(ErrorKind::kRuntime, fmt::format("{}: cannot be written: {}", path.string(), reason));
}

void fail_to_write(const fs::path& path) {
  const int reason = errno;
  const fs::path folder = folder_of(path);
  std::error_code error;
  const char* advice = "";
  if (reason == ENOENT) {
    advice = fs::exists(folder, error) ? "; its folder takes no new files: name another"
                                       : "; make its folder first";
  }
  fail_to_write(path, std::generic_category().message(reason) + advice);
}

OutputTarget resolve_output_target(const fs::path& path) {
  if (path == "-") {
    fail_input("-: is not taken as an output; /dev/stdout is standard output, ./- a file");
  }
  if (const std::string fault = invalid_name_reason(path.string(), kLongestPath); !fault.empty()) {
    fail_input("an output " + fault);
  }
  OutputTarget target{.path = path, .descriptor = {}};
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target.path, error)); ++links) {
    target.descriptor = descriptor_of(target.path);
    if (target.descriptor) break;
    if (links == kMostLinks) fail_to_write(path, std::generic_category().message(ELOOP));
    const fs::path next = fs::read_symlink(target.path, error);
    if (error) fail_to_write(path, error.message());
    target.path = folder_of(target.path) / next;
  }
  const fs::file_status status = fs::status(target.path, error);
  if (error && status.type() != fs::file_type::not_found) fail_to_write(path, error.message());
  if (fs::is_directory(status)) fail_to_write(path, "it is a directory; name a file in it");
  if (fs::is_block_file(status)) fail_to_write(path, "it is a disk; name a file");
  if (fs::is_socket(status)) fail_to_write(path, "it is a socket; name a file or a pipe");
  target.is_plain = !target.descriptor && (!fs::exists(status) || fs::is_regular_file(status));
  return target;
}

bool is_same_output_file(const fs::path& a, const fs::path& b) {
  const OutputTarget one = resolve_output_target(a), other = resolve_output_target(b);
  std::error_code error;
  if (!one.is_plain || !other.is_plain) return false;
  if (fs::equivalent(one.path, other.path, error)) return true;
  const bool same_folder = fs::equivalent(folder_of(one.path), folder_of(other.path), error);
  return same_folder && one.path.filename() == other.path.filename();
}

void check_output_file_writable(const fs::path& path) {
  const OutputTarget target = resolve_output_target(path);
  if (target.descriptor) return;
  if (::access(target.path.c_str(), W_OK) != 0 && errno != ENOENT) fail_to_write(path);
  if (!target.is_plain) return;
  const fs::path folder = folder_of(target.path);
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  if (errno != EACCES) fail_to_write(path);
  // The new file is created beside the old one, so the folder must be writable.
  fail_to_write(path,
                fmt::format("{}: {}", folder.string(), std::generic_category().message(EACCES)));
}

void check_path_absent(const fs::path& path) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    fail_input(fmt::format("{}: exists already", path.string()));
  }
}

}  // namespace stepwright
