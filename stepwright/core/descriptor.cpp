#include "stepwright/core/descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "stepwright/core/error.h"

namespace stepwright {

void fail_system_call(const char* what) {
  throw Error(ErrorKind::kRuntime,
              fmt::format("cannot {}: {}", what, std::generic_category().message(errno)));
}

void FileDescriptor::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

int checked_system_call(int result, const char* what) {
  if (result < 0) fail_system_call(what);
  return result;
}

bool write_all_bytes(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void open_closed_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // `open` returns the lowest free number, which is that of this stream.
    [[maybe_unused]] const int opened =
        ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

Pipe::Pipe() {
  std::array<int, 2> ends{-1, -1};
  checked_system_call(::pipe2(ends.data(), O_CLOEXEC), "make a pipe");
  read = FileDescriptor(ends[0]);
  write = FileDescriptor(ends[1]);
}

}  // namespace stepwright
