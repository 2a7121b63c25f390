#include "stepwright/mcp/channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace stepwright::mcp {
namespace {

FileDescriptor copy_of(int descriptor) {
  return FileDescriptor(checked_system_call(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1),
                                            "cannot take a stream"));
}

}  // namespace

StandardStreamsChannel::StandardStreamsChannel()
    : in_(copy_of(STDIN_FILENO)), out_(copy_of(STDOUT_FILENO)) {
  const FileDescriptor nothing(
      checked_system_call(::open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null"));
  checked_system_call(::dup2(nothing.get(), STDIN_FILENO), "cannot take standard input");
  checked_system_call(::dup2(STDERR_FILENO, STDOUT_FILENO), "cannot take standard output");
}

StandardStreamsChannel::~StandardStreamsChannel() {
  ::dup2(in_.get(), STDIN_FILENO);
  ::dup2(out_.get(), STDOUT_FILENO);
}

std::optional<std::string> StandardStreamsChannel::wait_for_next_line() {
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = begun_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = begun_.substr(0, end);
      begun_.erase(0, end + 1);
      return line;
    }
    searched = begun_.size();
    if (searched > kMaxMcpLineBytes) return std::nullopt;
    std::array<char, std::size_t{1} << 16U> block;
    const ssize_t read = ::read(in_.get(), block.data(), block.size());
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return std::nullopt;
    begun_.append(block.data(), static_cast<std::size_t>(read));
  }
}

bool StandardStreamsChannel::write_line(std::string_view line) {
  return write_all_bytes(out_.get(), line) && write_all_bytes(out_.get(), "\n");
}

}  // namespace stepwright::mcp
