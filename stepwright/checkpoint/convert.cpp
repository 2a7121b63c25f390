#include "stepwright/checkpoint/convert.h"

#include "stepwright/checkpoint/shards.h"
#include "stepwright/core/output_path.h"

namespace stepwright::checkpoint {
namespace {

/// Writes tensor after tensor, so that only one of them is in memory at a time.
void write_whole(CheckpointShardReader& reader, const std::filesystem::path& path) {
  const CheckpointIndex& index = reader.index();
  std::vector<SafetensorsEntry> entries;
  for (const CheckpointTensorEntry& tensor : index.tensors) {
    if (!checkpoint_has_tensor_weights(index, tensor)) continue;
    entries.push_back({.name = tensor.name, .dtype = index.dtype, .shape = tensor.shape});
  }
  DurableFile file(path);
  file.write(build_safetensors_header(entries));
  for (const CheckpointTensorEntry& tensor : index.tensors) {
    if (!checkpoint_has_tensor_weights(index, tensor)) continue;
    const std::int64_t elements = tensor.elements();
    const StridedShardPiece all{.begin = 0, .length = elements};
    std::vector<std::byte> bytes(static_cast<std::size_t>(elements * element_bytes(index.dtype)));
    if (elements > 0) reader.read_tensor_state(tensor, kCheckpointWeightsName, {&all, 1}, bytes);
    file.write(bytes);
  }
  file.finish();
}

}  // namespace

void convert_checkpoint(const std::filesystem::path& directory, const std::filesystem::path& out) {
  CheckpointShardReader reader(directory);
  for (const CheckpointFileEntry& file : reader.index().files) reader.verify_shard_file(file);
  check_path_absent(out);
  write_whole(reader, out);
}

}  // namespace stepwright::checkpoint
