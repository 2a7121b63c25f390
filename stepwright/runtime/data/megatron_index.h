#pragma once

#include <cstdint>
#include <filesystem>

namespace stepwright::runtime {

/// The content of a Megatron data set's `.idx` file, which describes its `.bin` file.
struct MegatronIndex {
  int token_bytes = 0;
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;
};

/// Reads the index that belongs to a `.bin` file (Megatron-LM's MMapIndexedDataset, version 1).
/// Fails with `kInput` for a missing index, another format or version, tokens that are not
/// integers, or a truncated file.
MegatronIndex read_megatron_index(const std::filesystem::path& data);

}  // namespace stepwright::runtime
