#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/mapped_file.h"

namespace stepwright::checkpoint {

/// A tensor in a safetensors file: its type ("F64", "BF16", ...), its extents, and the range of its
/// bytes, counted from the end of the file's header.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t elements() const;
};

/// Returns the bytes of one element of a safetensors type; 0 for an unknown type.
std::int64_t element_bytes(std::string_view dtype);

/// Returns the header of a safetensors file that stores tensors one after the other; sets their
/// `begin` and `end`. `metadata`: pairs of texts for other readers.
std::string build_safetensors_header(std::vector<SafetensorsEntry>& tensors,
                                     const std::map<std::string, std::string>& metadata = {});

/// Reads the header from the bytes of a whole safetensors file and returns its tensors in the order
/// of their bytes. Fails with `kInput` for a truncated file, a malformed header, unknown types,
/// extents that contradict the bytes, and tensors that overlap or leave holes.
std::vector<SafetensorsEntry> read_safetensors_header(std::span<const std::byte> file,
                                                      const std::filesystem::path& path);

/// A safetensors file for reading, mapped into memory.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::map<std::string, SafetensorsEntry>& tensors() const { return tensors_; }
  [[nodiscard]] std::span<const std::byte> bytes_of(const SafetensorsEntry& tensor) const;
  /// Returns all bytes of the mapped file.
  [[nodiscard]] std::span<const std::byte> file() const { return file_.bytes(); }

 private:
  std::filesystem::path path_;
  MappedFile file_;
  std::map<std::string, SafetensorsEntry> tensors_;
};

}  // namespace stepwright::checkpoint
