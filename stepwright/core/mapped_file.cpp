#include "stepwright/core/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <system_error>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"

namespace stepwright {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const InputFileReader file(path, InputFileReader::FileKindToOpen::kPlain);
  if (file.file_size_bytes() == 0) fail_input(fmt::format("{}: is empty", path.string()));
  void* data =
      ::mmap(nullptr, file.file_size_bytes(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (data == MAP_FAILED) {
    fail_input(fmt::format("{}: cannot be read: {}", path.string(),
                           std::generic_category().message(errno)));
  }
  size_ = file.file_size_bytes();
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace stepwright
