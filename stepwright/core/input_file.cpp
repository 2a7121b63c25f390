#include "stepwright/core/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/name.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = std::size_t{64} << 10U;

[[noreturn]] void fail(const fs::path& path, std::string_view what) {
  const std::string shown = one_line_printable_text(path.string(), kLongestPath);
  fail_input(fmt::format("{}: {}", shown, what), {.file = path.string()});
}

[[noreturn]] void fail(const fs::path& path, std::string_view what, int error) {
  fail(path, fmt::format("{}: {}", what, std::generic_category().message(error)));
}

/// True if an `errno` means that nothing exists at the path.
bool means_absent(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

[[noreturn]] void fail_to_open(const fs::path& path, int error) {
  if (error == ENOENT || error == ENOTDIR) fail(path, "no such file");
  if (error == ENXIO) fail(path, "is a socket, not a file");
  fail(path, "cannot be read", error);
}

[[noreturn]] void fail_too_large(const fs::path& path, std::size_t most_bytes) {
  const bool whole = most_bytes >> 20U << 20U == most_bytes && most_bytes > 0;
  fail(path, whole ? fmt::format("larger than {} MiB", most_bytes >> 20U)
                   : fmt::format("larger than {} bytes", most_bytes));
}

/// Returns the file type at a path, with links followed; 0: nothing exists there.
mode_t kind_at(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode & S_IFMT;
  if (!means_absent(errno)) fail_to_open(path, errno);
  return 0;
}

/// True if an open device is the program's standard input.
bool is_standard_input(const struct stat& device) {
  struct stat input{};
  return ::fstat(STDIN_FILENO, &input) == 0 && S_ISCHR(input.st_mode) &&
         input.st_rdev == device.st_rdev;
}

/// Waits for the first bytes of a pipe, or for a writer that opens and closes it; false if neither
/// came in time. If a writer is connected but silent, the next read fails with EAGAIN.
bool somebody_writes(int pipe, std::chrono::milliseconds wait) {
  const auto until = std::chrono::steady_clock::now() + wait;
  pollfd watched{pipe, POLLIN, 0};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const int ready = ::poll(&watched, 1, std::max(0, static_cast<int>(left.count())));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

}  // namespace

InputFileReader::InputFileReader(fs::path path, FileKindToOpen kind, std::chrono::milliseconds wait)
    : path_(std::move(path)),
      // Without O_NONBLOCK, opening a named pipe without a writer would block here.
      file_(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
  if (!file_.is_open()) fail_to_open(path_, errno);
  struct stat status{};
  if (::fstat(file_.get(), &status) != 0) fail_to_open(path_, errno);
  if (S_ISDIR(status.st_mode)) fail(path_, "is a directory, not a file");
  if (S_ISREG(status.st_mode)) size_bytes_ = static_cast<std::size_t>(status.st_size);
  if (kind == FileKindToOpen::kPlain && !S_ISREG(status.st_mode)) fail(path_, "is no plain file");
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !is_standard_input(status))) {
    fail(path_, "is a device, not a file");
  }
  if (S_ISFIFO(status.st_mode)) wait_ = wait;
  may_be_silent_ = !S_ISREG(status.st_mode);
}

std::size_t InputFileReader::read_some(std::span<char> into) {
  for (bool waited = false;;) {
    const ssize_t got = ::read(file_.get(), into.data(), into.size());
    if (got == 0 && wait_ && waited) {
      fail(path_, fmt::format("is a pipe into which no program wrote within {} s",
                              std::chrono::duration<double>(*wait_).count()));
    }
    if (got == 0 && wait_) {
      waited = true;
      if (somebody_writes(file_.get(), *wait_)) wait_.reset();
    } else if (got >= 0) {
      wait_.reset();
      return static_cast<std::size_t>(got);
    } else if (errno == EAGAIN && !may_be_silent_) {
      fail(path_, "has no end: the system keeps writing to it");
    } else if (errno == EAGAIN) {  // a writer is connected, but silent
      wait_.reset();
      pollfd watched{file_.get(), POLLIN, 0};
      ::poll(&watched, 1, -1);
    } else if (errno != EINTR) {
      fail(path_, "cannot be read to its end", errno);
    }
  }
}

std::size_t InputFileReader::read_file_bytes(std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::size_t got = read_some(into.subspan(done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

std::string InputFileReader::read_rest_of_file(std::size_t most_bytes) {
  if (size_bytes_ > most_bytes) fail_too_large(path_, most_bytes);
  std::string text;
  text.reserve(size_bytes_ + kBlockBytes);
  for (std::size_t got = 1; got > 0;) {
    const std::size_t before = text.size();
    if (before > most_bytes) fail_too_large(path_, most_bytes);
    text.resize(before + kBlockBytes);
    got = read_file_bytes(std::span(text).subspan(before));
    text.resize(before + got);
  }
  return text;
}

std::string read_file_or_standard_input(const fs::path& path, std::size_t most_bytes) {
  return InputFileReader(path).read_rest_of_file(most_bytes);
}

std::optional<std::string> read_regular_file(const fs::path& path, std::size_t most_bytes) try {
  return InputFileReader(path, InputFileReader::FileKindToOpen::kPlain)
      .read_rest_of_file(most_bytes);
} catch (const Error&) {
  return std::nullopt;
}

std::optional<std::string> read_first_bytes_of_regular_file(const fs::path& path,
                                                            std::size_t most_bytes) try {
  InputFileReader file(path, InputFileReader::FileKindToOpen::kPlain);
  std::string start(most_bytes, '\0');
  start.resize(file.read_file_bytes(start));
  return start;
} catch (const Error&) {
  return std::nullopt;
}

bool path_exists(const fs::path& path) { return kind_at(path) != 0; }

bool is_folder(const fs::path& path) { return kind_at(path) == S_IFDIR; }

bool is_plain_file(const fs::path& path) { return kind_at(path) == S_IFREG; }

}  // namespace stepwright
