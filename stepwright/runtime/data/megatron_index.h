#pragma once

#include <cstdint>
#include <filesystem>

namespace stepwright::runtime {

/// Content of the `.idx` file of a Megatron data set, which says where sequences and documents are
/// in the `.bin` file of tokens.
struct MegatronDatasetIndex {
  int token_bytes = 0;
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;
};

/// Reads the `.idx` file that belongs to a `.bin` file of tokens (Megatron-LM's MMapIndexedDataset,
/// version 1). Fails with `kInput` for a missing index, another format or version, tokens that are
/// not integers, or a truncated file.
MegatronDatasetIndex read_megatron_index(const std::filesystem::path& data);

}  // namespace stepwright::runtime
