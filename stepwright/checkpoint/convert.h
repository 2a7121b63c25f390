#pragma once

#include <filesystem>

namespace stepwright::checkpoint {

/// Joins the weights of a sharded checkpoint into one safetensors file of whole tensors, after
/// checking every shard's checksum. Fails with `kInput` for a damaged checkpoint or if the file
/// exists already, with `kRuntime` if the file cannot be written.
void convert_checkpoint(const std::filesystem::path& directory, const std::filesystem::path& out);

}  // namespace stepwright::checkpoint
