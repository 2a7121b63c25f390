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

/// A flattened tensor to write to a file; the bytes are not owned.
struct FlatTensorView {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Writes tensors to a safetensors file and returns its size and checksum. The file appears under
/// its name only when complete. Fails with `kRuntime`.
FileChecksum write_safetensors_file(const std::filesystem::path& path,
                                    const std::vector<FlatTensorView>& tensors);

/// Returns the name under which a checkpoint file stores one state of a tensor, such as
/// `weights/embedding.word`.
std::string checkpoint_name_of_tensor_state(std::string_view state, std::string_view tensor);

/// Checks that a file of a checkpoint exists, is a regular file, and has the size in the index.
/// Fails with `kInput`, naming the file.
void check_file_size(const std::filesystem::path& directory, const CheckpointFileEntry& file);
/// Checks that a file of a checkpoint exists and has the size and the checksum in the index. Fails
/// with `kInput`, naming the file.
void verify_file_checksum(const std::filesystem::path& directory, const CheckpointFileEntry& file);

/// Reads tensors from the shard files of a complete checkpoint.
class CheckpointShardReader {
 public:
  /// Opens a checkpoint. Fails with `kInput` if the index is damaged or incomplete, or if a file
  /// has a wrong size.
  explicit CheckpointShardReader(const std::filesystem::path& directory);
  /// Opens a checkpoint whose index is already loaded. Fails with `kInput` if the index is
  /// incomplete, or if a file has a wrong size.
  CheckpointShardReader(const std::filesystem::path& directory, CheckpointIndex index);
  [[nodiscard]] const CheckpointIndex& index() const { return index_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

  /// Checks that a file of the checkpoint has the size and the checksum in the index. Fails with
  /// `kInput`.
  void verify_shard_file(const CheckpointFileEntry& file) const {
    verify_file_checksum(directory_, file);
  }
  /// Returns the index entry of a tensor by its name; null if there is none.
  [[nodiscard]] const CheckpointTensorEntry* find(std::string_view tensor) const;
  /// Reads those elements of a tensor's state that are in `pieces` (strided ranges), in their
  /// order. Fails with `kInput`, naming file and tensor, if a shard file contradicts the index.
  void read_tensor_state(const CheckpointTensorEntry& tensor, std::string_view state,
                         std::span<const StridedShardPiece> pieces, std::span<std::byte> out);
  /// Checks that the shard files of a tensor's state agree with the index, without reading
  /// elements. Fails with `kInput`.
  void check(const CheckpointTensorEntry& tensor, std::string_view state);

 private:
  std::span<const std::byte> slice(const CheckpointTensorEntry& tensor, std::string_view state,
                                   const CheckpointTensorSlice& which);

  std::filesystem::path directory_;
  CheckpointIndex index_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::map<std::int64_t, std::unique_ptr<SafetensorsFile>> open_;
};

}  // namespace stepwright::checkpoint
