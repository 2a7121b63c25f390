#include "stepwright/core/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

[[noreturn]] void fail_reading(const std::filesystem::path& path, int error) {
  fail_input(
      fmt::format("{}: cannot be read: {}", path.string(), std::generic_category().message(error)));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail_reading(path, errno);
  struct stat status{};
  const bool known = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (!known || status.st_size == 0) {
    ::close(file);
    fail_input(fmt::format("{}: {}", path.string(), known ? "is empty" : "is no plain file"));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  const int error = errno;
  ::close(file);
  if (data == MAP_FAILED) fail_reading(path, error);
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace stepwright
