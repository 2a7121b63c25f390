#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace stepwright {

/// The bytes of a file, memory-mapped for reading.
class MappedFile {
 public:
  /// Maps a file into memory. Fails with `kInput` if it cannot be read or is empty.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace stepwright
