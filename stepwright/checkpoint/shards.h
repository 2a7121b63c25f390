#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stepwright/checkpoint/index.h"
#include "stepwright/checkpoint/safetensors.h"

namespace stepwright::checkpoint {

/// A flat tensor to write; its bytes are owned elsewhere.
struct ShardTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Writes a safetensors file as `OutputFile` does. Fails with `kRuntime`.
FileChecksum write_safetensors_file(const std::filesystem::path& path,
                                    const std::vector<ShardTensor>& tensors);

/// Returns the name of a tensor's state in a shard.
std::string shard_tensor_name(std::string_view state, std::string_view tensor);

/// Fails with `kInput`, naming the file, unless a file of a checkpoint exists, is a plain file, and
/// has the size that the index states.
void check_file(const std::filesystem::path& directory, const IndexedFile& file);
/// Checks as `check_file` does, and that the file has the checksum that the index states.
void verify_file(const std::filesystem::path& directory, const IndexedFile& file);

/// Reads the tensors of a committed checkpoint.
class ShardReader {
 public:
  /// Opens a checkpoint. Fails with `kInput` when the index is damaged or incomplete, or a file has
  /// another size.
  explicit ShardReader(const std::filesystem::path& directory);
  /// Opens a checkpoint whose index the caller has loaded. Fails with `kInput` when the index is
  /// incomplete, or a file has another size.
  ShardReader(const std::filesystem::path& directory, CheckpointIndex index);
  [[nodiscard]] const CheckpointIndex& index() const { return index_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

  /// Verifies the size and checksum of a file of the checkpoint, as `verify_file` does.
  void verify(const IndexedFile& file) const { verify_file(directory_, file); }
  /// Returns a tensor of the index; null when it has none of this name.
  [[nodiscard]] const IndexedTensor* find(std::string_view tensor) const;
  /// Reads the elements of the pieces, one piece after the other. Fails with `kInput`, naming file
  /// and tensor, when a shard contradicts the index.
  void read(const IndexedTensor& tensor, std::string_view state, std::span<const ShardPiece> pieces,
            std::span<std::byte> out);
  /// Checks what `read` checks, and fails as it does, without reading elements.
  void check(const IndexedTensor& tensor, std::string_view state);

 private:
  std::span<const std::byte> slice(const IndexedTensor& tensor, std::string_view state,
                                   const IndexedSlice& which);

  std::filesystem::path directory_;
  CheckpointIndex index_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::map<std::int64_t, std::unique_ptr<SafetensorsFile>> open_;
};

}  // namespace stepwright::checkpoint
