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

/// A tensor of a safetensors file: its type as the format writes it ("F64", "BF16", ...), its
/// extents, and its bytes counted from the end of the header.
struct StoredTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t elements() const;
};

/// Returns the bytes of an element; 0 for an unknown type.
std::int64_t element_bytes(std::string_view dtype);

/// Returns the header of a file with these tensors one after the other; sets their `begin` and
/// `end`. `metadata`: text entries for other readers.
std::string safetensors_header(std::vector<StoredTensor>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

/// Reads the header from a whole file's bytes. Fails with `kInput`, naming the file, the tensor and
/// the value, for a truncated file, a header that is not JSON, unknown types, extents that
/// contradict the bytes, or tensors that overlap or leave holes. Returns the tensors in the order
/// of their bytes.
std::vector<StoredTensor> read_safetensors(std::span<const std::byte> file,
                                           const std::filesystem::path& path);

/// A safetensors file, mapped into memory.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  [[nodiscard]] std::span<const std::byte> bytes_of(const StoredTensor& tensor) const;
  /// Returns all bytes of the file.
  [[nodiscard]] std::span<const std::byte> file() const { return file_.bytes(); }

 private:
  std::filesystem::path path_;
  MappedFile file_;
  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace stepwright::checkpoint
