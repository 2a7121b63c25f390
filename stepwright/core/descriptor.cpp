#include "stepwright/core/descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "stepwright/core/error.h"

namespace stepwright {

void fail_system(const char* what) {
  throw Error(ErrorKind::kRuntime,
              fmt::format("cannot {}: {}", what, std::generic_category().message(errno)));
}

void Descriptor::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

int checked(int result, const char* what) {
  if (result < 0) fail_system(what);
  return result;
}

Pipe::Pipe() {
  std::array<int, 2> ends{-1, -1};
  checked(::pipe2(ends.data(), O_CLOEXEC), "make a pipe");
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
}

}  // namespace stepwright
