#include "stepwright/core/output_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "stepwright/core/error.h"

namespace stepwright {

namespace fs = std::filesystem;

void fail_to_write(const fs::path& path, std::string_view reason) {
  throw Error(ErrorKind::kRuntime, fmt::format("{}: cannot be written: {}", path.string(), reason));
}

void fail_to_write(const fs::path& path) {
  fail_to_write(path, std::generic_category().message(errno));
}

void check_writable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) fail_to_write(path, "it is a directory");
  if (fs::exists(status)) {
    if (::access(path.c_str(), W_OK) != 0) fail_to_write(path);
    return;
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::file_status above = fs::status(folder, error);
  if (fs::exists(above) && !fs::is_directory(above)) fail_to_write(path, "Not a directory");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail_to_write(path);
}

}  // namespace stepwright
