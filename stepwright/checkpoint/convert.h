#pragma once

#include <filesystem>

namespace stepwright::checkpoint {

/// Writes the weights of a committed checkpoint as whole tensors into one safetensors file, after
/// checking every shard's checksum. Fails with `kInput` for a damaged checkpoint or if the file
/// exists already, with `kRuntime` when the file cannot be written.
void convert_checkpoint(const std::filesystem::path& directory, const std::filesystem::path& out);

}  // namespace stepwright::checkpoint
